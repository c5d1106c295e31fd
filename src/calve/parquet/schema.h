#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/type_options.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::parquet {

/// A node of the schema tree with its levels ("Nested Encoding"), and the Arrow field it becomes.
struct SchemaNode {
  SchemaElement element;
  std::vector<SchemaNode> children;
  int max_definition_level = 0, max_repetition_level = 0;
  int leaf_index = -1;  ///< column index of a leaf; -1 for groups
  bool is_leaf() const { return leaf_index >= 0; }
};

/// How an Arrow field is assembled from Parquet columns. A list or map node swallows its repeated middle group, so the
/// tree has the shape of the Arrow schema and not of the file's.
struct ArrowNode {
  std::shared_ptr<arrow::Field> field;  ///< name, type, nullability, "PARQUET:field_id"
  /// What readers return instead, made by FinishField of what is assembled; null: `field`.
  std::shared_ptr<arrow::Field> output;
  std::vector<ArrowNode> children;  ///< struct: fields; list: element; map: key, value
  int leaf_index = -1;              ///< primitive: the column
  /// An entry with rep <= the nearest enclosing list's level and def >= `exists_level` (that list's `element_level`; 0
  /// outside of lists) is a slot of this node's array; the slot is not null when def >= `present_level`. A list has
  /// elements when def >= `element_level`. A child of a null struct has a slot, as Arrow wants it.
  int exists_level = 0, present_level = 0, element_level = 0;
  int repetition_level = 0;  ///< of the repeated group of a list or map: rep < this begins a new list
};

/// How many columns a field is assembled from.
size_t CountLeaves(const ArrowNode& node);

/// A column of the file.
struct LeafColumn {
  SchemaElement element;
  std::vector<std::string> path;
  int max_definition_level = 0, max_repetition_level = 0;
  int exists_level = 0;  ///< as ArrowNode's: entries below it are no slot of the column's array
  /// What the column's values are decoded to: the type of its ArrowNode, or one that readers return and that needs no
  /// second step (large and view forms of byte arrays, dictionaries with int32 indices).
  std::shared_ptr<arrow::DataType> decoded_type;
  std::string unsupported;          ///< why calve cannot decode it; "" when it can
  std::string dotted_path() const;  ///< "a.list.element.b"
};

/// A file's schema: as Parquet has it and as Arrow sees it.
class FileSchema {
 public:
  std::vector<LeafColumn> leaves;
  std::vector<ArrowNode> fields;                ///< top level
  std::shared_ptr<arrow::Schema> arrow_schema;  ///< what readers return

  /// Builds both trees. Invalid when the flattened tree does not add up. Types: see docs/format/parquet-types.md.
  /// `stored`: what a writer left under "ARROW:schema" for the top-level fields, one each; empty: nothing.
  static Result<FileSchema> Make(const std::vector<SchemaElement>& elements, const TypeOptions& options = {},
                                 const std::vector<std::shared_ptr<arrow::Field>>& stored = {});
};

/// The writer's side: Parquet elements for an Arrow schema, field ids from "PARQUET:field_id". Lists as three levels
/// ("list", "element"), maps as "key_value". Invalid names a field that Parquet cannot hold.
Result<std::vector<SchemaElement>> ElementsFromArrow(const arrow::Schema& schema);

}  // namespace calve::parquet
