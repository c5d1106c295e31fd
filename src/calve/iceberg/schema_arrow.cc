#include "calve/base/status.h"
#include "calve/iceberg/schema.h"

#include <arrow/extension/parquet_variant.h>
#include <arrow/extension/uuid.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>

namespace calve::iceberg {
namespace {

constexpr char kFieldIdKey[] = "PARQUET:field_id";
constexpr int kMaxPrecision = 38;

// Gives ids in the order of the specification: the fields of a level first, then what is inside each.
class FieldMaker {
 public:
  explicit FieldMaker(int next_id) : next_id_(next_id) {}

  Result<std::vector<Field>> Make(const arrow::FieldVector& fields, const std::string& prefix) {
    std::vector<Field> result;
    for (const auto& field : fields) {
      Field made;
      made.id = next_id_++;
      made.name = field->name();
      made.required = !field->nullable();
      result.push_back(std::move(made));
    }
    for (size_t i = 0; i < result.size(); ++i) {
      const std::string path = prefix.empty() ? result[i].name : prefix + "." + result[i].name;
      ARROW_ASSIGN_OR_RAISE(result[i].type, MakeType(*fields[i]->type(), path));
    }
    return result;
  }

 private:
  Result<TypePtr> MakeType(const arrow::DataType& type, const std::string& path) {
    switch (type.id()) {
      case arrow::Type::STRUCT: {
        ARROW_ASSIGN_OR_RAISE(auto fields, Make(type.fields(), path));
        return Struct(std::move(fields));
      }
      case arrow::Type::LIST:
      case arrow::Type::LARGE_LIST:
      case arrow::Type::FIXED_SIZE_LIST:
      case arrow::Type::LIST_VIEW:
      case arrow::Type::LARGE_LIST_VIEW: {
        ARROW_ASSIGN_OR_RAISE(auto fields, Make({type.field(0)->WithName("element")}, path));
        return List(std::move(fields[0]));
      }
      case arrow::Type::MAP: {
        const auto& map = static_cast<const arrow::MapType&>(type);
        ARROW_ASSIGN_OR_RAISE(
            auto fields,
            Make({map.key_field()->WithName("key")->WithNullable(false), map.item_field()->WithName("value")}, path));
        return Map(std::move(fields[0]), std::move(fields[1]));
      }
      case arrow::Type::DICTIONARY:
        return MakeType(*static_cast<const arrow::DictionaryType&>(type).value_type(), path);
      case arrow::Type::RUN_END_ENCODED:
        return MakeType(*static_cast<const arrow::RunEndEncodedType&>(type).value_type(), path);
      default:
        return MakePrimitive(type, path);
    }
  }

  Result<TypePtr> MakePrimitive(const arrow::DataType& type, const std::string& path) {
    switch (type.id()) {
      case arrow::Type::NA:
        return Primitive(TypeId::kUnknown);
      case arrow::Type::BOOL:
        return Primitive(TypeId::kBoolean);
      case arrow::Type::INT8:
      case arrow::Type::INT16:
      case arrow::Type::INT32:
      case arrow::Type::UINT8:
      case arrow::Type::UINT16:
        return Primitive(TypeId::kInt);
      case arrow::Type::UINT32:
      case arrow::Type::INT64:
        return Primitive(TypeId::kLong);
      case arrow::Type::HALF_FLOAT:
      case arrow::Type::FLOAT:
        return Primitive(TypeId::kFloat);
      case arrow::Type::DOUBLE:
        return Primitive(TypeId::kDouble);
      case arrow::Type::DATE32:
      case arrow::Type::DATE64:
        return Primitive(TypeId::kDate);
      case arrow::Type::TIME32:
        return Primitive(TypeId::kTime);
      case arrow::Type::STRING:
      case arrow::Type::LARGE_STRING:
      case arrow::Type::STRING_VIEW:
        return Primitive(TypeId::kString);
      case arrow::Type::BINARY:
      case arrow::Type::LARGE_BINARY:
      case arrow::Type::BINARY_VIEW:
        return Primitive(TypeId::kBinary);
      default:
        return MakeParameterized(type, path);
    }
  }

