#include "calve/parquet/output_types.h"

#include "calve/parquet/output_form.h"

#include <arrow/type.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace calve::parquet {
namespace {

using arrow::Type;
using TypePtr = std::shared_ptr<arrow::DataType>;

bool IsText(Type::type id) { return id == Type::STRING || id == Type::LARGE_STRING || id == Type::STRING_VIEW; }

bool IsBytes(Type::type id) { return id == Type::BINARY || id == Type::LARGE_BINARY || id == Type::BINARY_VIEW; }

/// The form of text, or of bytes, that `strings` asks for; null: the one that the column has.
TypePtr FormOf(StringOutput strings, bool text) {
  switch (strings) {
    case StringOutput::kStored:
      return nullptr;
    case StringOutput::kUtf8:
      return text ? arrow::utf8() : arrow::binary();
    case StringOutput::kLargeUtf8:
      return text ? arrow::large_utf8() : arrow::large_binary();
    case StringOutput::kUtf8View:
      return text ? arrow::utf8_view() : arrow::binary_view();
    case StringOutput::kDictionary:
      return arrow::dictionary(arrow::int32(), text ? arrow::utf8() : arrow::binary());
  }
  return nullptr;
}

/// What the decoder itself gives of the types that it could give in one step: `output`, or the type that is assembled.
TypePtr DecodedType(const LeafColumn& leaf, const TypePtr& assembled, const TypePtr& output) {
  if (output->Equals(*assembled)) return assembled;
  const bool text = IsText(assembled->id());
  const bool byte_arrays = *leaf.element.type == PhysicalType::kByteArray && (text || IsBytes(assembled->id()));
  if (byte_arrays && (text ? IsText(output->id()) : IsBytes(output->id()))) return output;
  if (output->id() != Type::DICTIONARY) return assembled;
  const auto& dictionary = static_cast<const arrow::DictionaryType&>(*output);
  if (dictionary.index_type()->id() != Type::INT32 || !dictionary.value_type()->Equals(*assembled)) return assembled;
  const bool fixed = *leaf.element.type != PhysicalType::kByteArray && *leaf.element.type != PhysicalType::kBoolean &&
                     assembled->id() != Type::NA && assembled->id() != Type::EXTENSION;
  return byte_arrays || fixed ? output : assembled;
}

class OutputTypes {
 public:
  OutputTypes(const TypeOptions& options, FileSchema* schema) : options_(options), schema_(*schema) {}

  void Apply(ArrowNode* node, const std::string& path) {
    if (node->leaf_index >= 0) return ApplyToLeaf(node, path);
    const bool opaque = OutputOf(*node)->type()->id() == Type::EXTENSION;
    bool changed = false;
    for (size_t i = 0; i < node->children.size(); ++i) {
      ArrowNode* child = &node->children[i];
      const auto before = OutputOf(*child);
      if (opaque) {
        KeepTypes(*child);
      } else {
        Apply(child, path + "." + std::string(NameOfChild(*node, i)));
      }
      changed |= OutputOf(*child) != before;
    }
    if (changed) UpdateTypes(node);
  }

 private:
  static std::string_view NameOfChild(const ArrowNode& parent, size_t i) {
    if (parent.element_level == 0) return parent.children[i].field->name();
    if (parent.children.size() == 1) return "element";
    return i == 0 ? "key" : "value";
  }

  void ApplyToLeaf(ArrowNode* node, const std::string& path) {
    const auto& named = options_.dictionary_columns;
    const Type::type id = OutputOf(*node)->type()->id();
    TypePtr form;
    if (std::find(named.begin(), named.end(), path) != named.end()) {
      form = arrow::dictionary(arrow::int32(), node->field->type());
    } else if (IsText(id) || IsBytes(id)) {
      form = FormOf(options_.strings, IsText(id));
    }
    if (form != nullptr && !form->Equals(*OutputOf(*node)->type())) node->output = OutputOf(*node)->WithType(form);
    LeafColumn& leaf = schema_.leaves[node->leaf_index];
    leaf.decoded_type = DecodedType(leaf, node->field->type(), OutputOf(*node)->type());
  }

  void KeepTypes(const ArrowNode& node) {
    if (node.leaf_index >= 0) schema_.leaves[node.leaf_index].decoded_type = node.field->type();
    for (const ArrowNode& child : node.children) KeepTypes(child);
  }

  const TypeOptions& options_;
  FileSchema& schema_;
};

}  // namespace

void ApplyOutputTypes(const TypeOptions& options, FileSchema* schema) {
  for (ArrowNode& node : schema->fields) OutputTypes(options, schema).Apply(&node, node.field->name());
}

}  // namespace calve::parquet
