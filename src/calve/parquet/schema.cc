#include "calve/parquet/schema.h"

#include "calve/parquet/arrow_schema.h"
#include "calve/parquet/leaf_type.h"
#include "calve/parquet/output_form.h"
#include "calve/parquet/output_types.h"
#include "calve/parquet/schema_limits.h"
#include "calve/parquet/schema_tree.h"
#include "calve/parquet/variant_shape.h"

#include "calve/base/status.h"

#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>

// From the Parquet tree to the Arrow tree. The shapes (R = repeated):
//
//   group LIST { R group list { x element } }             list<x>                        three levels
//   group LIST { R x }                                    list<x not null>               rule 1
//   group LIST { R group { a, b } }                       list<struct<a, b> not null>    rule 2
//   group LIST { R group { R x } }                        list<list<x>>                  rule 3
//   group LIST { R group array|NAME_tuple { a } }         list<struct<a> not null>       rule 4
//   group MAP|MAP_KEY_VALUE { R group { k, v } }          map<k, v>
//   group MAP|MAP_KEY_VALUE { R group { k } }             list<k>                        a set of keys
//   R x, unannotated                                      list<x not null> not null
//   group VARIANT { metadata, value and/or typed_value }  arrow.parquet.variant over struct<...>
//
// A group whose annotation does not fit its shape is a struct of what it holds.

namespace calve::parquet {
namespace {

using Kind = LogicalType::Kind;
using FieldMetadata = std::shared_ptr<const arrow::KeyValueMetadata>;

bool IsRepeated(const SchemaNode& node) { return node.element.repetition == Repetition::kRepeated; }
bool IsOptional(const SchemaNode& node) { return node.element.repetition == Repetition::kOptional; }

FieldMetadata IdMetadata(const SchemaNode& node) {
  if (!node.element.field_id) return nullptr;
  return arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(*node.element.field_id)});
}

size_t NameBytes(const std::vector<SchemaElement>& elements) {
  size_t bytes = 0;
  for (const SchemaElement& element : elements) bytes += PathBytes(element.name.size());
  return bytes;
}

/// What a group is annotated as. A logical type that no group can be of says nothing; its converted type stands in.
Kind GroupAnnotation(const SchemaElement& element) {
  const Kind kind = AnnotationOf(element).kind;
  if (kind == Kind::kList || kind == Kind::kMap || kind == Kind::kVariant) return kind;
  SchemaElement converted = element;
  converted.logical_type = {};
  return AnnotationOf(converted).kind;
}

class ArrowTreeBuilder {
 public:
  ArrowTreeBuilder(size_t most_path_bytes, const TypeOptions& options, std::vector<LeafColumn>* leaves)
      : most_path_bytes_(most_path_bytes), options_(options), leaves_(leaves) {}

  /// A field as it stands in a group, repeated or not. `exists` is the element level of the nearest repeated ancestor.
  Result<ArrowNode> Field(const SchemaNode& node, int exists) {
    path_.push_back(node.element.name);
    Result<ArrowNode> result = IsRepeated(node) ? BareRepeated(node, exists) : Value(node, exists);
    path_.pop_back();
    return result;
  }

 private:
  /// A repeated field without LIST: a required list of it.
  Result<ArrowNode> BareRepeated(const SchemaNode& node, int exists) {
    ARROW_ASSIGN_OR_RAISE(ArrowNode element, Value(node, node.max_definition_level));
    element.field = element.field->WithMetadata(nullptr);
    if (element.output != nullptr) element.output = element.output->WithMetadata(nullptr);
    ArrowNode list = ListOf(node, node, exists, std::move(element));
    list.present_level = node.max_definition_level - 1;
    return list;
  }

  /// What a field holds, its own repetition left aside.
  Result<ArrowNode> Value(const SchemaNode& node, int exists) {
    if (node.is_leaf()) return Leaf(node, exists);
    const Kind kind = GroupAnnotation(node.element);
    const bool wraps_repeated = node.children.size() == 1 && IsRepeated(node.children[0]);
    if (kind == Kind::kList && wraps_repeated) return List(node, exists);
    if (kind == Kind::kMap && wraps_repeated && !node.children[0].is_leaf()) {
      if (node.children[0].children.size() == 1) return List(node, exists);
      if (node.children[0].children.size() == 2) return Map(node, exists);
    }
    return kind == Kind::kVariant ? Variant(node, exists) : Struct(node, exists);
  }

  Result<ArrowNode> Leaf(const SchemaNode& node, int exists) {
    for (const std::string& name : path_) path_bytes_ += PathBytes(name.size());
    if (path_bytes_ > most_path_bytes_) {
      return Invalid("the paths of the first {} columns take {} bytes, expected at most {}", leaves_->size() + 1,
                     path_bytes_, most_path_bytes_);
    }
    LeafColumn leaf{node.element, path_, node.max_definition_level, node.max_repetition_level, exists, nullptr, {}};
    auto type = LeafType(node.element, options_, &leaf.unsupported);
    if (!type.ok()) return WithContext(type.status(), fmt::format("column '{}'", leaf.dotted_path()));
    leaf.decoded_type = *type;
    leaves_->push_back(std::move(leaf));
    ArrowNode result = Node(node, exists, *type);
    result.leaf_index = node.leaf_index;
    return result;
  }

