// A map task: batches wait in memory; when the budget is used up their rows are spilled as blocks, partition after
// partition; at the end each partition is what was spilled of it, round after round, copied byte by byte, and then its
// rows that are still in memory.
#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/hash/hash.h"
#include "calve/io/file_io.h"
#include "calve/io/local_output.h"
#include "calve/shuffle.h"
#include "calve/shuffle/block_splitter.h"
#include "calve/shuffle/row_buffer.h"
#include "calve/shuffle/shuffle_files.h"
#include "calve/shuffle/spill_file.h"

#include <arrow/io/interfaces.h>
#include <arrow/type.h>

#include <algorithm>

namespace calve {

namespace {

using shuffle::RowBuffer;
using shuffle::SpillFile;

/// Blocks are at most this part of the budget: a stream, its compressed form, and room for both to grow.
constexpr int64_t kBlocksInBudget = 8;
constexpr int64_t kSmallestBlock = 4096;
/// So are the slabs in which rows wait, and what comes in until there is enough for one.
constexpr int64_t kSlabsInBudget = 16;
constexpr int64_t kSmallestSlab = int64_t{64} << 10, kLargestSlab = int64_t{4} << 20;
/// The oldest rows are spilled, this part of all or more: blocks of a partition should not be smaller than so.
constexpr int64_t kSpillsOfBuffered = 4, kSmallestSpilledBlock = int64_t{256} << 10;
/// This part of the budget is left to what is not counted: the batch that comes in, and what allocators lose.
constexpr int64_t kUncountedInBudget = 8;

class TaskWriter final : public ShuffleTaskWriter {
 public:
  TaskWriter(std::string folder, int64_t task, std::shared_ptr<arrow::Schema> schema,
             std::unique_ptr<Partitioner> partitioner, const ShuffleWriteOptions& options, const Context& context)
      : folder_(std::move(folder)),
        paths_(shuffle::PathsOf(folder_, task)),
        schema_(std::move(schema)),
        partitioner_(std::move(partitioner)),
        partitions_(partitioner_->partitions()),
        options_(options),
        context_(context),
        block_bytes_(
            std::max(std::min(options.block_bytes, options.memory_budget_bytes / kBlocksInBudget), kSmallestBlock)),
        buffer_(*schema_, partitions_,
                std::clamp(options.memory_budget_bytes / kSlabsInBudget, kSmallestSlab, kLargestSlab),
                PoolOf(context)) {
    result_.task = task;
  }

  Status Init() {
    if (partitions_ < 1) return Invalid("a shuffle needs at least one partition");
    if (options_.memory_budget_bytes < 1 || options_.block_bytes < 1) {
      return Invalid("the memory budget and the block size of a shuffle must be positive");
    }
    ARROW_ASSIGN_OR_RAISE(const bool committed, files_.Exists(paths_.index));
    if (committed) return Status::AlreadyExists("task ", result_.task, " was committed before: ", paths_.index);
    ARROW_ASSIGN_OR_RAISE(blocks_, ShuffleBlockWriter::Make(schema_, options_.blocks, context_));
    ARROW_RETURN_NOT_OK(WriteSchema());
    // Made at once: it keeps the folder, and says early where nothing can be written.
    ARROW_ASSIGN_OR_RAISE(data_, LocalOutput::Make(paths_.data, paths_.data));
    return Status::OK();
  }

  Status Write(const std::shared_ptr<arrow::RecordBatch>& batch) override {
    ARROW_RETURN_NOT_OK(CheckStop(context_));
    if (!batch->schema()->Equals(*schema_, false)) {
      return Invalid("a batch for the shuffle has the schema [{}], not [{}]", batch->schema()->ToString(),
                     schema_->ToString());
    }
    if (batch->num_rows() == 0) return Status::OK();
    if (schema_->num_fields() == 0) return AddRowsWithoutColumns(batch);
    assigned_.resize(static_cast<size_t>(batch->num_rows()));
    ARROW_RETURN_NOT_OK(partitioner_->Assign(*batch, assigned_));
    return Add(batch);
  }

