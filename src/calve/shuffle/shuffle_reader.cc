#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/hash/hash.h"
#include "calve/io/file_io.h"
#include "calve/io/local_file.h"
#include "calve/shuffle.h"
#include "calve/shuffle/conform.h"
#include "calve/shuffle/shuffle_files.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <fcntl.h>

#include <algorithm>

namespace calve {

namespace {

/// The part of a partition that lies in one file.
struct Part {
  const ShuffleTaskFiles* files = nullptr;
  int64_t offset = 0, size = 0;
  std::optional<uint32_t> checksum;
};

Status CheckCrc(const Part& part, int32_t partition) {
  constexpr int64_t kStep = 1 << 20;
  int64_t file_size = 0;
  ARROW_ASSIGN_OR_RAISE(const auto file, OpenForReading(part.files->data_path, part.files->data_path, &file_size));
  std::vector<uint8_t> bytes(static_cast<size_t>(std::min(part.size, kStep)));
  uint32_t crc = 0;
  for (int64_t done = 0; done < part.size;) {
    const int64_t step = std::min(kStep, part.size - done);
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          ReadFully(file, part.offset + done, step, bytes.data(), part.files->data_path));
    if (got == 0) return IOError("{} was cut short while it was read", part.files->data_path);
    crc = Crc32c({bytes.data(), static_cast<size_t>(got)}, crc);
    done += got;
  }
  if (crc == *part.checksum) return Status::OK();
  return Invalid("{}: partition {} at byte {}: the CRC-32C of its {} bytes is {:08x}, not {:08x} as written",
                 part.files->data_path, partition, part.offset, part.size, crc, *part.checksum);
}

/// Tells the system which bytes will be wanted next.
void Prefetch(const Part& part, int64_t most) {
  int64_t file_size = 0;
  const auto file = OpenForReading(part.files->data_path, part.files->data_path, &file_size);
  if (file.ok()) ::posix_fadvise(file->number(), part.offset, std::min(part.size, most), POSIX_FADV_WILLNEED);
}

class PartitionReader final : public arrow::RecordBatchReader {
 public:
  PartitionReader(std::vector<Part> parts, int32_t partition, std::shared_ptr<arrow::Schema> schema,
                  const ShuffleReadOptions& options, const Context& context)
      : parts_(std::move(parts)),
        partition_(partition),
        schema_(std::move(schema)),
        options_(options),
        context_(context) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    out->reset();
    ARROW_RETURN_NOT_OK(failure_);
    failure_ = TryNext(out);
    return failure_;
  }

 private:
  Status TryNext(std::shared_ptr<arrow::RecordBatch>* out) {
    ARROW_RETURN_NOT_OK(CheckStop(context_));
    while (blocks_ != nullptr || next_ < parts_.size()) {
      if (blocks_ == nullptr) ARROW_RETURN_NOT_OK(OpenPart(parts_[next_++]));
      ARROW_ASSIGN_OR_RAISE(const auto batch, blocks_->Next());
      if (batch == nullptr) {
        blocks_.reset();
        continue;
      }
      auto conforming = shuffle::ConformBatch(batch, schema_, PoolOf(context_));
      if (!conforming.ok()) {
        return WithContext(conforming.status(), fmt::format("{}: block at byte {}", parts_[next_ - 1].files->data_path,
                                                            blocks_->block_offset()));
      }
      *out = *std::move(conforming);
      return Status::OK();
    }
    return Status::OK();
  }

  Status OpenPart(const Part& part) {
    if (next_ < parts_.size() && options_.prefetch_bytes > 0) Prefetch(parts_[next_], options_.prefetch_bytes);
    if (part.checksum && options_.verify_checksums) ARROW_RETURN_NOT_OK(CheckCrc(part, partition_));
    ShuffleBlockReadOptions options;
    options.trusted = options_.trusted;
    options.align_values = options_.align_values;
    ARROW_ASSIGN_OR_RAISE(blocks_,
                          ShuffleBlockReader::Open(part.files->data_path, part.offset, part.size, options, context_));
    return Status::OK();
  }

  std::vector<Part> parts_;
  int32_t partition_;
  std::shared_ptr<arrow::Schema> schema_;
  ShuffleReadOptions options_;
  Context context_;
  size_t next_ = 0;
  std::unique_ptr<ShuffleBlockReader> blocks_;
  Status failure_;
};

class FolderReader final : public ShuffleReader {
 public:
  FolderReader(std::string folder, const ShuffleReadOptions& options, const Context& context)
      : folder_(std::move(folder)), options_(options), context_(context) {}

