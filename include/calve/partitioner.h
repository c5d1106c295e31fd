#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calve {

/// Says which partition each row goes to. What shuffles offer is made by the functions below; others (an Iceberg
/// partition spec) implement it. Not thread-safe: every task has its own.
class Partitioner {
 public:
  virtual ~Partitioner() = default;
  /// At least 1.
  virtual int32_t partitions() const = 0;
  /// Writes to `out` (one an entry a row of `batch`) the partition of each row, in [0, partitions()). Batches come in
  /// the order of the task's rows and have the schema that the partitioner was made for.
  virtual arrow::Status Assign(const arrow::RecordBatch& batch, std::span<uint32_t> out) = 0;
};

using PartitionerResult = arrow::Result<std::unique_ptr<Partitioner>>;

/// By Spark's hash (Murmur3, seed 42) of the key columns, modulo `partitions`: rows lie where Spark and Comet put them.
///
/// Nulls, at any level, leave the hash as it is; both zeros are one value, and so are all NaNs; decimals of more than
/// 18 digits hash by their shortest big-endian bytes; lists, maps and structs fold their elements. Types that Spark has
/// not hash as the nearest that it has: unsigned integers and times by value as int32 or int64, half floats as float,
/// fixed size binary as binary. Invalid when a key is no column; NotImplemented names a type that cannot be hashed.
PartitionerResult MakeHashPartitioner(const std::shared_ptr<arrow::Schema>& schema,
                                      const std::vector<std::string>& keys, int32_t partitions);

/// A column to order by. NaN comes after every number, -0 equals 0.
struct RangeKey {
  std::string column;
  bool descending = false;
  bool nulls_first = true;  ///< whether ascending or descending
};

/// Which partition a row gets that equals a bound.
enum class RangeConvention {
  kSpark,  ///< the one before: the number of bounds smaller than the row
  kComet,  ///< the one after: the number of bounds smaller than or equal to the row
};

/// By the place of a row's keys among `bounds`: partitions() is one more than bounds has rows. The columns of `bounds`
/// are those of `keys`, in order and type, its rows sorted. NotImplemented names a type without order (lists, structs).
PartitionerResult MakeRangePartitioner(const std::shared_ptr<arrow::Schema>& schema, const std::vector<RangeKey>& keys,
                                       const std::shared_ptr<arrow::RecordBatch>& bounds,
                                       RangeConvention convention = RangeConvention::kComet);

/// Bounds that split the rows of `sample` (which has the key columns, in any order and among others) into `partitions`
/// parts of about equal size: at most partitions - 1 distinct rows, sorted, with the key columns alone.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SampleRangeBounds(const std::shared_ptr<arrow::RecordBatch>& sample,
                                                                     const std::vector<RangeKey>& keys,
                                                                     int32_t partitions);

/// Round robin by content: Spark's hash of all columns, so that a task that runs again puts every row where it was, in
/// whatever order its rows come.
PartitionerResult MakeRoundRobinPartitioner(const std::shared_ptr<arrow::Schema>& schema, int32_t partitions);

/// Round robin by position, as Comet's: runs of floor(8192 / partitions) rows (at least one), the first to
/// `first_partition`, which should differ from task to task. Rows must come in the same order when a task runs again.
PartitionerResult MakePositionalRoundRobinPartitioner(int32_t partitions, int32_t first_partition);

/// Everything to the one partition.
PartitionerResult MakeSinglePartitioner();

}  // namespace calve
