// Arrow schema -> Parquet schema elements, depth first:
//
//   struct       group name { children }
//   list         group name (LIST) { repeated group list { element } }
//   map          group name (MAP) { repeated group key_value { required key; value } }
//   dictionary   as its values;  extension type: as its storage, unless Parquet has a logical type for it

#include "calve/parquet/schema_writer.h"

#include "calve/base/status.h"
#include "calve/parquet/leaf_element.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>

#include <charconv>
#include <utility>

namespace calve::parquet {
namespace {

/// Where the walk is: what a node inherits from those above it.
struct Position {
  std::vector<std::string> path;
  std::string name;  ///< dotted, in the Arrow schema's names of structs
  std::vector<PathStep> steps;
  int definition_level = 0, repetition_level = 0;
};

Result<std::optional<int32_t>> FieldId(const arrow::Field& field, const std::string& name) {
  if (field.metadata() == nullptr) return std::nullopt;
  const int i = field.metadata()->FindKey("PARQUET:field_id");
  if (i < 0) return std::nullopt;
  const std::string& text = field.metadata()->value(i);
  int32_t id = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Invalid("column '{}': PARQUET:field_id is no 32-bit integer: '{}'", name, text);
  }
  if (id < 0) return std::nullopt;
  return id;
}

PathStep::Kind ListKind(arrow::Type::type type) {
  switch (type) {
    case arrow::Type::LIST:
      return PathStep::Kind::kList;
    case arrow::Type::LARGE_LIST:
      return PathStep::Kind::kLargeList;
    case arrow::Type::LIST_VIEW:
      return PathStep::Kind::kListView;
    case arrow::Type::LARGE_LIST_VIEW:
      return PathStep::Kind::kLargeListView;
    default:
      return PathStep::Kind::kFixedSizeList;
  }
}

class SchemaWriter {
 public:
  explicit SchemaWriter(WrittenSchema* out) : out_(out) {}

  void AddGroup(const std::string& name, std::optional<Repetition> repetition, int num_children) {
    SchemaElement element;
    element.name = name;
    element.repetition = repetition;
    element.num_children = num_children;
    out_->elements.push_back(std::move(element));
  }

  /// Adds `field` under the name `name`, and all below it.
  Status AddField(const arrow::Field& field, const std::string& name, Position at) {
    at.path.push_back(name);
    at.name = at.name.empty() ? name : at.name + "." + name;
    const arrow::DataType& type = ValueType(*field.type());
    PathStep step;
    step.nullable = field.nullable() || type.id() == arrow::Type::NA;
    step.null_level = at.definition_level;
    step.present_level = at.definition_level += step.nullable ? 1 : 0;
    step.repetition_level = at.repetition_level;
    step.name = at.name;
    SchemaElement element;
    element.name = name;
    element.repetition = step.nullable ? Repetition::kOptional : Repetition::kRequired;
    ARROW_ASSIGN_OR_RAISE(element.field_id, FieldId(field, at.name));
    switch (type.id()) {
      case arrow::Type::STRUCT:
        if (field.type()->id() == arrow::Type::EXTENSION) {
          ARROW_RETURN_NOT_OK(SetExtension(&element, static_cast<const arrow::ExtensionType&>(*field.type())));
        }
        return AddStruct(type, std::move(element), std::move(step), std::move(at));
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
      case arrow::Type::LIST_VIEW:
      case arrow::Type::LARGE_LIST_VIEW:
      case arrow::Type::FIXED_SIZE_LIST:
        return AddList(type, std::move(element), std::move(step), std::move(at));
      case arrow::Type::MAP:
        return AddMap(static_cast<const arrow::MapType&>(type), std::move(element), std::move(step), std::move(at));
      default:
        return AddLeaf(field, std::move(element), std::move(step), std::move(at));
    }
  }

  int field_index = 0;  ///< of the top-level field being added

