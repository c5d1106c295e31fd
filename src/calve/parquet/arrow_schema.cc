// The value under "ARROW:schema" is the base64 of an Arrow IPC message that holds a schema. What of it is applied:
//
//   the file's type            stored type                                     becomes
//   INT64                      duration                                        it
//   timestamp[unit, tz=UTC]    timestamp[any unit, tz=zone]                    timestamp[unit, tz=zone]
//   utf8, binary               its large and view forms                        it
//   utf8, binary               dictionary<index, such values>                  dictionary<index, the file's type>
//   decimal(p, s)              decimal32, 64 or 256 (p, s)                     it
//   list                       large_list, fixed_size_list, (large_)list_view  it
//   map                        map with sorted keys                            it
//   any                        run_end_encoded of a type that fits             it
//   any                        an extension type whose storage fits            it

#include "calve/parquet/arrow_schema.h"

#include "calve/parquet/leaf_type.h"
#include "calve/parquet/output_form.h"

#include <arrow/extension_type.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/base64.h>
#include <arrow/util/checked_cast.h>
#include <arrow/util/key_value_metadata.h>

#include <algorithm>

namespace calve::parquet {
namespace {

using arrow::Type;
using arrow::internal::checked_cast;
using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr size_t kMaxEncodedBytes = 64 << 20;

bool IsText(Type::type id) { return id == Type::STRING || id == Type::LARGE_STRING || id == Type::STRING_VIEW; }
bool IsBytes(Type::type id) { return id == Type::BINARY || id == Type::LARGE_BINARY || id == Type::BINARY_VIEW; }

TypePtr LeafForm(const TypePtr& own, const LeafColumn& leaf, const TypePtr& stored);

TypePtr TimestampForm(const TypePtr& own, const LeafColumn& leaf, const arrow::TimestampType& stored) {
  if (own->id() != Type::TIMESTAMP || leaf.element.type == PhysicalType::kInt96) return own;
  const auto& type = checked_cast<const arrow::TimestampType&>(*own);
  if (type.timezone().empty() || stored.timezone().empty()) return own;
  return arrow::timestamp(type.unit(), stored.timezone());
}

TypePtr DictionaryForm(const TypePtr& own, const arrow::DictionaryType& stored) {
  const auto values = stored.value_type()->id();
  const bool fits = (own->id() == Type::STRING && IsText(values)) || (own->id() == Type::BINARY && IsBytes(values));
  return fits ? arrow::dictionary(stored.index_type(), own, stored.ordered()) : own;
}

TypePtr DecimalForm(const TypePtr& own, const TypePtr& stored) {
  if (!arrow::is_decimal(own->id())) return own;
  const auto& left = checked_cast<const arrow::DecimalType&>(*own);
  const auto& right = checked_cast<const arrow::DecimalType&>(*stored);
  return left.precision() == right.precision() && left.scale() == right.scale() ? stored : own;
}

TypePtr ExtensionForm(const TypePtr& own, const LeafColumn& leaf, const TypePtr& stored) {
  const auto& extension = checked_cast<const arrow::ExtensionType&>(*stored);
  TypePtr storage = own;
  if (own->id() == Type::EXTENSION) {
    const auto& own_extension = checked_cast<const arrow::ExtensionType&>(*own);
    if (own_extension.extension_name() != extension.extension_name()) return own;
    storage = own_extension.storage_type();
  }
  return LeafForm(storage, leaf, extension.storage_type())->Equals(*extension.storage_type()) ? stored : own;
}

TypePtr LeafForm(const TypePtr& own, const LeafColumn& leaf, const TypePtr& stored) {
  switch (stored->id()) {
    case Type::DURATION: {
      const bool bare =
          leaf.element.type == PhysicalType::kInt64 && AnnotationOf(leaf.element).kind == LogicalType::Kind::kNone;
      return bare ? stored : own;
    }
    case Type::TIMESTAMP:
      return TimestampForm(own, leaf, checked_cast<const arrow::TimestampType&>(*stored));
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
      return own->id() == Type::STRING ? stored : own;
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
      return own->id() == Type::BINARY ? stored : own;
    case Type::DICTIONARY:
      return DictionaryForm(own, checked_cast<const arrow::DictionaryType&>(*stored));
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL256:
      return DecimalForm(own, stored);
    case Type::RUN_END_ENCODED: {
      const auto& type = checked_cast<const arrow::RunEndEncodedType&>(*stored);
      return LeafForm(own, leaf, type.value_type())->Equals(*type.value_type()) ? stored : own;
    }
    case Type::EXTENSION:
      return ExtensionForm(own, leaf, stored);
    default:
      return own;
  }
}

/// Types of the same bytes: the decoder gives them as they are.
bool SameBytes(const arrow::DataType& own, const arrow::DataType& form) {
  if (form.id() == Type::EXTENSION) {
    const TypePtr& storage = checked_cast<const arrow::ExtensionType&>(form).storage_type();
    return storage->Equals(own) || (own.id() == Type::EXTENSION &&
                                    storage->Equals(checked_cast<const arrow::ExtensionType&>(own).storage_type()));
  }
  return form.id() == Type::DURATION || form.id() == Type::TIMESTAMP;
}

bool IsListLike(Type::type id) { return arrow::is_list_like(id) || arrow::is_list_view(id); }

class Honouring {
 public:
  explicit Honouring(const std::vector<LeafColumn>& leaves) : leaves_(leaves) {}

  void Apply(const arrow::Field& stored, ArrowNode* node) const {
    if (node->leaf_index >= 0) {
      ApplyLeaf(stored.type(), node);
    } else {
      ApplyGroup(stored.type(), node);
    }
    ApplyMetadata(stored, node);
  }