  Result<TypePtr> MakeParameterized(const arrow::DataType& type, const std::string& path) {
    if (arrow::is_decimal(type.id())) {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      if (decimal.precision() <= kMaxPrecision && decimal.scale() >= 0 && decimal.scale() <= decimal.precision()) {
        return Decimal(decimal.precision(), decimal.scale());
      }
    } else if (type.id() == arrow::Type::TIME64) {
      if (static_cast<const arrow::TimeType&>(type).unit() == arrow::TimeUnit::MICRO) return Primitive(TypeId::kTime);
    } else if (type.id() == arrow::Type::TIMESTAMP) {
      return TimestampOf(static_cast<const arrow::TimestampType&>(type));
    } else if (type.id() == arrow::Type::FIXED_SIZE_BINARY) {
      const int length = static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width();
      if (length > 0) return Fixed(length);
    } else if (type.id() == arrow::Type::EXTENSION) {
      const auto& extension = static_cast<const arrow::ExtensionType&>(type);
      if (extension.extension_name() == "arrow.uuid") return Primitive(TypeId::kUuid);
      if (extension.extension_name() == "arrow.json") return Primitive(TypeId::kString);
      if (extension.extension_name() == "geoarrow.wkb") return Primitive(TypeId::kBinary);
      if (extension.extension_name() == "arrow.parquet.variant") return Primitive(TypeId::kVariant);
    }
    return Invalid("column '{}': Iceberg has no type for Arrow's {}", path, type.ToString());
  }

  static TypePtr TimestampOf(const arrow::TimestampType& type) {
    const bool zone = !type.timezone().empty();
    if (type.unit() == arrow::TimeUnit::NANO) return Primitive(zone ? TypeId::kTimestampTzNs : TypeId::kTimestampNs);
    return Primitive(zone ? TypeId::kTimestampTz : TypeId::kTimestamp);
  }

  int next_id_;
};

Result<arrow::FieldVector> FieldsToArrow(const std::vector<Field>& fields) {
  arrow::FieldVector result;
  result.reserve(fields.size());
  for (const Field& field : fields) {
    ARROW_ASSIGN_OR_RAISE(auto made, ToArrow(field));
    result.push_back(std::move(made));
  }
  return result;
}

}  // namespace

Result<std::shared_ptr<arrow::Schema>> ToArrow(const Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(auto fields, FieldsToArrow(schema.fields));
  return arrow::schema(std::move(fields));
}

Result<std::shared_ptr<arrow::Field>> ToArrow(const Field& field) {
  ARROW_ASSIGN_OR_RAISE(auto type, WithContext(ToArrow(*field.type), fmt::format("column '{}'", field.name)));
  return arrow::field(field.name, std::move(type), !field.required,
                      arrow::key_value_metadata({kFieldIdKey}, {std::to_string(field.id)}));
}

Result<std::shared_ptr<arrow::DataType>> ToArrow(const Type& type) {
  switch (type.id) {
    case TypeId::kBoolean:
      return arrow::boolean();
    case TypeId::kInt:
      return arrow::int32();
    case TypeId::kLong:
      return arrow::int64();
    case TypeId::kFloat:
      return arrow::float32();
    case TypeId::kDouble:
      return arrow::float64();
    case TypeId::kDecimal:
      return arrow::decimal128(type.precision, type.scale);
    case TypeId::kDate:
      return arrow::date32();
    case TypeId::kTime:
      return arrow::time64(arrow::TimeUnit::MICRO);
    case TypeId::kTimestamp:
      return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeId::kTimestampTz:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case TypeId::kTimestampNs:
      return arrow::timestamp(arrow::TimeUnit::NANO);
    case TypeId::kTimestampTzNs:
      return arrow::timestamp(arrow::TimeUnit::NANO, "UTC");
    case TypeId::kString:
      return arrow::utf8();
    case TypeId::kUuid:
      return arrow::extension::uuid();
    case TypeId::kFixed:
      return arrow::fixed_size_binary(type.length);
    case TypeId::kBinary:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return arrow::binary();
    case TypeId::kUnknown:
      return arrow::null();
    case TypeId::kVariant:
      return arrow::extension::variant(arrow::struct_(
          {arrow::field("metadata", arrow::binary(), false), arrow::field("value", arrow::binary(), false)}));
    case TypeId::kStruct: {
      ARROW_ASSIGN_OR_RAISE(auto fields, FieldsToArrow(type.fields));
      return arrow::struct_(std::move(fields));
    }
    case TypeId::kList: {
      ARROW_ASSIGN_OR_RAISE(auto element, ToArrow(type.fields[0]));
      return arrow::list(std::move(element));
    }
    case TypeId::kMap: {
      ARROW_ASSIGN_OR_RAISE(auto fields, FieldsToArrow(type.fields));
      return std::make_shared<arrow::MapType>(fields[0], fields[1]);
    }
  }
  return Invalid("a type out of range");
}

Result<Schema> FromArrow(const arrow::Schema& schema, int first_id) {
  Schema result;
  ARROW_ASSIGN_OR_RAISE(result.fields, FieldMaker(first_id).Make(schema.fields(), ""));
  return result;
}

}  // namespace calve::iceberg