 private:
  Status AddStruct(const arrow::DataType& type, SchemaElement element, PathStep step, Position at) {
    if (type.num_fields() == 0) return Invalid("column '{}': Parquet has no struct without fields", at.name);
    step.kind = PathStep::Kind::kStruct;
    element.num_children = type.num_fields();
    out_->elements.push_back(std::move(element));
    at.steps.push_back(std::move(step));
    for (int i = 0; i < type.num_fields(); ++i) {
      at.steps.back().child_index = i;
      ARROW_RETURN_NOT_OK(AddField(*type.field(i), type.field(i)->name(), at));
    }
    return Status::OK();
  }

  /// Adds a list's or map's element and makes `at` the position of what it repeats.
  void EnterList(SchemaElement element, PathStep step, Position* at) {
    element.num_children = 1;
    out_->elements.push_back(std::move(element));
    step.element_level = ++at->definition_level;
    ++at->repetition_level;
    at->steps.push_back(std::move(step));
  }

  Status AddList(const arrow::DataType& type, SchemaElement element, PathStep step, Position at) {
    step.kind = ListKind(type.id());
    if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
      step.list_size = static_cast<const arrow::FixedSizeListType&>(type).list_size();
    }
    element.logical_type = Logical(LogicalType::Kind::kList);
    element.converted_type = ConvertedType::kList;
    EnterList(std::move(element), std::move(step), &at);
    AddGroup("list", Repetition::kRepeated, 1);
    at.path.push_back("list");
    return AddField(*type.field(0), "element", std::move(at));
  }

  Status AddMap(const arrow::MapType& type, SchemaElement element, PathStep step, Position at) {
    step.kind = PathStep::Kind::kList;
    element.logical_type = Logical(LogicalType::Kind::kMap);
    element.converted_type = ConvertedType::kMap;
    EnterList(std::move(element), std::move(step), &at);
    AddGroup("key_value", Repetition::kRepeated, 2);
    at.path.push_back("key_value");
    PathStep entries;
    entries.kind = PathStep::Kind::kStruct;
    entries.null_level = entries.present_level = at.definition_level;
    entries.repetition_level = at.repetition_level;
    entries.name = at.name + ".key_value";
    at.steps.push_back(entries);
    ARROW_RETURN_NOT_OK(AddField(*type.key_field()->WithNullable(false), "key", at));
    at.steps.back().child_index = 1;
    return AddField(*type.item_field(), "value", std::move(at));
  }

  Status AddLeaf(const arrow::Field& field, SchemaElement element, PathStep step, Position at) {
    std::shared_ptr<arrow::DataType> type = field.type();
    const arrow::ExtensionType* extension = nullptr;
    bool is_dictionary = false;
    while (type->id() == arrow::Type::EXTENSION || type->id() == arrow::Type::DICTIONARY ||
           type->id() == arrow::Type::RUN_END_ENCODED) {
      if (type->id() == arrow::Type::RUN_END_ENCODED) {
        type = static_cast<const arrow::RunEndEncodedType&>(*type).value_type();
      } else if (type->id() == arrow::Type::DICTIONARY) {
        is_dictionary = true;
        type = static_cast<const arrow::DictionaryType&>(*type).value_type();
      } else {
        extension = static_cast<const arrow::ExtensionType*>(type.get());
        type = extension->storage_type();
      }
    }
    if (arrow::is_nested(type->id()) && !arrow::is_union(type->id())) {
      return NotImplemented("column '{}': writing {} to Parquet", at.name, field.type()->ToString());
    }
    constexpr int kMaxLevel = 255;
    if (at.definition_level > kMaxLevel) {
      return Invalid("column '{}': nested too deeply ({} definition levels, at most {})", at.name, at.definition_level,
                     kMaxLevel);
    }
    ARROW_RETURN_NOT_OK(SetLeafType(&element, *type, at.name));
    if (extension != nullptr) ARROW_RETURN_NOT_OK(SetExtension(&element, *extension));
    WrittenLeaf leaf;
    leaf.column.element = element;
    leaf.column.path = std::move(at.path);
    leaf.column.max_definition_level = at.definition_level;
    leaf.column.max_repetition_level = at.repetition_level;
    leaf.field_index = field_index;
    leaf.steps = std::move(at.steps);
    leaf.steps.push_back(std::move(step));
    leaf.value_type = std::move(type);
    leaf.is_dictionary = is_dictionary;
    out_->elements.push_back(std::move(element));
    out_->leaves.push_back(std::move(leaf));
    return Status::OK();
  }