 private:
  void ApplyLeaf(const TypePtr& stored, ArrowNode* node) const {
    const TypePtr& own = node->field->type();
    const TypePtr form = LeafForm(own, leaves_[static_cast<size_t>(node->leaf_index)], stored);
    if (form->Equals(*own)) return;
    if (SameBytes(*own, *form)) {
      node->field = node->field->WithType(form);
    } else {
      node->output = node->field->WithType(form);
    }
  }

  void ApplyGroup(const TypePtr& stored, ArrowNode* node) const {
    if (stored->id() == Type::EXTENSION) {
      const auto& storage = checked_cast<const arrow::ExtensionType&>(*stored).storage_type();
      if (node->field->type()->id() == Type::EXTENSION) return;
      ApplyGroup(storage, node);
      if (OutputOf(*node)->type()->Equals(*storage)) node->output = OutputOf(*node)->WithType(stored);
      return;
    }
    switch (node->field->type()->id()) {
      case Type::STRUCT:
        ApplyStruct(*stored, node);
        break;
      case Type::LIST:
        ApplyList(stored, node);
        break;
      case Type::MAP:
        ApplyMap(*stored, node);
        break;
      default:
        break;
    }
  }

  void ApplyStruct(const arrow::DataType& stored, ArrowNode* node) const {
    if (stored.id() != Type::STRUCT || static_cast<size_t>(stored.num_fields()) != node->children.size()) return;
    for (size_t i = 0; i < node->children.size(); ++i) {
      const arrow::Field& field = *stored.field(static_cast<int>(i));
      if (field.name() == node->children[i].field->name()) Apply(field, &node->children[i]);
    }
    UpdateTypes(node);
  }

  void ApplyList(const TypePtr& stored, ArrowNode* node) const {
    if (!IsListLike(stored->id()) || stored->id() == Type::MAP) return;
    Apply(*stored->field(0), &node->children[0]);
    if (stored->id() != Type::LIST) {
      node->output = OutputOf(*node)->WithType(TypeOver(*stored, {OutputOf(node->children[0])}));
    }
    UpdateTypes(node);
  }

  void ApplyMap(const arrow::DataType& stored, ArrowNode* node) const {
    if (stored.id() != Type::MAP) return;
    const auto& map = checked_cast<const arrow::MapType&>(stored);
    Apply(*map.key_field(), &node->children[0]);
    Apply(*map.item_field(), &node->children[1]);
    node->field = node->field->WithType(
        std::make_shared<arrow::MapType>(node->children[0].field, node->children[1].field, map.keys_sorted()));
    UpdateTypes(node);
  }

  /// The id is the file's to tell; what an extension type is made of is in the type.
  static void ApplyMetadata(const arrow::Field& stored, ArrowNode* node) {
    if (stored.metadata() == nullptr) return;
    const bool is_extension = OutputOf(*node)->type()->id() == Type::EXTENSION;
    auto merged = node->field->metadata() == nullptr ? std::make_shared<arrow::KeyValueMetadata>()
                                                     : node->field->metadata()->Copy();
    for (int64_t i = 0; i < stored.metadata()->size(); ++i) {
      const std::string& key = stored.metadata()->key(i);
      if (key == "PARQUET:field_id" || (is_extension && key.starts_with("ARROW:extension:"))) continue;
      merged->Append(key, stored.metadata()->value(i));
    }
    if (merged->size() == 0) return;
    if (node->output != nullptr) node->output = node->output->WithMetadata(merged);
    node->field = node->field->WithMetadata(std::move(merged));
  }

  const std::vector<LeafColumn>& leaves_;
};

}  // namespace

std::shared_ptr<arrow::Schema> ParseArrowSchema(std::string_view text) {
  if (text.empty() || text.size() > kMaxEncodedBytes) return nullptr;
  auto message = arrow::util::base64_decode(text);
  if (!message.ok()) return nullptr;
  arrow::io::BufferReader input(arrow::Buffer::FromString(std::move(*message)));
  arrow::ipc::DictionaryMemo dictionaries;
  auto schema = arrow::ipc::ReadSchema(&input, &dictionaries);
  return schema.ok() ? *schema : nullptr;
}

Result<std::string> FormatArrowSchema(const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const auto message, arrow::ipc::SerializeSchema(schema));
  return arrow::util::base64_encode(std::string_view(*message));
}

namespace {

bool ParquetSaysAsMuch(const arrow::Field& field) {
  const auto& metadata = field.metadata();
  if (metadata != nullptr && metadata->size() > (metadata->Contains("PARQUET:field_id") ? 1 : 0)) return false;
  switch (field.type()->id()) {
    case Type::BOOL:
    case Type::INT8:
    case Type::INT16:
    case Type::INT32:
    case Type::INT64:
    case Type::UINT8:
    case Type::UINT16:
    case Type::UINT32:
    case Type::UINT64:
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::STRING:
    case Type::BINARY:
    case Type::FIXED_SIZE_BINARY:
    case Type::DATE32:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ParquetSaysAsMuch(const arrow::Schema& schema) {
  if (schema.metadata() != nullptr && schema.metadata()->size() > 0) return false;
  return std::all_of(schema.fields().begin(), schema.fields().end(),
                     [](const auto& field) { return ParquetSaysAsMuch(*field); });
}

void HonourArrowSchema(const arrow::FieldVector& stored, FileSchema* schema) {
  if (stored.size() != schema->fields.size()) return;
  const Honouring honouring(schema->leaves);
  for (size_t i = 0; i < stored.size(); ++i) {
    ArrowNode& node = schema->fields[i];
    if (stored[i]->name() == node.field->name()) honouring.Apply(*stored[i], &node);
  }
}

}  // namespace calve::parquet
