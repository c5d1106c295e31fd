#pragma once

#include "calve/iceberg/manifest.h"

#include <vector>

namespace calve::iceberg {

/// A partition: the spec and its values. Equal as scan planning compares partitions; for keys of hash maps.
struct PartitionKey {
  int spec_id = 0;
  std::vector<Value> values;

  static PartitionKey Of(const DataFile& file) { return PartitionKey{file.spec_id, file.partition}; }

  friend bool operator==(const PartitionKey& left, const PartitionKey& right) {
    if (left.spec_id != right.spec_id || left.values.size() != right.values.size()) return false;
    for (size_t i = 0; i < left.values.size(); ++i) {
      if (!SameValue(left.values[i], right.values[i])) return false;
    }
    return true;
  }
};

struct PartitionKeyHash {
  size_t operator()(const PartitionKey& key) const {
    size_t hash = static_cast<size_t>(key.spec_id);
    for (const Value& value : key.values) hash = hash * 1000003 + HashValue(value);
    return hash;
  }
};

}  // namespace calve::iceberg
