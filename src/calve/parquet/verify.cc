#include "calve/parquet_verify.h"

#include "calve/parquet/footer.h"
#include "calve/parquet/verify_chunk.h"
#include "calve/parquet/verify_group.h"
#include "calve/parquet/verify_layout.h"
#include "calve/parquet/verify_report.h"

#include "calve/array/buffer_pool.h"
#include "calve/base/context.h"
#include "calve/base/status.h"

#include <arrow/io/file.h>

#include <cstring>

namespace calve {
namespace parquet {
namespace {

class FileVerifier {
 public:
  FileVerifier(std::shared_ptr<arrow::io::RandomAccessFile> file, const ParquetVerifyOptions& options,
               const Context& context)
      : file_(std::move(file)), options_(options), context_(context) {}

  Result<ParquetVerification> Run() {
    ARROW_ASSIGN_OR_RAISE(result_.bytes, file_->GetSize());
    ARROW_RETURN_NOT_OK(CheckMagic());
    auto footer = Footer::Read(file_.get(), options_.decryption);
    if (!footer.ok()) {
      ARROW_ASSIGN_OR_RAISE(const bool locked, IsLocked());
      if (locked) {
        report_.NotChecked("the footer is encrypted, and no keys were given");
      } else {
        ARROW_RETURN_NOT_OK(ReportFooter(footer.status()));
      }
      return Finish();
    }
    footer_ = footer.MoveValueUnsafe();
    auto metadata = ParseFileMetadata(footer_->index().bytes());
    if (!metadata.ok()) {
      ARROW_RETURN_NOT_OK(ReportFooter(metadata.status()));
      return Finish();
    }
    metadata_ = metadata.MoveValueUnsafe();
    CheckFile();
    layout_ = FileLayout::Of(*footer_);
    layout_.Verify(&report_);
    report_.MoveTo(options_.most_violations, &result_);
    for (int group = 0; group < footer_->num_row_groups(); ++group) ARROW_RETURN_NOT_OK(RunGroup(group));
    return Finish();
  }

 private:
  Result<ParquetVerification> Finish() {
    report_.MoveTo(options_.most_violations, &result_);
    return std::move(result_);
  }

  Status CheckMagic() {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, file_->ReadAt(0, 4));
    const bool fits = bytes->size() == 4 &&
                      (std::memcmp(bytes->data(), "PAR1", 4) == 0 || std::memcmp(bytes->data(), "PARE", 4) == 0);
    if (!fits) report_.Add("file.magic", "something else", "a Parquet file begins with PAR1");
    return Status::OK();
  }

  /// Whether the file's footer is encrypted and there is nothing to open it with.
  Result<bool> IsLocked() const {
    if (options_.decryption != nullptr || result_.bytes < 4) return false;
    ARROW_ASSIGN_OR_RAISE(const auto bytes, file_->ReadAt(result_.bytes - 4, 4));
    return bytes->size() == 4 && std::memcmp(bytes->data(), "PARE", 4) == 0;
  }

  Status ReportFooter(const Status& status) {
    if (status.IsIOError() || status.IsOutOfMemory() || status.IsCancelled()) return status;
    report_.Add("file.footer", "a footer", status.message());
    return Status::OK();
  }

  void CheckFile() {
    result_.columns = footer_->num_columns();
    result_.row_groups = footer_->num_row_groups();
    result_.rows = footer_->num_rows();
    report_.Compare("file.num_rows", metadata_.num_rows, footer_->num_rows());
    const size_t orders = metadata_.type_defined_order.size();
    if (orders > 0) report_.Compare("file.column_orders", orders, static_cast<size_t>(footer_->num_columns()));
  }

  Status RunGroup(int group) {
    const RowGroup& said = metadata_.row_groups[static_cast<size_t>(group)];
    VerifyReport own(group, "");
    VerifyGroup(*footer_, said, group, &own);
    ARROW_RETURN_NOT_OK(VerifySorting(file_, *footer_, said, group, options_, context_, &own));
    own.MoveTo(options_.most_violations, &result_);
    std::vector<VerifyReport> reports;
    for (const LeafColumn& leaf : footer_->schema().leaves) reports.emplace_back(group, leaf.dotted_path());
    const auto buffers = BufferPool::Over(PoolOf(context_));
    VerifyInput input{file_.get(), footer_.get(), {}, PoolOf(context_)};
    input.pages.pool = buffers.get();
    ARROW_RETURN_NOT_OK(ParallelFor(context_, footer_->num_columns(), [&](int64_t leaf) {
      ARROW_RETURN_NOT_OK(CheckStop(context_));
      return VerifyLeaf(input, group, static_cast<int>(leaf), &reports[static_cast<size_t>(leaf)]);
    }));
    for (VerifyReport& report : reports) report.MoveTo(options_.most_violations, &result_);
    if (context_.progress) context_.progress({result_.rows * (group + 1) / footer_->num_row_groups(), 0, 0});
    return Status::OK();
  }

  Status VerifyLeaf(const VerifyInput& input, int group, int leaf, VerifyReport* report) const {
    const auto chunk = footer_->Chunk(group, leaf);
    int64_t limit = footer_->begin();
    if (chunk.ok() && chunk->metadata) {
      const ColumnMetadata& column = *chunk->metadata;
      const int64_t dictionary = column.dictionary_page_offset.value_or(0);
      const bool first = dictionary > 0 && dictionary < column.data_page_offset;
      limit = layout_.NextAfter(first ? dictionary : column.data_page_offset);
    }
    return VerifyChunk(input, footer_->schema().leaves[static_cast<size_t>(leaf)], leaf, group, limit, report);
  }

  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  const ParquetVerifyOptions& options_;
  const Context& context_;
  std::shared_ptr<const Footer> footer_;
  FileMetadata metadata_;
  FileLayout layout_;
  VerifyReport report_;
  ParquetVerification result_;
};

}  // namespace
}  // namespace parquet

arrow::Result<ParquetVerification> VerifyParquet(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                 const ParquetVerifyOptions& options, const Context& context) {
  return parquet::FileVerifier(std::move(file), options, context).Run();
}

arrow::Result<ParquetVerification> VerifyParquet(const std::string& path, const ParquetVerifyOptions& options,
                                                 const Context& context) {
  auto file = arrow::io::ReadableFile::Open(path, PoolOf(context));
  if (!file.ok()) return WithContext(file.status(), path);
  return WithContext(VerifyParquet(file.MoveValueUnsafe(), options, context), path);
}

}  // namespace calve
