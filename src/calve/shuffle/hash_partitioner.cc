#include "calve/base/status.h"
#include "calve/hash/spark_murmur3.h"
#include "calve/partitioner.h"
#include "calve/shuffle/key_columns.h"
#include "calve/shuffle/spark_hash.h"
#include "calve/simd/spark_murmur3.h"

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <numeric>

namespace calve {

namespace {

class HashPartitioner final : public Partitioner {
 public:
  HashPartitioner(std::vector<int> columns, int32_t partitions)
      : columns_(std::move(columns)), partitions_(partitions) {}

  int32_t partitions() const override { return partitions_; }

  Status Assign(const arrow::RecordBatch& batch, std::span<uint32_t> out) override {
    std::fill(out.begin(), out.end(), spark::kSeed);
    bool one_seed = true;
    for (const int column : columns_) {
      ARROW_ASSIGN_OR_RAISE(const auto hasher, shuffle::MakeValueHasher(*batch.column_data(column)));
      if (!out.empty()) hasher->HashAll(out.data(), one_seed);
      one_seed = false;
    }
    simd::SparkPartitions(partitions_, out.size(), out.data());
    return Status::OK();
  }

 private:
  std::vector<int> columns_;
  int32_t partitions_;
};

// Types that cannot be hashed are refused before a row is seen.
Status CheckHashable(const arrow::Schema& schema, const std::vector<int>& columns) {
  for (const int column : columns) {
    ARROW_ASSIGN_OR_RAISE(const auto none, arrow::MakeEmptyArray(schema.field(column)->type()));
    const Status status = shuffle::MakeValueHasher(*none->data()).status();
    if (!status.ok()) return WithContext(status, fmt::format("column '{}'", schema.field(column)->name()));
  }
  return Status::OK();
}

PartitionerResult MakeHash(const arrow::Schema& schema, std::vector<int> columns, int32_t partitions) {
  ARROW_RETURN_NOT_OK(shuffle::CheckPartitions(partitions));
  ARROW_RETURN_NOT_OK(CheckHashable(schema, columns));
  return std::make_unique<HashPartitioner>(std::move(columns), partitions);
}

}  // namespace

PartitionerResult MakeHashPartitioner(const std::shared_ptr<arrow::Schema>& schema,
                                      const std::vector<std::string>& keys, int32_t partitions) {
  ARROW_ASSIGN_OR_RAISE(auto columns, shuffle::FindKeyColumns(*schema, keys));
  return MakeHash(*schema, std::move(columns), partitions);
}

PartitionerResult MakeRoundRobinPartitioner(const std::shared_ptr<arrow::Schema>& schema, int32_t partitions) {
  std::vector<int> columns(static_cast<size_t>(schema->num_fields()));
  std::iota(columns.begin(), columns.end(), 0);
  return MakeHash(*schema, std::move(columns), partitions);
}

}  // namespace calve
