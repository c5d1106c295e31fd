#pragma once

#include "calve/parquet/schema.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::parquet {

/// A node on the way from a top-level field to a leaf, in the shape of the Arrow arrays. A map is a list whose element
/// is a required struct of key and value.
struct PathStep {
  enum class Kind { kStruct, kList, kLargeList, kListView, kLargeListView, kFixedSizeList, kLeaf } kind = Kind::kLeaf;
  bool nullable = false;
  int child_index = 0;  ///< struct: the child that the path goes on to
  int list_size = 0;    ///< fixed-size list
  /// Definition level of a slot that is null, of one that is present (of a list: empty), and of a list that has
  /// elements.
  int null_level = 0, present_level = 0, element_level = 0;
  /// Repetition level of every slot but the first among neighbours: that of the innermost list around this node.
  int repetition_level = 0;
  std::string name;  ///< dotted path up to here
};

/// A column that is written: what the file says of it, and where its values lie in the Arrow schema.
struct WrittenLeaf {
  LeafColumn column;
  int field_index = 0;          ///< top-level field
  std::vector<PathStep> steps;  ///< from that field to the leaf, which is the last
  /// Of the values: without extension types, run ends and dictionaries.
  std::shared_ptr<arrow::DataType> value_type;
  bool is_dictionary = false;  ///< the Arrow field is a dictionary of such values
  const std::string& name() const { return steps.back().name; }
  /// A failure with the column's name.
  Status InColumn(const Status& status) const;
};

/// The elements of the file's schema and the way to every leaf.
struct WrittenSchema {
  std::vector<SchemaElement> elements;
  std::vector<WrittenLeaf> leaves;

  /// Invalid names a field whose type Parquet cannot hold, NotImplemented one that could be but is not yet.
  static Result<WrittenSchema> Make(const arrow::Schema& schema);
};

/// The type without extension types around it.
const arrow::DataType& StorageType(const arrow::DataType& type);

/// The type of the values: without extension types, run ends and dictionaries of nested values around it.
const arrow::DataType& ValueType(const arrow::DataType& type);

/// True of a dictionary's type whose values are nested: it is written as its values are.
bool IsNestedDictionary(const arrow::DataType& type);

/// True when arrays of the two types have the same buffers with the same meaning: field names, nullability, metadata
/// and extension types apart.
bool SameLayout(const arrow::DataType& a, const arrow::DataType& b);

}  // namespace calve::parquet
