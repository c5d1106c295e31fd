#include "calve/parquet_reader.h"

#include "calve/parquet_footer_cache.h"

#include "calve/parquet/batch_reader.h"
#include "calve/parquet/filtered_reader.h"
#include "calve/parquet/footer.h"
#include "calve/parquet/read_plan.h"
#include "calve/parquet/selection.h"

#include "calve/base/status.h"
#include "calve/io/local_file.h"
#include "calve/io/mapped_file.h"

#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>

#include <numeric>

namespace calve {
namespace {

using arrow::Result;
using arrow::Status;
using parquet::BatchReader;
using parquet::OpenFile;

/// A ParquetBatchReader as Arrow's interface, keeping its file open.
class OwningReader : public arrow::RecordBatchReader {
 public:
  OwningReader(std::shared_ptr<const ParquetReader> file, std::unique_ptr<ParquetBatchReader> batches)
      : file_(std::move(file)), batches_(std::move(batches)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return batches_->schema(); }
  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override { return batches_->Next().Value(batch); }

 private:
  std::shared_ptr<const ParquetReader> file_;
  std::unique_ptr<ParquetBatchReader> batches_;
};

class Reader : public ParquetReader, public std::enable_shared_from_this<Reader> {
 public:
  explicit Reader(OpenFile file) : file_(std::move(file)) {}

  const std::string& name() const override { return file_.name; }
  int64_t size_bytes() const override { return file_.footer->file_size(); }
  int64_t num_rows() const override { return file_.footer->num_rows(); }
  int num_row_groups() const override { return file_.footer->num_row_groups(); }
  const std::shared_ptr<arrow::Schema>& schema() const override { return file_.footer->schema().arrow_schema; }
  const parquet::FileMetadata& metadata() const override { return file_.footer->metadata(); }
  const parquet::FileSchema& file_schema() const override { return file_.footer->schema(); }
  const parquet::Footer& footer() const override { return *file_.footer; }

  Result<std::vector<int>> LeavesOf(const std::string& column) const override {
    return WithContext(file_.footer->LeavesOf(column), file_.name);
  }
  std::vector<int> LeavesOfFieldId(int field_id) const override { return file_.footer->LeavesOfId(field_id); }

  Status CheckSupported(const std::vector<int>& leaves) const override {
    return WithContext(parquet::CheckLeavesSupported(*file_.footer, leaves), file_.name);
  }

  Result<std::unique_ptr<ParquetBatchReader>> Read(const std::vector<int>& leaves,
                                                   const std::vector<int>& row_groups) const override {
    ARROW_ASSIGN_OR_RAISE(auto batches, WithContext(BatchReader::Make(file_, leaves, row_groups), file_.name));
    return batches;
  }

  Result<std::unique_ptr<ParquetBatchReader>> Read(const ParquetReadRequest& request) const override {
    if (request.filter.always_true() && !request.rows) return Read(request.leaves, RowGroupsOf(request));
    ARROW_ASSIGN_OR_RAISE(auto batches, WithContext(parquet::FilteredReader::Make(file_, request), file_.name));
    return batches;
  }

  Result<std::shared_ptr<arrow::RecordBatchReader>> ReadAll(const std::vector<std::string>& columns) const override {
    std::vector<int> leaves, row_groups(num_row_groups());
    std::iota(row_groups.begin(), row_groups.end(), 0);
    if (columns.empty()) {
      leaves.resize(file_.footer->num_columns());
      std::iota(leaves.begin(), leaves.end(), 0);
    }
    for (const std::string& column : columns) {
      ARROW_ASSIGN_OR_RAISE(const std::vector<int> found, LeavesOf(column));
      leaves.insert(leaves.end(), found.begin(), found.end());
    }
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    ARROW_ASSIGN_OR_RAISE(auto batches, Read(leaves, row_groups));
    return std::make_shared<OwningReader>(shared_from_this(), std::move(batches));
  }

