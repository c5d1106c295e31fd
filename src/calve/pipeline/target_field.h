#pragma once

#include "calve/expr/value.h"
#include "calve/iceberg/schema.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calve::pipeline {

/// A column that is asked for, or a field inside one.
struct TargetField {
  /// Where the values come from: the file's field with the same id, or what is known of the row beside the file's
  /// columns.
  enum class Kind { kColumn, kRowId, kLastUpdatedSequenceNumber, kFilePath, kRowPosition };

  Kind kind = Kind::kColumn;
  int id = -1;
  std::shared_ptr<arrow::Field> field;
  /// Takes the place of a field that the file lacks: the initial default, or the write default. None: null.
  std::optional<Value> missing_value;
  bool has_nested_default = false;    ///< a default of a nested type, which cannot be applied
  std::vector<TargetField> children;  ///< struct: fields; list: element; map: key, value
};

enum class DefaultKind { kInitial, kWrite };

/// The targets for table columns, in order.
arrow::Result<std::vector<TargetField>> TargetsOf(const std::vector<iceberg::Field>& fields, DefaultKind defaults);
/// The targets for Arrow columns; ids are given in depth-first order from 1, those of the fields' metadata do not
/// count.
std::vector<TargetField> TargetsOf(const arrow::Schema& schema);
/// The target for "_row_id" and the like; nothing when `name` is no such column.
std::optional<TargetField> MetadataColumn(const std::string& name);

/// The Arrow schema of the targets.
std::shared_ptr<arrow::Schema> SchemaOf(const std::vector<TargetField>& targets);

/// The fields of `fields` with these ids, at any depth, with the structs, lists and maps around them; a map keeps its
/// key. A nested field that is named keeps all its children.
std::vector<iceberg::Field> SelectFields(const std::vector<iceberg::Field>& fields, const std::vector<int>& ids);

}  // namespace calve::pipeline
