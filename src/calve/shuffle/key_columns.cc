#include "calve/shuffle/key_columns.h"

#include "calve/base/status.h"

#include <arrow/type.h>

namespace calve::shuffle {

Result<std::vector<int>> FindKeyColumns(const arrow::Schema& schema, const std::vector<std::string>& keys) {
  if (keys.empty()) return Invalid("partitioning needs a key column");
  std::vector<int> columns;
  for (const std::string& key : keys) {
    const std::vector<int> found = schema.GetAllFieldIndices(key);
    if (found.size() != 1) {
      return Invalid("{} column is named '{}', among {}", found.empty() ? "no" : "more than one", key,
                     fmt::join(schema.field_names(), ", "));
    }
    columns.push_back(found[0]);
  }
  return columns;
}

Status CheckPartitions(int32_t partitions) {
  if (partitions >= 1) return Status::OK();
  return Invalid("the number of partitions must be at least 1, not {}", partitions);
}

}  // namespace calve::shuffle