  Result<ShuffleTaskResult> Commit() override {
    ARROW_RETURN_NOT_OK(CheckStop(context_));
    ARROW_RETURN_NOT_OK(Sort());
    if (spill_ != nullptr) ARROW_RETURN_NOT_OK(spill_->Flush());
    ShuffleIndex index{{0}, options_.index_order};
    std::vector<uint32_t> checksums;
    for (int32_t partition = 0; partition < partitions_; ++partition) {
      crc_ = 0;
      ARROW_RETURN_NOT_OK(MergePartition(partition));
      index.offsets.push_back(data_size_);
      checksums.push_back(crc_);
    }
    ARROW_RETURN_NOT_OK(Publish(index, checksums));
    result_.data_bytes = data_size_;
    result_.blocks = blocks_->metrics().blocks;
    result_.encoded_bytes = blocks_->metrics().encoded_bytes;
    return result_;
  }

 private:
  /// What a round of spilling left of each partition, in the spill file.
  struct Round {
    std::vector<int64_t> offsets;  ///< partitions + 1
  };

  int64_t FixedBytes() const {
    return blocks_->held_bytes() + static_cast<int64_t>(SpillFile::kBufferSize) +
           static_cast<int64_t>(rounds_.size()) * 8 * (partitions_ + 1);
  }
  /// Room for a block in the making is left free.
  bool Fits(int64_t buffered) const {
    return buffered + FixedBytes() + std::max<int64_t>(3 * block_bytes_ - blocks_->held_bytes(), 0) <=
           options_.memory_budget_bytes - options_.memory_budget_bytes / kUncountedInBudget;
  }
  void NoteMemory() {
    result_.peak_memory_bytes = std::max(result_.peak_memory_bytes, buffer_.held_bytes() + FixedBytes());
  }

  // Rows go to the buffer as `assigned_` says; it is sorted when it has no room for more.
  Status Add(const std::shared_ptr<arrow::RecordBatch>& batch) {
    for (int64_t first = 0; first < batch->num_rows();) {
      const int64_t room = buffer_.RoomFor(*batch, first);
      if (room > 0) {
        buffer_.Add(batch, first, std::span(assigned_).subspan(static_cast<size_t>(first), static_cast<size_t>(room)));
      } else {
        ARROW_RETURN_NOT_OK(Sort());
      }
      first += room;
    }
    result_.rows += batch->num_rows();
    return buffer_.KeepsMuchAlive() ? Sort() : Status::OK();
  }

  // Where there is no room for what is sorted, what was sorted before is spilled.
  Status Sort() {
    ARROW_RETURN_NOT_OK(MakeRoomFor([&] { return buffer_.SortBytes(); }));
    ARROW_RETURN_NOT_OK(buffer_.Sort());
    NoteMemory();
    return MakeRoomFor([] { return 0; });
  }

  template <typename Bytes>
  Status MakeRoomFor(Bytes bytes) {
    const auto fits = [&] { return Fits(buffer_.held_bytes() + bytes()); };
    if (!fits()) buffer_.ReleaseSpare();
    while (buffer_.has_sorted() && !fits()) {
      ARROW_RETURN_NOT_OK(Spill(buffer_.OldestOf(SpillBytes())));
      if (!fits()) buffer_.ReleaseSpare();
    }
    return Status::OK();
  }

  // All that is sorted, or less where each partition still gets a block of some size.
  int64_t SpillBytes() const {
    return std::max(buffer_.batch_bytes() / kSpillsOfBuffered, int64_t{partitions_} * kSmallestSpilledBlock);
  }

  int64_t BlockRows() const {
    const int64_t row_bytes = std::max<int64_t>(buffer_.batch_bytes() / std::max<int64_t>(buffer_.sorted_rows(), 1), 1);
    return std::max<int64_t>(block_bytes_ / row_bytes, 1);
  }

  template <typename Sink>
  Status WriteBuffered(int32_t partition, size_t batches, Sink sink) {
    rows_.clear();
    buffer_.RowsOf(partition, batches, &rows_);
    return shuffle::WriteBlocks(blocks_.get(), rows_, BlockRows(), sink);
  }

  /// The first `batches` that were sorted.
  Status Spill(size_t batches) {
    if (spill_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(spill_, SpillFile::Make(folder_));
    }
    Round round{{spill_->size()}};
    for (int32_t partition = 0; partition < partitions_; ++partition) {
      ARROW_RETURN_NOT_OK(
          WriteBuffered(partition, batches, [&](std::span<const uint8_t> block) { return spill_->Append(block); }));
      round.offsets.push_back(spill_->size());
    }
    NoteMemory();
    ++result_.spills;
    result_.spilled_bytes += round.offsets.back() - round.offsets.front();
    rounds_.push_back(std::move(round));
    buffer_.Forget(batches);
    blocks_->Release();
    return Status::OK();
  }

