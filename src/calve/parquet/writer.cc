// The file:
//
//   "PAR1" (row group: (column chunk: pages)*)* FileMetaData (thrift) u32 length of it "PAR1"

#include "calve/array/buffer_pool.h"
#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/parquet/column_writer.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_writer.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet_writer.h"
#include "calve/version.h"

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/thread_pool.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace calve {
namespace parquet {
namespace {

constexpr std::string_view kMagic = "PAR1";
/// Rows, and bytes of Arrow data, after which the size of the row group is looked at.
constexpr int64_t kRowsPerRound = 1 << 16;
constexpr int64_t kBytesPerRound = int64_t{16} << 20;

/// `context`, for work that must not wait for the executor from one of its own threads.
Context WithoutNesting(const Context& context) {
  Context result = context;
  arrow::internal::Executor* executor =
      context.executor != nullptr ? context.executor : arrow::internal::GetCpuThreadPool();
  if (executor->OwnsThisThread()) result.threads = 1;
  return result;
}

/// Keeps no more idle memory than a row group.
std::shared_ptr<BufferPool> BuffersOver(const Context& context, const ParquetWriteOptions& options) {
  arrow::MemoryPool* pool = PoolOf(context);
  if (pool == arrow::default_memory_pool()) return BufferPool::Over(pool);
  return BufferPool::Make(pool, std::min(options.row_group_bytes, BufferPool::kDefaultIdleBytes));
}

Context WithPool(const Context& context, arrow::MemoryPool* pool) {
  Context result = context;
  result.pool = pool;
  return result;
}

class FileWriter : public ParquetWriter {
 public:
  FileWriter(arrow::io::OutputStream* sink, std::shared_ptr<arrow::Schema> schema, const ParquetWriteOptions& options,
             const Context& context, WrittenSchema written)
      : sink_(sink),
        schema_(std::move(schema)),
        options_(options),
        buffers_(BuffersOver(context, options)),
        context_(WithPool(context, buffers_.get())),
        written_(std::move(written)),
        page_writer_(options_, PoolOf(context_)) {
    for (const WrittenLeaf& leaf : written_.leaves) {
      columns_.push_back(ColumnWriter::Make(&leaf, &options_, &page_writer_, PoolOf(context_)));
    }
    for (const auto& [key, value] : options_.key_value_metadata) metadata_.key_value_metadata.push_back({key, value});
  }

  Status Start() { return Put(kMagic.data(), static_cast<int64_t>(kMagic.size())); }

  Status Write(const arrow::RecordBatch& batch) override {
    ARROW_RETURN_NOT_OK(failure_);
    ARROW_RETURN_NOT_OK(CheckSchema(*batch.schema()));
    return Remember(WriteRows(batch));
  }

  int64_t estimated_bytes() const override {
    constexpr int64_t kFooterBytesPerChunk = 128;
    const auto groups = static_cast<int64_t>(metadata_.row_groups.size()) + 1;
    return position_ + GroupBytes() + groups * static_cast<int64_t>(columns_.size()) * kFooterBytesPerChunk;
  }

  Result<ParquetFileSummary> Close() override {
    ARROW_RETURN_NOT_OK(failure_);
    ARROW_RETURN_NOT_OK(Remember(Finish()));
    failure_ = Invalid("the Parquet writer is closed");
    ParquetFileSummary summary;
    summary.rows = metadata_.num_rows;
    summary.bytes = position_;
    for (const RowGroup& group : metadata_.row_groups) summary.row_group_offsets.push_back(*group.file_offset);
    for (size_t i = 0; i < columns_.size(); ++i) {
      summary.columns.push_back(columns_[i]->summary());
      summary.columns.back().leaf_index = static_cast<int>(i);
    }
    return summary;
  }

 private:
  Status Remember(const Status& status) {
    if (!status.ok()) failure_ = status;
    return status;
  }

  Status CheckSchema(const arrow::Schema& schema) const {
    if (schema.num_fields() != schema_->num_fields()) {
      return Invalid("a batch of {} columns does not have the writer's schema of {}", schema.num_fields(),
                     schema_->num_fields());
    }
    for (int i = 0; i < schema.num_fields(); ++i) {
      if (SameLayout(*schema.field(i)->type(), *schema_->field(i)->type())) continue;
      return Invalid("a batch does not have the writer's schema: column '{}' is {}, expected {}",
                     schema_->field(i)->name(), schema.field(i)->type()->ToString(),
                     schema_->field(i)->type()->ToString());
    }
    return Status::OK();
  }

  int64_t GroupBytes() const {
    int64_t bytes = 0;
    for (const auto& column : columns_) bytes += column->chunk_bytes();
    return bytes;
  }

  Result<int64_t> RowsPerRound(const arrow::RecordBatch& batch) const {
    if (batch.num_columns() == 0) return std::numeric_limits<int64_t>::max();
    ARROW_ASSIGN_OR_RAISE(int64_t bytes, arrow::util::ReferencedBufferSize(batch));
    const int64_t bytes_per_row = bytes / batch.num_rows() + 1;
    const int64_t bytes_per_round = std::min(kBytesPerRound, options_.row_group_bytes / 8);
    return std::clamp<int64_t>(bytes_per_round / bytes_per_row, 1, kRowsPerRound);
  }

  Status WriteRows(const arrow::RecordBatch& batch) {
    if (batch.num_rows() == 0) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(const int64_t rows_per_round, RowsPerRound(batch));
    const Context context = WithoutNesting(context_);
    for (int64_t row = 0; row < batch.num_rows();) {
      const int64_t count = std::min({batch.num_rows() - row, rows_per_round, options_.row_group_rows - group_rows_});
      ARROW_RETURN_NOT_OK(ParallelFor(context, static_cast<int64_t>(columns_.size()), [&](int64_t i) {
        return columns_[i]->Write(*batch.column_data(written_.leaves[i].field_index), row, count);
      }));
      row += count;
      group_rows_ += count;
      if (group_rows_ >= options_.row_group_rows || GroupBytes() >= options_.row_group_bytes) {
        ARROW_RETURN_NOT_OK(FlushGroup());
      }
    }
    for (const auto& column : columns_) column->EndBatch();
    return Status::OK();
  }

  Status FlushGroup() {
    if (group_rows_ == 0) return Status::OK();
    std::vector<WrittenChunk> chunks(columns_.size());
    ARROW_RETURN_NOT_OK(ParallelFor(WithoutNesting(context_), static_cast<int64_t>(columns_.size()),
                                    [&](int64_t i) { return columns_[i]->FinishChunk().Value(&chunks[i]); }));
    RowGroup group;
    group.num_rows = std::exchange(group_rows_, 0);
    group.file_offset = position_;
    group.total_compressed_size = 0;
    const size_t ordinal = metadata_.row_groups.size();
    if (ordinal <= static_cast<size_t>(std::numeric_limits<int16_t>::max())) {
      group.ordinal = static_cast<int16_t>(ordinal);
    }
    for (WrittenChunk& chunk : chunks) ARROW_RETURN_NOT_OK(PutChunk(std::move(chunk), &group));
    metadata_.num_rows += group.num_rows;
    metadata_.row_groups.push_back(std::move(group));
    return Status::OK();
  }

  Status PutChunk(WrittenChunk chunk, RowGroup* group) {
    ColumnMetadata& metadata = chunk.metadata;
    metadata.data_page_offset += position_;
    if (metadata.dictionary_page_offset) *metadata.dictionary_page_offset += position_;
    for (WrittenPage& page : chunk.pages) {
      ARROW_RETURN_NOT_OK(Put(page.header.data(), static_cast<int64_t>(page.header.size())));
      ARROW_RETURN_NOT_OK(Put(page.body->data(), page.body->size()));
      page.body.reset();
    }
    group->total_byte_size += metadata.total_uncompressed_size;
    *group->total_compressed_size += metadata.total_compressed_size;
    ColumnChunk column;
    column.metadata = std::move(metadata);
    group->columns.push_back(std::move(column));
    return Status::OK();
  }

  Status Finish() {
    ARROW_RETURN_NOT_OK(FlushGroup());
    metadata_.version = 2;
    metadata_.schema = written_.elements;
    metadata_.created_by = fmt::format("calve version {}", kVersion);
    metadata_.type_defined_order.assign(columns_.size(), true);
    const std::string footer = Serialize(metadata_);
    if (footer.size() > std::numeric_limits<uint32_t>::max()) {
      return Invalid("a footer of {} bytes: a Parquet file can say at most {}", footer.size(),
                     std::numeric_limits<uint32_t>::max());
    }
    const auto length = static_cast<uint32_t>(footer.size());
    ARROW_RETURN_NOT_OK(Put(footer.data(), length));
    ARROW_RETURN_NOT_OK(Put(&length, sizeof(length)));
    return Put(kMagic.data(), static_cast<int64_t>(kMagic.size()));
  }

  Status Put(const void* bytes, int64_t size) {
    ARROW_RETURN_NOT_OK(sink_->Write(bytes, size));
    position_ += size;
    return Status::OK();
  }

  arrow::io::OutputStream* sink_;
  const std::shared_ptr<arrow::Schema> schema_;
  const ParquetWriteOptions options_;
  const std::shared_ptr<BufferPool> buffers_;  ///< pages of one row group are written where those before it lay
  const Context context_;
  const WrittenSchema written_;
  const PageWriter page_writer_;
  std::vector<std::unique_ptr<ColumnWriter>> columns_;
  FileMetadata metadata_;
  int64_t position_ = 0;
  int64_t group_rows_ = 0;
  Status failure_;
};

Status CheckOptions(const ParquetWriteOptions& options) {
  const auto positive = [](int64_t value, const char* name) {
    return value > 0 ? Status::OK() : Invalid("{} must be positive, got {}", name, value);
  };
  ARROW_RETURN_NOT_OK(positive(options.row_group_rows, "row_group_rows"));
  ARROW_RETURN_NOT_OK(positive(options.row_group_bytes, "row_group_bytes"));
  ARROW_RETURN_NOT_OK(positive(options.page_bytes, "page_bytes"));
  return positive(options.page_rows, "page_rows");
}

}  // namespace
}  // namespace parquet

arrow::Result<std::unique_ptr<ParquetWriter>> ParquetWriter::Make(arrow::io::OutputStream* sink,
                                                                  const std::shared_ptr<arrow::Schema>& schema,
                                                                  const ParquetWriteOptions& options,
                                                                  const Context& context) {
  ARROW_RETURN_NOT_OK(parquet::CheckOptions(options));
  ARROW_ASSIGN_OR_RAISE(auto written, parquet::WrittenSchema::Make(*schema));
  auto writer = std::make_unique<parquet::FileWriter>(sink, schema, options, context, std::move(written));
  ARROW_RETURN_NOT_OK(writer->Start());
  return writer;
}

}  // namespace calve
