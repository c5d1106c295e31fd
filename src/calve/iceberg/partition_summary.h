#pragma once

#include "calve/iceberg/manifest.h"

namespace calve::iceberg {

/// Gathers what a manifest list says of the partition values of a manifest's files ("Manifest Lists", field_summary).
class PartitionSummaries {
 public:
  explicit PartitionSummaries(std::vector<TypePtr> types) : types_(std::move(types)), fields_(types_.size()) {}

  /// `partition` has one value a field.
  void Add(const std::vector<Value>& partition);
  Result<std::vector<FieldSummary>> Finish() const;

 private:
  struct FieldValues {
    bool contains_null = false, contains_nan = false;
    Value lower, upper;  ///< null while there is no value
  };

  std::vector<TypePtr> types_;
  std::vector<FieldValues> fields_;
};

}  // namespace calve::iceberg
