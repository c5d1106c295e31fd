#pragma once

#include "calve/scan.h"

#include "calve/pipeline/source_schema.h"
#include "calve/pipeline/target_field.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::pipeline {

/// A schema, and the file it is of.
struct SchemaOfFile {
  std::string file;
  std::shared_ptr<arrow::Schema> schema;
};

/// One schema that the columns of all files fit, by the rules of docs/format/schema-unification.md: columns in the
/// order in which they first appear, each of the narrowest type that holds every file's. By kUnionByName or kUnionById.
/// Invalid names the file and the column that fit no such type.
arrow::Result<std::shared_ptr<arrow::Schema>> UnifySchemas(const std::vector<SchemaOfFile>& files,
                                                           FileSchemas file_schemas);

/// Gives the fields of a file the ids of the targets that have the same field id ("PARQUET:field_id") in theirs, level
/// by level; list elements and map entries stand for each other.
void AssignIdsByFieldId(const std::vector<TargetField>& targets, SourceSchema* source);

}  // namespace calve::pipeline
