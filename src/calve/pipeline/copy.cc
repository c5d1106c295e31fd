#include "calve/copy.h"

#include "calve/pipeline/copy_source.h"
#include "calve/pipeline/file_set.h"

#include "calve/base/context.h"
#include "calve/base/operation_pool.h"
#include "calve/base/status.h"
#include "calve/io/local_output.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet_encryption.h"
#include "calve/parquet_reader.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

namespace calve {
namespace pipeline {
namespace {

using Clock = std::chrono::steady_clock;

/// Adds the seconds of a scope to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(seconds) {}
  ~Stopwatch() { *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  double* seconds_;
  const Clock::time_point start_ = Clock::now();
};

/// A file that is written, and has no name yet.
struct Unnamed {
  std::string path;
  std::unique_ptr<LocalOutput> output;
  std::unique_ptr<ParquetWriter> writer;  ///< null: the file is whole
  int64_t rows = 0, bytes = 0;
};

/// The keys that files were encrypted with, to read them again. Null: they were not.
std::shared_ptr<const ParquetDecryption> DecryptionOf(const ParquetEncryption* encryption) {
  if (encryption == nullptr) return nullptr;
  auto decryption = std::make_shared<ParquetDecryption>();
  decryption->footer_key = encryption->footer_key.key;
  for (const auto& [column, key] : encryption->column_keys) decryption->column_keys[column] = key.key;
  if (encryption->find_key) {
    decryption->find_key = [encryption](const ParquetKeyRequest& wanted) -> Result<std::optional<std::string>> {
      ARROW_ASSIGN_OR_RAISE(const auto key, encryption->find_key(wanted.column));
      return key ? std::optional(key->key) : std::nullopt;
    };
  }
  decryption->aad_prefix = encryption->aad_prefix;
  return decryption;
}

class Copier {
 public:
  Copier(const std::string& to, const CopyOptions& options, const Context& context)
      : to_(to), options_(options), context_(context), pool_(OperationPool::Make(context)), meter_(context) {
    inner_ = ContextWithPool(context, pool_.get());
    in_folder_ = options.target_file_size_bytes > 0 || to.ends_with("/") || std::filesystem::is_directory(to);
  }

  Result<CopyResult> Run(const std::vector<std::string>& inputs) {
    if (inputs.empty()) return Invalid("nothing to copy");
    std::vector<CopySource> sources;
    for (const std::string& input : inputs) {
      ARROW_ASSIGN_OR_RAISE(auto source, OpenCopySource(input, options_, inner_));
      result_.input_bytes += source.bytes;
      sources.push_back(std::move(source));
    }
    ARROW_ASSIGN_OR_RAISE(schema_, UnifyCopySources(sources));
    ARROW_RETURN_NOT_OK(Begin());
    for (CopySource& source : sources) {
      Status status = CopySourceRows(source);
      source.batches.reset();
      if (!status.ok()) return status;
    }
    ARROW_RETURN_NOT_OK(Finish());
    ARROW_RETURN_NOT_OK(NameAll());
    ARROW_RETURN_NOT_OK(DescribeColumns());
    result_.peak_memory_bytes = pool_->max_memory();
    meter_.Report({result_.rows, result_.input_bytes, result_.input_bytes}, /*last=*/true);
    return std::move(result_);
  }

 private:
  /// Begins the next file.
  Status Begin() {
    Unnamed file;
    file.path = to_;
    if (in_folder_) {
      file.path = (std::filesystem::path(to_) / fmt::format("part-{:05}.parquet", files_.size())).string();
    }
    if (!options_.overwrite && std::filesystem::exists(file.path)) {
      return Status::AlreadyExists(fmt::format("{} is there already", file.path));
    }
    ARROW_ASSIGN_OR_RAISE(file.output, LocalOutput::Make(file.path, file.path));
    auto writer = ParquetWriter::Make(file.output->stream(), schema_, options_.parquet, inner_);
    if (!writer.ok()) return WithContext(writer.status(), file.path);
    file.writer = writer.MoveValueUnsafe();
    files_.push_back(std::move(file));
    return Status::OK();
  }

  Status Finish() {
    const Stopwatch watch(&result_.write_seconds);
    Unnamed& file = files_.back();
    auto summary = file.writer->Close();
    if (!summary.ok()) return Failed(summary.status());
    file.writer.reset();
    file.rows = summary->rows;
    file.bytes = summary->bytes;
    return Status::OK();
  }

  /// An error of writing, with the file and what was done.
  Status Failed(const Status& status) const {
    return WithContext(status,
                       fmt::format("{}: after {} rows, none of which is kept", files_.back().path, result_.rows));
  }

