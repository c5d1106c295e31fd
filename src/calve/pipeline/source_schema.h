#pragma once

#include "calve/iceberg/schema.h"
#include "calve/parquet/schema.h"
#include "calve/parquet_reader.h"
#include "calve/pipeline/target_field.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// A field of what is read: a file, or a stream of batches. The tree has the shape of the Arrow schema: a struct's
/// fields, a list's element, a map's key and value.
struct SourceField {
  std::string name;
  int id = -1;  ///< -1: none
  std::shared_ptr<arrow::DataType> type;
  int leaf = -1;             ///< of a primitive: its column
  bool is_repeated = false;  ///< inside a list or map
  bool is_int96 = false;
  std::vector<SourceField> children;
};

/// What fields of one name are to the targets of that name.
enum class SameNames {
  kShareId,  ///< all are the last target
  kInOrder   ///< the n-th is the n-th target
};

/// The schema of what is read, and how its fields are known.
struct SourceSchema {
  std::string name;  ///< of the file, for messages
  std::vector<SourceField> fields;
  bool matched_by_name = false;     ///< ids were given by AssignIdsByName
  bool matched_by_mapping = false;  ///< ids were given by AssignIdsByMapping

  static SourceSchema OfFile(const parquet::FileSchema& schema, std::string name);
  static SourceSchema OfArrow(const arrow::Schema& schema, std::string name);

  /// True when a field at any depth has an id.
  bool has_ids() const;
  /// Replaces all ids by those that `mapping` gives; `schema` is the Arrow form of the same source.
  void AssignIdsByMapping(const iceberg::NameMapping& mapping, const arrow::Schema& schema);
  /// Replaces all ids by those of the targets that have the same names, level by level; list elements and map entries
  /// stand for each other whatever they are called.
  void AssignIdsByName(const std::vector<TargetField>& targets, SameNames same_names = SameNames::kShareId);
};

/// How files are opened whose columns become a table's: the types that the file tells, and not the notes of the Arrow
/// writer; variants as whole values.
ParquetReadOptions TableFileOptions();

/// The id in a field's "PARQUET:field_id", -1 when there is none.
int FieldIdOf(const arrow::Field& field);

}  // namespace calve::pipeline
