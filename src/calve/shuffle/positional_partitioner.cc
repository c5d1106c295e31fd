#include "calve/base/status.h"
#include "calve/partitioner.h"
#include "calve/shuffle/key_columns.h"

#include <algorithm>

namespace calve {

namespace {

class PositionalPartitioner final : public Partitioner {
 public:
  PositionalPartitioner(int32_t partitions, int32_t first)
      : partitions_(static_cast<uint32_t>(partitions)),
        run_rows_(std::max(8192 / partitions, 1)),
        current_(static_cast<uint32_t>(first)) {}

  int32_t partitions() const override { return static_cast<int32_t>(partitions_); }

  Status Assign(const arrow::RecordBatch& batch, std::span<uint32_t> out) override {
    for (uint32_t& partition : out) {
      partition = current_;
      if (++rows_in_run_ < run_rows_) continue;
      rows_in_run_ = 0;
      current_ = current_ + 1 == partitions_ ? 0 : current_ + 1;
    }
    return Status::OK();
  }

 private:
  uint32_t partitions_;
  int32_t run_rows_, rows_in_run_ = 0;
  uint32_t current_;
};

class SinglePartitioner final : public Partitioner {
 public:
  int32_t partitions() const override { return 1; }
  Status Assign(const arrow::RecordBatch& batch, std::span<uint32_t> out) override {
    std::fill(out.begin(), out.end(), 0u);
    return Status::OK();
  }
};

}  // namespace

PartitionerResult MakePositionalRoundRobinPartitioner(int32_t partitions, int32_t first_partition) {
  ARROW_RETURN_NOT_OK(shuffle::CheckPartitions(partitions));
  if (first_partition < 0 || first_partition >= partitions) {
    return Invalid("the first partition must be in [0, {}), not {}", partitions, first_partition);
  }
  return std::make_unique<PositionalPartitioner>(partitions, first_partition);
}

PartitionerResult MakeSinglePartitioner() { return std::make_unique<SinglePartitioner>(); }

}  // namespace calve