  Result<ArrowNode> Struct(const SchemaNode& node, int exists) {
    std::vector<ArrowNode> children;
    arrow::FieldVector fields;
    for (const SchemaNode& child : node.children) {
      ARROW_ASSIGN_OR_RAISE(ArrowNode built, Field(child, exists));
      fields.push_back(built.field);
      children.push_back(std::move(built));
    }
    ArrowNode result = Node(node, exists, arrow::struct_(std::move(fields)));
    result.children = std::move(children);
    return Finished(std::move(result));
  }

  Result<ArrowNode> Variant(const SchemaNode& node, int exists) {
    ARROW_ASSIGN_OR_RAISE(ArrowNode group, Struct(node, exists));
    if (!HasVariantShape(group)) return group;
    const std::string problem = ShreddingProblem(group, *leaves_);
    if (!problem.empty()) Refuse(group, "shredded VARIANT: " + problem);
    group.field = group.field->WithType(VariantType(group.field->type()));
    if (options_.whole_variants && !group.field->type()->Equals(*WholeVariantType())) {
      group.output = group.field->WithType(WholeVariantType());
    }
    return group;
  }

  void Refuse(const ArrowNode& node, const std::string& why) {
    if (node.leaf_index >= 0) (*leaves_)[static_cast<size_t>(node.leaf_index)].unsupported = why;
    for (const ArrowNode& child : node.children) Refuse(child, why);
  }

  /// A group around a field that readers return in another form is in another form too.
  static ArrowNode Finished(ArrowNode group) {
    const bool differs = std::any_of(group.children.begin(), group.children.end(),
                                     [](const ArrowNode& child) { return child.output != nullptr; });
    if (differs) UpdateTypes(&group);
    return group;
  }

  Result<ArrowNode> List(const SchemaNode& node, int exists) {
    const SchemaNode& repeated = node.children[0];
    path_.push_back(repeated.element.name);
    // The rules in the order of the specification's "Backward-compatibility rules".
    const bool repeated_is_element = repeated.is_leaf() || repeated.children.size() > 1 ||
                                     IsRepeated(repeated.children[0]) || repeated.element.name == "array" ||
                                     repeated.element.name == node.element.name + "_tuple";
    Result<ArrowNode> element = repeated_is_element ? Value(repeated, repeated.max_definition_level)
                                                    : Field(repeated.children[0], repeated.max_definition_level);
    path_.pop_back();
    ARROW_RETURN_NOT_OK(element);
    return ListOf(node, repeated, exists, element.MoveValueUnsafe());
  }

  ArrowNode ListOf(const SchemaNode& node, const SchemaNode& repeated, int exists, ArrowNode element) {
    ArrowNode list = Node(node, exists, arrow::list(element.field));
    list.element_level = repeated.max_definition_level;
    list.repetition_level = repeated.max_repetition_level;
    list.children.push_back(std::move(element));
    return Finished(std::move(list));
  }

  Result<ArrowNode> Map(const SchemaNode& node, int exists) {
    const SchemaNode& repeated = node.children[0];
    path_.push_back(repeated.element.name);
    Result<ArrowNode> key = Field(repeated.children[0], repeated.max_definition_level);
    Result<ArrowNode> value = Field(repeated.children[1], repeated.max_definition_level);
    path_.pop_back();
    ARROW_RETURN_NOT_OK(key);
    ARROW_RETURN_NOT_OK(value);
    // Arrow's keys are never null; files that say otherwise are read, and refused at the first null key.
    key->field = key->field->WithNullable(false);
    if (key->output != nullptr) key->output = key->output->WithNullable(false);
    ArrowNode map = Node(node, exists, std::make_shared<arrow::MapType>(key->field, value->field));
    map.element_level = repeated.max_definition_level;
    map.repetition_level = repeated.max_repetition_level;
    map.children.push_back(key.MoveValueUnsafe());
    map.children.push_back(value.MoveValueUnsafe());
    return Finished(std::move(map));
  }

  ArrowNode Node(const SchemaNode& node, int exists, std::shared_ptr<arrow::DataType> type) {
    ArrowNode result;
    result.field = arrow::field(node.element.name, std::move(type), IsOptional(node), IdMetadata(node));
    result.exists_level = exists;
    result.present_level = node.max_definition_level;
    return result;
  }

  const size_t most_path_bytes_;
  const TypeOptions& options_;
  size_t path_bytes_ = 0;
  std::vector<LeafColumn>* leaves_;
  std::vector<std::string> path_;
};

}  // namespace

std::string LeafColumn::dotted_path() const { return fmt::format("{}", fmt::join(path, ".")); }

Result<FileSchema> FileSchema::Make(const std::vector<SchemaElement>& elements, const TypeOptions& options,
                                    const arrow::FieldVector& stored) {
  ARROW_ASSIGN_OR_RAISE(SchemaNode root, MakeSchemaTree(elements));
  FileSchema schema;
  ArrowTreeBuilder builder(MostPathBytes(NameBytes(elements)), options, &schema.leaves);
  for (const SchemaNode& child : root.children) {
    ARROW_ASSIGN_OR_RAISE(ArrowNode node, builder.Field(child, 0));
    schema.fields.push_back(std::move(node));
  }
  HonourArrowSchema(stored, &schema);
  ApplyOutputTypes(options, &schema);
  arrow::FieldVector fields;
  for (const ArrowNode& node : schema.fields) fields.push_back(OutputOf(node));
  schema.arrow_schema = arrow::schema(std::move(fields), options.metadata);
  return schema;
}

size_t CountLeaves(const ArrowNode& node) {
  size_t leaves = node.leaf_index >= 0 ? 1 : 0;
  for (const ArrowNode& child : node.children) leaves += CountLeaves(child);
  return leaves;
}

}  // namespace calve::parquet
