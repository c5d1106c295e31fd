#include "calve/base/status.h"
#include "calve/partitioner.h"
#include "calve/shuffle/key_columns.h"
#include "calve/shuffle/order_key.h"

#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/type.h>

#include <algorithm>
#include <numeric>

namespace calve {

namespace {

std::vector<std::string> NamesOf(const std::vector<RangeKey>& keys) {
  std::vector<std::string> names;
  for (const RangeKey& key : keys) names.push_back(key.column);
  return names;
}

Result<std::vector<std::string>> AllKeys(const arrow::RecordBatch& batch, const std::vector<RangeKey>& keys,
                                         const std::vector<int>& columns) {
  ARROW_ASSIGN_OR_RAISE(const auto order, shuffle::OrderKeys::Make(batch, keys, columns));
  std::vector<std::string> result(static_cast<size_t>(batch.num_rows()));
  for (size_t row = 0; row < result.size(); ++row) order.Get(static_cast<int64_t>(row), &result[row]);
  return result;
}

class RangePartitioner final : public Partitioner {
 public:
  RangePartitioner(std::vector<RangeKey> keys, std::vector<int> columns, std::vector<std::string> bounds,
                   RangeConvention convention)
      : keys_(std::move(keys)), columns_(std::move(columns)), bounds_(std::move(bounds)), convention_(convention) {}

  int32_t partitions() const override { return static_cast<int32_t>(bounds_.size()) + 1; }

  Status Assign(const arrow::RecordBatch& batch, std::span<uint32_t> out) override {
    ARROW_ASSIGN_OR_RAISE(const auto order, shuffle::OrderKeys::Make(batch, keys_, columns_));
    std::string key;
    for (size_t row = 0; row < out.size(); ++row) {
      order.Get(static_cast<int64_t>(row), &key);
      out[row] = static_cast<uint32_t>(Place(key) - bounds_.begin());
    }
    return Status::OK();
  }

 private:
  std::vector<std::string>::const_iterator Place(const std::string& key) const {
    return convention_ == RangeConvention::kSpark ? std::lower_bound(bounds_.begin(), bounds_.end(), key)
                                                  : std::upper_bound(bounds_.begin(), bounds_.end(), key);
  }

  std::vector<RangeKey> keys_;
  std::vector<int> columns_;
  std::vector<std::string> bounds_;  ///< sorted
  RangeConvention convention_;
};

Status CheckBounds(const arrow::Schema& schema, const std::vector<int>& columns, const arrow::RecordBatch& bounds) {
  if (bounds.num_columns() != static_cast<int>(columns.size())) {
    return Invalid("the bounds of a range partitioning have {} columns, its keys are {}", bounds.num_columns(),
                   columns.size());
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const arrow::Field& field = *schema.field(columns[i]);
    const auto& type = bounds.column(static_cast<int>(i))->type();
    if (type->Equals(*field.type())) continue;
    return Invalid("column '{}' of type {} is bounded by values of type {}", field.name(), field.type()->ToString(),
                   type->ToString());
  }
  return Status::OK();
}

Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const arrow::RecordBatch& batch, const std::vector<int>& columns,
                                                     const std::vector<int64_t>& rows) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.AppendValues(rows));
  ARROW_ASSIGN_OR_RAISE(const auto indices, builder.Finish());
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> taken;
  for (const int column : columns) {
    fields.push_back(batch.schema()->field(column));
    ARROW_ASSIGN_OR_RAISE(auto values, arrow::compute::Take(*batch.column(column), *indices));
    taken.push_back(std::move(values));
  }
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), static_cast<int64_t>(rows.size()),
                                  std::move(taken));
}

}  // namespace

PartitionerResult MakeRangePartitioner(const std::shared_ptr<arrow::Schema>& schema, const std::vector<RangeKey>& keys,
                                       const std::shared_ptr<arrow::RecordBatch>& bounds, RangeConvention convention) {
  ARROW_ASSIGN_OR_RAISE(auto columns, shuffle::FindKeyColumns(*schema, NamesOf(keys)));
  ARROW_RETURN_NOT_OK(CheckBounds(*schema, columns, *bounds));
  std::vector<int> columns_of_bounds(columns.size());
  std::iota(columns_of_bounds.begin(), columns_of_bounds.end(), 0);
  ARROW_ASSIGN_OR_RAISE(auto sorted, AllKeys(*bounds, keys, columns_of_bounds));
  const auto unsorted = std::is_sorted_until(sorted.begin(), sorted.end());
  if (unsorted != sorted.end()) {
    return Invalid("bound {} of a range partitioning is smaller than the one before it", unsorted - sorted.begin());
  }
  return std::make_unique<RangePartitioner>(keys, std::move(columns), std::move(sorted), convention);
}

Result<std::shared_ptr<arrow::RecordBatch>> SampleRangeBounds(const std::shared_ptr<arrow::RecordBatch>& sample,
                                                              const std::vector<RangeKey>& keys, int32_t partitions) {
  ARROW_RETURN_NOT_OK(shuffle::CheckPartitions(partitions));
  ARROW_ASSIGN_OR_RAISE(const auto columns, shuffle::FindKeyColumns(*sample->schema(), NamesOf(keys)));
  ARROW_ASSIGN_OR_RAISE(const auto row_keys, AllKeys(*sample, keys, columns));
  std::vector<std::pair<std::string, int64_t>> sorted;
  for (size_t row = 0; row < row_keys.size(); ++row) sorted.emplace_back(row_keys[row], static_cast<int64_t>(row));
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> chosen;
  const std::string* last = nullptr;
  for (int64_t i = 1; i < partitions && !sorted.empty(); ++i) {
    const auto& [key, row] = sorted[static_cast<size_t>(static_cast<int64_t>(sorted.size()) * i / partitions)];
    if (last != nullptr && *last == key) continue;
    chosen.push_back(row);
    last = &key;
  }
  return TakeRows(*sample, columns, chosen);
}

}  // namespace calve
