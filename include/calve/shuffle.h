#pragma once

#include "calve/context.h"
#include "calve/partitioner.h"
#include "calve/shuffle_block.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calve {

// Shuffles over files: map tasks write their rows by partition, reduce tasks read a partition of all of them. The
// folder and the bytes of its files are described in docs/format/shuffle-files.md; data and index are Comet's and
// Spark's.

/// Byte order of an index file.
enum class ShuffleIndexOrder {
  kBigEndian,     ///< as Spark commits it
  kLittleEndian,  ///< as Comet's native writer leaves it
};

/// Where the blocks of each partition lie in a data file.
struct ShuffleIndex {
  std::vector<int64_t> offsets;  ///< partitions + 1; the first is 0, the last the data file's size
  ShuffleIndexOrder order = ShuffleIndexOrder::kBigEndian;

  int32_t partitions() const { return static_cast<int32_t>(offsets.size()) - 1; }
};

/// Parses an index file of a data file of `data_size` bytes. The byte order is the one in which the offsets fit the
/// data file; both do for a file without data. Invalid says what does not fit, and where.
arrow::Result<ShuffleIndex> ParseShuffleIndex(std::span<const uint8_t> bytes, int64_t data_size);

struct ShuffleWriteOptions {
  ShuffleBlockWriteOptions blocks;
  /// What a task may hold: batches, by their distinct buffers, what is kept to find rows again, and blocks in the
  /// making. Beyond it rows are spilled to one file a task.
  int64_t memory_budget_bytes = int64_t{256} << 20;
  /// A block ends when its rows take about so many bytes, before the codec. Less where the budget is small.
  int64_t block_bytes = int64_t{1} << 20;
  ShuffleIndexOrder index_order = ShuffleIndexOrder::kBigEndian;
  bool checksums = false;  ///< keep a CRC-32C a partition beside the data; readers verify it
};

/// What a task wrote.
struct ShuffleTaskResult {
  int64_t task = 0;
  int64_t rows = 0, blocks = 0;
  int64_t data_bytes = 0;     ///< of the data file
  int64_t encoded_bytes = 0;  ///< of the blocks' IPC streams, before the codec
  int64_t spills = 0, spilled_bytes = 0;
  int64_t peak_memory_bytes = 0;  ///< as the budget counts
};

/// Writes the rows of one map task.
///
/// Rows of a partition keep the order in which they came, however often they were spilled. Until Commit the folder
/// holds temporary names only, and a spill file that has no name; destroyed without it, or killed, nothing looks
/// committed. Not thread-safe; tasks of one shuffle may be written at the same time, each by one writer.
class ShuffleTaskWriter {
 public:
  /// Makes `folder` where it is missing. AlreadyExists when the task was committed before; Invalid when the shuffle's
  /// other tasks have another schema.
  static arrow::Result<std::unique_ptr<ShuffleTaskWriter>> Make(const std::string& folder, int64_t task,
                                                                const std::shared_ptr<arrow::Schema>& schema,
                                                                std::unique_ptr<Partitioner> partitioner,
                                                                const ShuffleWriteOptions& options = {},
                                                                const Context& context = {});
  virtual ~ShuffleTaskWriter() = default;

  /// Adds the rows of `batch`, which has the writer's schema. After an error
  /// only destruction is left.
  virtual arrow::Status Write(const std::shared_ptr<arrow::RecordBatch>& batch) = 0;
  /// Puts the files in place, synced; the index last.
  virtual arrow::Result<ShuffleTaskResult> Commit() = 0;
};

/// A map task's rows and number.
struct ShuffleInput {
  int64_t task = 0;
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>()> open;
};

/// Makes the partitioner of a task.
using PartitionerFactory = std::function<PartitionerResult(int64_t task)>;

/// Runs map tasks, as many at once as `context` allows, the memory budget divided among those; results are in the order
/// of `inputs`. Progress counts rows.
arrow::Result<std::vector<ShuffleTaskResult>> WriteShuffle(
    const std::string& folder, const std::shared_ptr<arrow::Schema>& schema, const std::vector<ShuffleInput>& inputs,
    const PartitionerFactory& partitioner, const ShuffleWriteOptions& options = {}, const Context& context = {});

struct ShuffleReadOptions {
  bool trusted = false;          ///< see ShuffleBlockReadOptions
  bool align_values = true;      ///< see ShuffleBlockReadOptions
  bool verify_checksums = true;  ///< where there are some, before a row of the partition's part is returned
  int64_t prefetch_bytes = int64_t{8} << 20;  ///< asked of the system ahead of the file that is being read
};

/// A committed map task.
struct ShuffleTaskFiles {
  int64_t task = 0;
  std::string data_path;
  ShuffleIndex index;
  std::vector<uint32_t> checksums;  ///< CRC-32C a partition; empty: none were written
};

/// Reads the committed tasks of a shuffle's folder. Thread-safe; partitions may be read at the same time.
class ShuffleReader {
 public:
  /// Finds the tasks, `shuffle_S_M_0.index` and `.data`, by M. A folder that Comet or Spark wrote has no schema file:
  /// the schema is then that of its first block. Invalid when the tasks are of several shuffles or have different
  /// numbers of partitions, or a data file is not the one that its index describes.
  static arrow::Result<std::unique_ptr<ShuffleReader>> Open(const std::string& folder,
                                                            const ShuffleReadOptions& options = {},
                                                            const Context& context = {});
  virtual ~ShuffleReader() = default;

  /// Null when nothing tells it: no schema file and no block.
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  virtual int32_t partitions() const = 0;  ///< 0: no task
  virtual const std::vector<ShuffleTaskFiles>& tasks() const = 0;

  /// The rows of `partition` of all tasks, in the order of the tasks. Columns have the schema's types, whether their
  /// blocks hold them as dictionaries or as values. The reader must outlive the result.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadPartition(int32_t partition) const = 0;
  /// The same of the task tasks()[task] only.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadPartition(int32_t partition,
                                                                                 size_t task) const = 0;
};

}  // namespace calve
