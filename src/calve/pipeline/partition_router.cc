#include "calve/pipeline/partition_router.h"

#include "calve/base/status.h"
#include "calve/iceberg/partition_key.h"
#include "calve/pipeline/spec_terms.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/util/checked_cast.h>

#include <unordered_map>

namespace calve::pipeline {
namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;
using arrow::internal::checked_cast;

struct RoutedField {
  iceberg::Transform transform;
  iceberg::TypePtr source_type;
  std::vector<int> path;
};

}  // namespace

struct RowRouter::Impl {
  iceberg::PartitionSpec spec;
  std::vector<iceberg::TypePtr> types;
  std::vector<RoutedField> fields;
  arrow::MemoryPool* pool = nullptr;
  std::vector<RoutedPartition> partitions;
  std::unordered_map<iceberg::PartitionKey, size_t, iceberg::PartitionKeyHash> index;

  Result<size_t> PartitionOf(std::vector<Value> values) {
    iceberg::PartitionKey key{spec.spec_id, std::move(values)};
    if (auto known = index.find(key); known != index.end()) return known->second;
    RoutedPartition partition;
    partition.values = key.values;
    if (!spec.fields.empty()) {
      ARROW_ASSIGN_OR_RAISE(partition.path, iceberg::PartitionPath(spec, types, key.values));
    }
    partitions.push_back(std::move(partition));
    index.emplace(std::move(key), partitions.size() - 1);
    return partitions.size() - 1;
  }

  /// The partition of every row.
  Result<std::vector<size_t>> PartitionsOf(const arrow::RecordBatch& batch) {
    std::vector<std::vector<Value>> columns;
    for (const RoutedField& field : fields) {
      ARROW_ASSIGN_OR_RAISE(auto source, ColumnAt(batch, field.path, pool));
      ARROW_ASSIGN_OR_RAISE(auto values, iceberg::ApplyToArray(field.transform, *field.source_type, *source));
      columns.push_back(std::move(values));
    }
    std::vector<size_t> result(static_cast<size_t>(batch.num_rows()));
    for (size_t row = 0; row < result.size(); ++row) {
      const bool same_as_last =
          row > 0 && std::all_of(columns.begin(), columns.end(), [&](const std::vector<Value>& column) {
            return SameValue(column[row], column[row - 1]);
          });
      if (same_as_last) {
        result[row] = result[row - 1];
        continue;
      }
      std::vector<Value> values;
      for (const auto& column : columns) values.push_back(column[row]);
      ARROW_ASSIGN_OR_RAISE(result[row], PartitionOf(std::move(values)));
    }
    return result;
  }
};

RowRouter::RowRouter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RowRouter::~RowRouter() = default;

Result<std::unique_ptr<RowRouter>> RowRouter::Make(const iceberg::TableMetadata& metadata,
                                                   const iceberg::PartitionSpec& spec, const arrow::Schema& columns,
                                                   arrow::MemoryPool* pool) {
  auto impl = std::make_unique<Impl>();
  impl->spec = spec;
  impl->pool = pool;
  ARROW_ASSIGN_OR_RAISE(impl->types, iceberg::PartitionTypes(spec, metadata.schema()));
  for (const iceberg::PartitionField& field : spec.fields) {
    if (field.transform.kind == iceberg::TransformKind::kUnknown) {
      return NotImplemented("partition field '{}': transform '{}' is not supported for writing", field.name,
                            field.transform.text);
    }
    RoutedField routed{field.transform, nullptr, PathOfId(columns.fields(), field.source_id)};
    const iceberg::Field* source = metadata.schema().FindById(field.source_id);
    if (source == nullptr || routed.path.empty()) {
      if (field.transform.kind != iceberg::TransformKind::kVoid) {
        return Invalid("partition field '{}': its source column (field id {}) is not in the schema", field.name,
                       field.source_id);
      }
      // Void is null whatever it is made from.
      routed.path = {0};
      routed.source_type = iceberg::Primitive(iceberg::TypeId::kInt);
    } else {
      routed.source_type = source->type;
    }
    impl->fields.push_back(std::move(routed));
  }
  return std::unique_ptr<RowRouter>(new RowRouter(std::move(impl)));
}

Result<std::vector<RoutedRows>> RowRouter::Route(const std::shared_ptr<arrow::RecordBatch>& batch) {
  std::vector<RoutedRows> result;
  if (batch->num_rows() == 0) return result;
  ARROW_ASSIGN_OR_RAISE(const auto partitions, impl_->PartitionsOf(*batch));
  std::vector<size_t> order;
  std::unordered_map<size_t, std::vector<int32_t>> rows;
  for (size_t row = 0; row < partitions.size(); ++row) {
    auto& of_partition = rows[partitions[row]];
    if (of_partition.empty()) order.push_back(partitions[row]);
    of_partition.push_back(static_cast<int32_t>(row));
  }
  if (order.size() == 1) {
    result.push_back({order[0], batch});
    return result;
  }
  arrow::compute::ExecContext context(impl_->pool);
  for (size_t partition : order) {
    arrow::Int32Builder indices(impl_->pool);
    ARROW_RETURN_NOT_OK(indices.AppendValues(rows[partition]));
    ARROW_ASSIGN_OR_RAISE(auto index_array, indices.Finish());
    ARROW_ASSIGN_OR_RAISE(
        auto taken, arrow::compute::Take(batch, index_array, arrow::compute::TakeOptions::NoBoundsCheck(), &context));
    result.push_back({partition, taken.record_batch()});
  }
  return result;
}

const RoutedPartition& RowRouter::partition(size_t index) const { return impl_->partitions[index]; }

}  // namespace calve::pipeline