  Status CopySourceRows(const CopySource& source) {
    for (;;) {
      ARROW_RETURN_NOT_OK(CheckStop(context_));
      std::shared_ptr<arrow::RecordBatch> batch;
      ARROW_RETURN_NOT_OK(ReadBatch(source, &batch));
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(WriteBatch(*batch));
    }
    done_bytes_ += source.bytes;
    meter_.Report({result_.rows, done_bytes_, result_.input_bytes});
    return Status::OK();
  }

  Status ReadBatch(const CopySource& source, std::shared_ptr<arrow::RecordBatch>* batch) {
    const Stopwatch watch(&result_.read_seconds);
    const Status status = source.batches->ReadNext(batch);
    if (!status.ok()) return OfFile(status, source.path);
    if (*batch == nullptr) return Status::OK();
    auto fitted = FitBatch(*batch, schema_, pool_.get());
    if (!fitted.ok()) return WithContext(fitted.status(), source.path);
    *batch = fitted.MoveValueUnsafe();
    return Status::OK();
  }

  Status WriteBatch(const arrow::RecordBatch& batch) {
    if (options_.target_file_size_bytes > 0 &&
        files_.back().writer->estimated_bytes() >= options_.target_file_size_bytes) {
      ARROW_RETURN_NOT_OK(Finish());
      ARROW_RETURN_NOT_OK(Begin());
    }
    const Stopwatch watch(&result_.write_seconds);
    const Status status = files_.back().writer->Write(batch);
    if (!status.ok()) return Failed(status);
    result_.rows += batch.num_rows();
    meter_.Report({result_.rows, done_bytes_, result_.input_bytes});
    return Status::OK();
  }

  /// Names the files, all of which are whole. When one cannot be named, none keeps its name, unless it replaced
  /// another.
  Status NameAll() {
    const Stopwatch watch(&result_.publish_seconds);
    for (Unnamed& file : files_) {
      const auto size = file.output->Publish(options_.overwrite ? Publication::kReplace : Publication::kNew);
      if (!size.ok()) {
        if (!options_.overwrite) RemoveNamed();
        return size.status();
      }
      result_.output_bytes += *size;
      result_.files.push_back({file.path, file.rows, *size});
    }
    return Status::OK();
  }

  void RemoveNamed() const {
    for (const CopiedFile& file : result_.files) {
      std::error_code ignored;
      std::filesystem::remove(file.path, ignored);
    }
  }

  Status DescribeColumns() {
    std::map<std::string, size_t> places;
    ParquetReadOptions read;
    read.decryption = DecryptionOf(options_.parquet.encryption.get());
    for (const CopiedFile& file : result_.files) {
      ARROW_ASSIGN_OR_RAISE(const auto reader, ParquetReader::Open(file.path, read, inner_));
      for (const parquet::RowGroup& group : reader->metadata().row_groups) {
        for (const parquet::ColumnChunk& chunk : group.columns) {
          if (chunk.metadata) AddChunk(*chunk.metadata, &places);
        }
      }
    }
    return Status::OK();
  }

  void AddChunk(const parquet::ColumnMetadata& chunk, std::map<std::string, size_t>* places) {
    const std::string name = fmt::format("{}", fmt::join(chunk.path_in_schema, "."));
    const auto [place, is_new] = places->emplace(name, result_.columns.size());
    if (is_new) result_.columns.push_back({name, {}, 0, 0});
    CopiedColumn& column = result_.columns[place->second];
    column.compressed_bytes += chunk.total_compressed_size;
    column.uncompressed_bytes += chunk.total_uncompressed_size;
    for (const parquet::PageEncodingStats& stats : chunk.encoding_stats) {
      std::string encoding(ToString(stats.encoding));
      if (std::find(column.encodings.begin(), column.encodings.end(), encoding) == column.encodings.end()) {
        column.encodings.push_back(std::move(encoding));
      }
    }
  }

  const std::string& to_;
  const CopyOptions& options_;
  const Context& context_;
  const std::shared_ptr<OperationPool> pool_;
  Context inner_;
  ProgressMeter meter_;
  bool in_folder_ = false;
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<Unnamed> files_;
  int64_t done_bytes_ = 0;
  CopyResult result_;
};

}  // namespace
}  // namespace pipeline

arrow::Result<CopyResult> CopyToParquet(const std::vector<std::string>& inputs, const std::string& to,
                                        const CopyOptions& options, const Context& context) {
  return pipeline::Copier(to, options, context).Run(inputs);
}

}  // namespace calve