  WrittenSchema* out_;
};

/// The storage of what runs or a dictionary are of; null for other types.
const arrow::DataType* InsideOf(const arrow::DataType& storage) {
  if (storage.id() == arrow::Type::RUN_END_ENCODED) {
    return &StorageType(*static_cast<const arrow::RunEndEncodedType&>(storage).value_type());
  }
  if (storage.id() == arrow::Type::DICTIONARY) {
    return &StorageType(*static_cast<const arrow::DictionaryType&>(storage).value_type());
  }
  return nullptr;
}

}  // namespace

const arrow::DataType& StorageType(const arrow::DataType& type) {
  const arrow::DataType* storage = &type;
  while (storage->id() == arrow::Type::EXTENSION) {
    storage = static_cast<const arrow::ExtensionType&>(*storage).storage_type().get();
  }
  return *storage;
}

const arrow::DataType& ValueType(const arrow::DataType& type) {
  const arrow::DataType* storage = &StorageType(type);
  while (const arrow::DataType* inside = InsideOf(*storage)) {
    if (storage->id() == arrow::Type::DICTIONARY && !IsNestedDictionary(*storage)) break;
    storage = inside;
  }
  return *storage;
}

bool IsNestedDictionary(const arrow::DataType& type) {
  const arrow::DataType* value = &StorageType(type);
  if (value->id() != arrow::Type::DICTIONARY) return false;
  while (const arrow::DataType* inside = InsideOf(*value)) value = inside;
  return arrow::is_nested(value->id()) && !arrow::is_union(value->id());
}

bool SameLayout(const arrow::DataType& a, const arrow::DataType& b) {
  const arrow::DataType& left = StorageType(a);
  const arrow::DataType& right = StorageType(b);
  if (left.id() != right.id()) return false;
  if (left.id() == arrow::Type::DICTIONARY) {
    return SameLayout(*static_cast<const arrow::DictionaryType&>(left).value_type(),
                      *static_cast<const arrow::DictionaryType&>(right).value_type());
  }
  if (left.num_fields() == 0) return left.Equals(right);
  if (left.num_fields() != right.num_fields()) return false;
  if (left.id() == arrow::Type::FIXED_SIZE_LIST &&
      static_cast<const arrow::FixedSizeListType&>(left).list_size() !=
          static_cast<const arrow::FixedSizeListType&>(right).list_size()) {
    return false;
  }
  for (int i = 0; i < left.num_fields(); ++i) {
    if (!SameLayout(*left.field(i)->type(), *right.field(i)->type())) return false;
  }
  return true;
}

Status WrittenLeaf::InColumn(const Status& status) const {
  return status.ok() ? status : WithContext(status, fmt::format("column '{}'", name()));
}

Result<WrittenSchema> WrittenSchema::Make(const arrow::Schema& schema) {
  WrittenSchema result;
  SchemaWriter writer(&result);
  writer.AddGroup("schema", std::nullopt, schema.num_fields());
  for (int i = 0; i < schema.num_fields(); ++i) {
    writer.field_index = i;
    ARROW_RETURN_NOT_OK(writer.AddField(*schema.field(i), schema.field(i)->name(), Position{}));
  }
  return result;
}

Result<std::vector<SchemaElement>> ElementsFromArrow(const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(WrittenSchema written, WrittenSchema::Make(schema));
  return std::move(written.elements);
}

}  // namespace calve::parquet
