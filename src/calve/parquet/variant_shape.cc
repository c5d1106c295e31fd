#include "calve/parquet/variant_shape.h"

#include "calve/parquet/leaf_type.h"

#include <arrow/array.h>
#include <arrow/extension/parquet_variant.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <fmt/format.h>

namespace calve::parquet {
namespace {

using Kind = LogicalType::Kind;

const ArrowNode* Child(const ArrowNode& group, std::string_view name) {
  for (const ArrowNode& child : group.children) {
    if (child.field->name() == name) return &child;
  }
  return nullptr;
}

bool IsBytes(const ArrowNode* node) {
  return node != nullptr && node->leaf_index >= 0 && node->field->type()->id() == arrow::Type::BINARY;
}

bool IsShreddable(const SchemaElement& element) {
  const LogicalType type = AnnotationOf(element);
  if (element.converted_type == ConvertedType::kInterval) return false;
  switch (*element.type) {
    case PhysicalType::kBoolean:
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return type.kind == Kind::kNone;
    case PhysicalType::kInt32:
      return type.kind == Kind::kNone || type.kind == Kind::kDate || type.kind == Kind::kDecimal ||
             (type.kind == Kind::kInteger && type.is_signed);
    case PhysicalType::kInt64:
      if (type.kind == Kind::kTime) return type.unit == TimeUnit::kMicros && !type.is_adjusted_to_utc;
      if (type.kind == Kind::kTimestamp) return type.unit != TimeUnit::kMillis;
      return type.kind == Kind::kNone || type.kind == Kind::kDecimal || (type.kind == Kind::kInteger && type.is_signed);
    case PhysicalType::kByteArray:
      return type.kind == Kind::kNone || type.kind == Kind::kString || type.kind == Kind::kDecimal;
    case PhysicalType::kFixedLenByteArray:
      return type.kind == Kind::kUuid || type.kind == Kind::kDecimal;
    case PhysicalType::kInt96:
      break;
  }
  return false;
}

std::string TypedValueProblem(const ArrowNode& typed, const std::vector<LeafColumn>& leaves);

/// `group` is a shredded field or element.
std::string GroupProblem(const ArrowNode& group, const std::vector<LeafColumn>& leaves) {
  if (group.leaf_index >= 0 || group.field->type()->id() != arrow::Type::STRUCT) {
    return fmt::format("field '{}' is {}, expected a group of value and typed_value", group.field->name(),
                       group.field->type()->ToString());
  }
  for (const ArrowNode& child : group.children) {
    const std::string& name = child.field->name();
    if (name == "value" && !IsBytes(&child)) {
      return fmt::format("a value is {}, expected binary", child.field->type()->ToString());
    }
    if (name != "value" && name != "typed_value") return fmt::format("field '{}' beside value and typed_value", name);
    if (name == "typed_value") return TypedValueProblem(child, leaves);
  }
  return "";
}

std::string TypedValueProblem(const ArrowNode& typed, const std::vector<LeafColumn>& leaves) {
  const arrow::DataType& type = *typed.field->type();
  if (typed.leaf_index >= 0) {
    const LeafColumn& leaf = leaves[static_cast<size_t>(typed.leaf_index)];
    const bool wide = type.id() == arrow::Type::DECIMAL256 || !leaf.unsupported.empty();
    if (IsShreddable(leaf.element) && !wide) return "";
    return fmt::format("a typed_value is {} ({})", ToString(*leaf.element.type), type.ToString());
  }
  if (type.id() != arrow::Type::STRUCT && type.id() != arrow::Type::LIST) {
    return fmt::format("a typed_value is {}", type.ToString());
  }
  for (const ArrowNode& child : typed.children) {
    std::string problem = GroupProblem(child, leaves);
    if (!problem.empty()) return problem;
  }
  return "";
}

/// An "arrow.parquet.variant" whose storage Arrow's own class does not know: shredded, or of a nullable value.
class ShreddedVariantType : public arrow::ExtensionType {
 public:
  explicit ShreddedVariantType(std::shared_ptr<arrow::DataType> storage) : ExtensionType(std::move(storage)) {}

  std::string extension_name() const override { return "arrow.parquet.variant"; }
  bool ExtensionEquals(const ExtensionType& other) const override {
    return other.extension_name() == extension_name() && other.storage_type()->Equals(*storage_type());
  }
  arrow::Result<std::shared_ptr<arrow::DataType>> Deserialize(std::shared_ptr<arrow::DataType> storage,
                                                              const std::string&) const override {
    return VariantType(storage);
  }
  std::string Serialize() const override { return ""; }
  std::shared_ptr<arrow::Array> MakeArray(std::shared_ptr<arrow::ArrayData> data) const override {
    return std::make_shared<arrow::ExtensionArray>(std::move(data));
  }
};

}  // namespace

bool HasVariantShape(const ArrowNode& group) {
  const ArrowNode* value = Child(group, "value");
  const ArrowNode* typed = Child(group, "typed_value");
  const size_t count = 1 + (value != nullptr ? 1 : 0) + (typed != nullptr ? 1 : 0);
  return IsBytes(Child(group, "metadata")) && (value == nullptr || IsBytes(value)) && count > 1 &&
         group.children.size() == count;
}

std::string ShreddingProblem(const ArrowNode& group, const std::vector<LeafColumn>& leaves) {
  const ArrowNode* typed = Child(group, "typed_value");
  return typed == nullptr ? "" : TypedValueProblem(*typed, leaves);
}

std::shared_ptr<arrow::DataType> VariantType(const std::shared_ptr<arrow::DataType>& storage) {
  if (arrow::extension::VariantExtensionType::IsSupportedStorageType(storage))
    return arrow::extension::variant(storage);
  return std::make_shared<ShreddedVariantType>(storage);
}

std::shared_ptr<arrow::DataType> WholeVariantType() {
  return VariantType(arrow::struct_(
      {arrow::field("metadata", arrow::binary(), false), arrow::field("value", arrow::binary(), false)}));
}

}  // namespace calve::parquet
