#pragma once

#include "calve/expr/node.h"
#include "calve/pipeline/target_field.h"

#include <memory>
#include <vector>

namespace calve::pipeline {

/// The field of a nested target with the types that its children have now.
std::shared_ptr<arrow::Field> WithChildren(const TargetField& target);

/// The same targets as columns that a filter can be bound to: every field carries the target's id, and has the type
/// that the filter tests.
std::vector<TargetField> FilterTargets(const std::vector<TargetField>& targets);

/// The metadata columns ("_file" and the like) that `filter`, which is not bound, names, but for those that are names
/// of columns of `schema`.
std::vector<TargetField> MetadataColumnsOf(const expr::NodePtr& filter, const arrow::Schema& schema);

/// Those that have a field with one of `ids`, themselves or inside.
std::vector<TargetField> TargetsWith(const std::vector<TargetField>& targets, const std::vector<int>& ids);

/// `target`, which has one of `ids` or a field inside that has, without the fields of structs that have none.
TargetField PrunedTo(TargetField target, const std::vector<int>& ids);

}  // namespace calve::pipeline