 private:
  std::vector<int> RowGroupsOf(const ParquetReadRequest& request) const {
    if (request.row_groups) return *request.row_groups;
    std::vector<int> all(static_cast<size_t>(num_row_groups()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  OpenFile file_;
};

parquet::TypeOptions TypesOf(const ParquetReadOptions& options) {
  parquet::TypeOptions types;
  types.int96_unit = options.int96_unit;
  types.text_as_binary = options.invalid_utf8 == InvalidUtf8::kBinary;
  types.whole_variants = options.whole_variants;
  types.use_arrow_schema = options.use_arrow_schema;
  types.strings = options.strings;
  types.dictionary_columns = options.dictionary_columns;
  return types;
}

/// What tells the content of an open file from others, "" when it does not say.
std::string VersionOf(arrow::io::RandomAccessFile* file) {
  const auto metadata = file->ReadMetadata();
  if (!metadata.ok() || *metadata == nullptr) return "";
  for (const char* key : {"ETag", "Last-Modified"}) {
    if (const auto value = (*metadata)->Get(key); value.ok() && !value->empty())
      return fmt::format("{} {}", key, *value);
  }
  return "";
}

/// The file's key in the cache, one without a version when the cache is not to be used. Keys for decryption tell which
/// files may be opened, which a footer that was found would not.
Result<ParquetFooterCache::Key> CacheKeyOf(arrow::io::RandomAccessFile* file, const std::string& name,
                                           const ParquetReadOptions& options) {
  ParquetFooterCache::Key key;
  if (options.footer_cache == nullptr || options.decryption != nullptr) return key;
  key.version = options.file_version.empty() ? VersionOf(file) : options.file_version;
  if (key.version.empty()) return key;
  key.name = name;
  ARROW_ASSIGN_OR_RAISE(key.file_size, file->GetSize());
  return key;
}

/// The footer from the cache, or from the file and then kept in the cache. `*hits` counts.
Result<std::shared_ptr<const parquet::Footer>> FindFooter(arrow::io::RandomAccessFile* file, const std::string& name,
                                                          const ParquetReadOptions& options, int64_t* hits) {
  ARROW_ASSIGN_OR_RAISE(const ParquetFooterCache::Key key, CacheKeyOf(file, name, options));
  const bool cached = !key.version.empty();
  if (const auto stored = cached ? options.footer_cache->Find(key) : nullptr) {
    ++*hits;
    stored->lookup->ExpectMany();
    return std::make_shared<const parquet::Footer>(*stored, nullptr, TypesOf(options));
  }
  ARROW_ASSIGN_OR_RAISE(auto footer, parquet::Footer::Read(file, options.decryption, TypesOf(options)));
  if (cached && !footer->is_encrypted()) {
    options.footer_cache->Put(key, std::make_shared<const parquet::StoredFooter>(footer->stored()));
  }
  return footer;
}

Result<OpenFile> OpenParquet(std::shared_ptr<arrow::io::RandomAccessFile> file, std::string name,
                             const ParquetReadOptions& options, const Context& context) {
  OpenFile open;
  ARROW_ASSIGN_OR_RAISE(open.footer, FindFooter(file.get(), name, options, &open.footer_cache_hits));
  open.file = std::move(file);
  open.name = std::move(name);
  open.options = options;
  open.context = context;
  return open;
}

}  // namespace

Result<std::shared_ptr<ParquetReader>> ParquetReader::Open(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                           std::string name, const ParquetReadOptions& options,
                                                           const Context& context) {
  auto open = OpenParquet(std::move(file), name, options, context);
  if (!open.ok()) return WithContext(open.status(), name);
  return std::make_shared<Reader>(open.MoveValueUnsafe());
}

Result<std::shared_ptr<ParquetReader>> ParquetReader::Open(const std::string& path, const ParquetReadOptions& options,
                                                           const Context& context) {
  ARROW_ASSIGN_OR_RAISE(auto file, options.memory_map ? OpenMappedFile(path, path) : OpenLocalFile(path, path));
  return Open(std::move(file), path, options, context);
}

}  // namespace calve
