#pragma once

#include "calve/parquet/schema.h"

#include <string>
#include <vector>

namespace calve::parquet {

/// Leaf columns under the field of dotted name `name`, in file order. Lists are left through "element", maps through
/// "key" and "value". A name may itself hold dots. Invalid lists the columns there are, or says that the name is
/// ambiguous.
Result<std::vector<int>> LeavesOfName(const FileSchema& schema, const std::string& name);

/// Leaf columns under the field with this id at any depth; empty when there is none.
std::vector<int> LeavesOfFieldId(const FileSchema& schema, int field_id);

/// A part of a file's schema that can be read.
struct Selection {
  std::vector<int> leaves;  ///< of the file, sorted
  FileSchema schema;        ///< the file's, pruned to them: its leaf i is the file's leaves[i]
};

/// Prunes `schema` to `leaves`. A map is not cut in two: any part of its value brings the key, the key alone brings the
/// whole value; nor is a variant that is put together. Invalid when `leaves` is not sorted or names no column.
Result<Selection> Select(const FileSchema& schema, const std::vector<int>& leaves);

/// Invalid when `leaves` is not sorted or names none of the `num_columns` columns.
Status CheckLeaves(const std::vector<int>& leaves, int num_columns);

}  // namespace calve::parquet