  Status AppendData(std::span<const uint8_t> bytes) {
    if (options_.checksums) crc_ = Crc32c(bytes, crc_);
    data_size_ += static_cast<int64_t>(bytes.size());
    return data_->stream()->Write(bytes.data(), static_cast<int64_t>(bytes.size()));
  }

  Status MergePartition(int32_t partition) {
    const auto p = static_cast<size_t>(partition);
    const auto append = [&](std::span<const uint8_t> bytes) { return AppendData(bytes); };
    if (spill_ != nullptr) {
      std::vector<SpillFile::Range> spilled;
      for (const Round& round : rounds_) spilled.push_back({round.offsets[p], round.offsets[p + 1]});
      ARROW_RETURN_NOT_OK(spill_->Read(spilled, data_size_, append));
    }
    ARROW_RETURN_NOT_OK(WriteBuffered(partition, buffer_.sorted_batches(), append));
    NoteMemory();
    return Status::OK();
  }

  // They carry nothing but their count, which goes to partition 0.
  Status AddRowsWithoutColumns(const std::shared_ptr<arrow::RecordBatch>& batch) {
    assigned_.assign(static_cast<size_t>(batch->num_rows()), 0);
    ARROW_RETURN_NOT_OK(Add(batch));
    return Sort();
  }

  // Of tasks that run at the same time one makes the file; the others find the same bytes.
  Status WriteSchema() {
    const std::string path = shuffle::SchemaPathOf(folder_, 0);
    ARROW_ASSIGN_OR_RAISE(const std::string bytes, shuffle::SchemaBytes(*schema_));
    const Status created = files_.CreateNew(path, bytes);
    if (!created.IsAlreadyExists()) return created;
    ARROW_ASSIGN_OR_RAISE(const std::string there, files_.ReadAll(path));
    if (there == bytes) return Status::OK();
    return Invalid("the tasks of a shuffle have one schema; {} has another", path);
  }

  // The index makes the task committed. Checksums of an earlier attempt must not stay beside other data.
  Status Publish(const ShuffleIndex& index, const std::vector<uint32_t>& checksums) {
    if (options_.checksums) {
      ARROW_RETURN_NOT_OK(files_.Replace(paths_.checksums, shuffle::ChecksumBytes(checksums)));
    } else {
      ARROW_ASSIGN_OR_RAISE(const bool stale, files_.Exists(paths_.checksums));
      if (stale) ARROW_RETURN_NOT_OK(files_.Delete(paths_.checksums));
    }
    ARROW_RETURN_NOT_OK(data_->Publish(Publication::kReplace).status());
    return files_.CreateNew(paths_.index, shuffle::IndexBytes(index));
  }

  std::string folder_;
  shuffle::TaskPaths paths_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<Partitioner> partitioner_;
  int32_t partitions_;
  ShuffleWriteOptions options_;
  Context context_;
  int64_t block_bytes_;
  FileIO files_;

  RowBuffer buffer_;
  std::unique_ptr<ShuffleBlockWriter> blocks_;
  std::unique_ptr<SpillFile> spill_;
  std::vector<Round> rounds_;
  std::unique_ptr<LocalOutput> data_;
  int64_t data_size_ = 0;
  uint32_t crc_ = 0;
  std::vector<uint32_t> assigned_;
  std::vector<ShuffleRows> rows_;
  ShuffleTaskResult result_;
};

}  // namespace

Result<std::unique_ptr<ShuffleTaskWriter>> ShuffleTaskWriter::Make(const std::string& folder, int64_t task,
                                                                   const std::shared_ptr<arrow::Schema>& schema,
                                                                   std::unique_ptr<Partitioner> partitioner,
                                                                   const ShuffleWriteOptions& options,
                                                                   const Context& context) {
  if (task < 0) return Invalid("the number of a task must not be negative, as {} is", task);
  auto writer = std::make_unique<TaskWriter>(folder, task, schema, std::move(partitioner), options, context);
  ARROW_RETURN_NOT_OK(writer->Init());
  return writer;
}

}  // namespace calve