  Status Init() {
    ARROW_RETURN_NOT_OK(FindTasks());
    ARROW_ASSIGN_OR_RAISE(schema_, FindSchema());
    return Status::OK();
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  int32_t partitions() const override { return tasks_.empty() ? 0 : tasks_.front().index.partitions(); }
  const std::vector<ShuffleTaskFiles>& tasks() const override { return tasks_; }

  Result<std::shared_ptr<arrow::RecordBatchReader>> ReadPartition(int32_t partition) const override {
    return Read(partition, 0, tasks_.size());
  }
  Result<std::shared_ptr<arrow::RecordBatchReader>> ReadPartition(int32_t partition, size_t task) const override {
    if (task >= tasks_.size())
      return Invalid("{} has {} tasks, there is no task number {}", folder_, tasks_.size(), task);
    return Read(partition, task, task + 1);
  }

 private:
  Result<std::shared_ptr<arrow::RecordBatchReader>> Read(int32_t partition, size_t first, size_t end) const {
    if (partition < 0 || partition >= partitions()) {
      return Invalid("{} has {} partitions, there is no partition {}", folder_, partitions(), partition);
    }
    if (schema_ == nullptr) return Invalid("{}: neither a schema file nor a block tells the schema", folder_);
    std::vector<Part> parts;
    const auto p = static_cast<size_t>(partition);
    for (size_t task = first; task < end; ++task) {
      const ShuffleTaskFiles& files = tasks_[task];
      Part part{&files, files.index.offsets[p], files.index.offsets[p + 1] - files.index.offsets[p], std::nullopt};
      if (!files.checksums.empty()) part.checksum = files.checksums[p];
      if (part.size > 0) parts.push_back(part);
    }
    return std::make_shared<PartitionReader>(std::move(parts), partition, schema_, options_, context_);
  }

  Status FindTasks() {
    ARROW_ASSIGN_OR_RAISE(const auto names, files_.List(folder_));
    for (const std::string& name : names) {
      const auto task = shuffle::ParseIndexName(name);
      if (!task) continue;
      if (!tasks_.empty() && task->shuffle != shuffle_) {
        return Invalid("{} holds the shuffles {} and {}; they have to lie in folders of their own", folder_, shuffle_,
                       task->shuffle);
      }
      shuffle_ = task->shuffle;
      auto files = OpenTask(task->task, fmt::format("{}/{}", folder_, name.substr(0, name.size() - 6)));
      ARROW_RETURN_NOT_OK(files.status());
      tasks_.push_back(*std::move(files));
    }
    std::sort(tasks_.begin(), tasks_.end(), [](const auto& a, const auto& b) { return a.task < b.task; });
    for (const ShuffleTaskFiles& task : tasks_) {
      if (task.index.partitions() == partitions()) continue;
      return Invalid("{}: {} has {} partitions, {} has {}", folder_, tasks_.front().data_path, partitions(),
                     task.data_path, task.index.partitions());
    }
    return Status::OK();
  }

  Result<ShuffleTaskFiles> OpenTask(int64_t task, const std::string& stem) const {
    ShuffleTaskFiles result{task, stem + ".data", {}, {}};
    // Spark writes no data file where a task had no rows.
    ARROW_ASSIGN_OR_RAISE(const bool has_data, files_.Exists(result.data_path));
    int64_t size = 0;
    if (has_data) {
      ARROW_ASSIGN_OR_RAISE(size, files_.Size(result.data_path));
    }
    ARROW_ASSIGN_OR_RAISE(const std::string bytes, files_.ReadAll(stem + ".index"));
    ARROW_ASSIGN_OR_RAISE(
        result.index,
        WithContext(ParseShuffleIndex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, size),
                    stem + ".index"));
    const std::string checksums = stem + ".checksum.CRC32C";
    ARROW_ASSIGN_OR_RAISE(const bool has_checksums, files_.Exists(checksums));
    if (!has_checksums) return result;
    ARROW_ASSIGN_OR_RAISE(const std::string written, files_.ReadAll(checksums));
    ARROW_ASSIGN_OR_RAISE(result.checksums,
                          WithContext(shuffle::ParseChecksums(written, result.index.partitions()), checksums));
    return result;
  }

  Result<std::shared_ptr<arrow::Schema>> FindSchema() const {
    const std::string path = shuffle::SchemaPathOf(folder_, shuffle_);
    ARROW_ASSIGN_OR_RAISE(const bool has_file, files_.Exists(path));
    if (has_file) {
      ARROW_ASSIGN_OR_RAISE(std::string bytes, files_.ReadAll(path));
      return WithContext(shuffle::ParseSchemaBytes(std::move(bytes)), path);
    }
    for (const ShuffleTaskFiles& task : tasks_) {
      if (task.index.offsets.back() == 0) continue;
      ARROW_ASSIGN_OR_RAISE(const auto blocks, ShuffleBlockReader::Open(task.data_path, 0, std::nullopt, {}, context_));
      ARROW_RETURN_NOT_OK(blocks->Next().status());
      return blocks->schema();
    }
    return nullptr;
  }

  std::string folder_;
  ShuffleReadOptions options_;
  Context context_;
  FileIO files_;
  int64_t shuffle_ = 0;
  std::vector<ShuffleTaskFiles> tasks_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

Result<std::unique_ptr<ShuffleReader>> ShuffleReader::Open(const std::string& folder, const ShuffleReadOptions& options,
                                                           const Context& context) {
  auto reader = std::make_unique<FolderReader>(folder, options, context);
  ARROW_RETURN_NOT_OK(reader->Init());
  return reader;
}

}  // namespace calve
