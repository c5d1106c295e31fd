#include "calve/parquet/variant_shredding.h"

#include "calve/parquet/variant_shape.h"
#include "calve/parquet/variant_value.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include <span>

// A shredded value is a group of two optional fields, at the top (beside the metadata), as a field of a shredded
// object, and as an element of a shredded array:
//
//   value     typed_value   the value
//   null      null          is missing
//   bytes     null          is what the bytes encode
//   null      x             is x: a primitive, an array of such groups, or an object whose fields are such groups
//   object    object        has the fields of both

namespace calve::parquet {
namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;

/// Strings and bytes of any layout.
class Bytes {
 public:
  static Result<Bytes> Make(ArrayPtr array, arrow::MemoryPool* pool) {
    switch (array->type_id()) {
      case arrow::Type::BINARY:
      case arrow::Type::STRING:
        break;
      default: {
        arrow::compute::ExecContext context(pool);
        ARROW_ASSIGN_OR_RAISE(
            array, arrow::compute::Cast(*array, arrow::binary(), arrow::compute::CastOptions::Safe(), &context));
      }
    }
    Bytes result;
    result.array_ = std::static_pointer_cast<arrow::BinaryArray>(array);
    return result;
  }
  bool IsNull(int64_t i) const { return array_->IsNull(i); }
  std::string_view At(int64_t i) const { return array_->GetView(i); }
  const arrow::Array& array() const { return *array_; }

 private:
  std::shared_ptr<arrow::BinaryArray> array_;
};

/// The typed_value of a group.
class TypedValues {
 public:
  virtual ~TypedValues() = default;
  virtual bool IsNull(int64_t i) const = 0;
  /// Appends value `i`, which is not null. `rest`: what stands in `value` beside it; nothing: null.
  virtual Status Append(const VariantMetadata& metadata, int64_t i, std::optional<std::string_view> rest,
                        std::string* out) const = 0;

  static Result<std::unique_ptr<TypedValues>> Make(ArrayPtr array, arrow::MemoryPool* pool);
};

/// A group of value and typed_value.
class ShreddedValues {
 public:
  static Result<ShreddedValues> Make(const arrow::StructArray& group, arrow::MemoryPool* pool) {
    ShreddedValues result;
    result.group_ = &group;
    const auto& type = checked_cast<const arrow::StructType&>(*group.type());
    if (const int i = type.GetFieldIndex("value"); i >= 0) {
      ARROW_ASSIGN_OR_RAISE(result.value_, Bytes::Make(group.field(i), pool));
    }
    if (const int i = type.GetFieldIndex("typed_value"); i >= 0) {
      ARROW_ASSIGN_OR_RAISE(result.typed_, TypedValues::Make(group.field(i), pool));
    }
    return result;
  }

  /// Appends value `i`; false when it is missing.
  Result<bool> Append(const VariantMetadata& metadata, int64_t i, std::string* out) const {
    if (group_->IsNull(i)) return false;
    std::optional<std::string_view> value;
    if (value_ && !value_->IsNull(i)) value = value_->At(i);
    if (value) ARROW_RETURN_NOT_OK(CheckVariantValue(metadata, *value));
    if (typed_ != nullptr && !typed_->IsNull(i)) {
      ARROW_RETURN_NOT_OK(typed_->Append(metadata, i, value, out));
      return true;
    }
    if (!value) return false;
    out->append(*value);
    return true;
  }

  /// A value that is missing where one has to be is a variant null.
  Status AppendPresent(const VariantMetadata& metadata, int64_t i, std::string* out) const {
    ARROW_ASSIGN_OR_RAISE(const bool present, Append(metadata, i, out));
    if (!present) AppendVariantPrimitive(VariantPrimitive::kNull, {}, out);
    return Status::OK();
  }

 private:
  const arrow::StructArray* group_ = nullptr;
  std::optional<Bytes> value_;
  std::unique_ptr<TypedValues> typed_;
};

Status NothingBeside(const std::optional<std::string_view>& rest) {
  return rest ? Invalid("a variant has both a value and a typed_value") : Status::OK();
}

/// Values that are as wide in Arrow as in the encoding; `prefix` stands before each.
class FixedValues : public TypedValues {
 public:
  FixedValues(ArrayPtr array, VariantPrimitive type, int width, std::string prefix = "")
      : array_(std::move(array)), type_(type), prefix_(std::move(prefix)), width_(width) {
    stride_ = array_->type()->byte_width();
    values_ = array_->data()->GetValues<char>(1, array_->offset() * stride_);
  }
  bool IsNull(int64_t i) const override { return array_->IsNull(i); }
  Status Append(const VariantMetadata&, int64_t i, std::optional<std::string_view> rest,
                std::string* out) const override {
    ARROW_RETURN_NOT_OK(NothingBeside(rest));
    AppendVariantPrimitive(type_, prefix_, out);
    out->append(values_ + i * stride_, static_cast<size_t>(width_));
    return Status::OK();
  }

 private:
  ArrayPtr array_;
  VariantPrimitive type_;
  std::string prefix_;
  int width_, stride_ = 0;
  const char* values_ = nullptr;
};

class BooleanValues : public TypedValues {
 public:
  explicit BooleanValues(const ArrayPtr& array) : array_(std::static_pointer_cast<arrow::BooleanArray>(array)) {}
  bool IsNull(int64_t i) const override { return array_->IsNull(i); }
  Status Append(const VariantMetadata&, int64_t i, std::optional<std::string_view> rest,
                std::string* out) const override {
    ARROW_RETURN_NOT_OK(NothingBeside(rest));
    AppendVariantPrimitive(array_->Value(i) ? VariantPrimitive::kTrue : VariantPrimitive::kFalse, {}, out);
    return Status::OK();
  }

 private:
  std::shared_ptr<arrow::BooleanArray> array_;
};

class TextValues : public TypedValues {
 public:
  TextValues(Bytes bytes, bool is_text) : bytes_(std::move(bytes)), is_text_(is_text) {}
  bool IsNull(int64_t i) const override { return bytes_.IsNull(i); }
  Status Append(const VariantMetadata&, int64_t i, std::optional<std::string_view> rest,
                std::string* out) const override {
    ARROW_RETURN_NOT_OK(NothingBeside(rest));
    (is_text_ ? AppendVariantString : AppendVariantBinary)(bytes_.At(i), out);
    return Status::OK();
  }

 private:
  Bytes bytes_;
  bool is_text_;
};

class ListValues : public TypedValues {
 public:
  static Result<std::unique_ptr<TypedValues>> Make(const ArrayPtr& array, arrow::MemoryPool* pool) {
    auto result = std::make_unique<ListValues>();
    result->array_ = std::static_pointer_cast<arrow::ListArray>(array);
    result->elements_array_ = result->array_->values();
    ARROW_ASSIGN_OR_RAISE(
        result->elements_,
        ShreddedValues::Make(checked_cast<const arrow::StructArray&>(*result->elements_array_), pool));
    return std::unique_ptr<TypedValues>(std::move(result));
  }
  bool IsNull(int64_t i) const override { return array_->IsNull(i); }
  Status Append(const VariantMetadata& metadata, int64_t i, std::optional<std::string_view> rest,
                std::string* out) const override {
    ARROW_RETURN_NOT_OK(NothingBeside(rest));
    std::string bytes;
    std::vector<size_t> ends;
    for (int64_t e = array_->value_offset(i); e < array_->value_offset(i + 1); ++e) {
      ARROW_RETURN_NOT_OK(elements_.AppendPresent(metadata, e, &bytes));
      ends.push_back(bytes.size());
    }
    std::vector<std::string_view> elements;
    size_t begin = 0;
    for (size_t end : ends) {
      elements.push_back(std::string_view(bytes).substr(begin, end - begin));
      begin = end;
    }
    AppendVariantArray(elements, out);
    return Status::OK();
  }

 private:
  std::shared_ptr<arrow::ListArray> array_;
  ArrayPtr elements_array_;
  ShreddedValues elements_;
};

class ObjectValues : public TypedValues {
 public:
  static Result<std::unique_ptr<TypedValues>> Make(const ArrayPtr& array, arrow::MemoryPool* pool) {
    auto result = std::make_unique<ObjectValues>();
    result->array_ = std::static_pointer_cast<arrow::StructArray>(array);
    for (int i = 0; i < result->array_->num_fields(); ++i) {
      result->arrays_.push_back(result->array_->field(i));
      Field field{array->type()->field(i)->name(), {}};
      ARROW_ASSIGN_OR_RAISE(
          field.values, ShreddedValues::Make(checked_cast<const arrow::StructArray&>(*result->arrays_.back()), pool));
      result->fields_.push_back(std::move(field));
    }
    return std::unique_ptr<TypedValues>(std::move(result));
  }
  bool IsNull(int64_t i) const override { return array_->IsNull(i); }
  Status Append(const VariantMetadata& metadata, int64_t i, std::optional<std::string_view> rest,
                std::string* out) const override {
    std::vector<VariantField> fields;
    if (rest) {
      if (!IsVariantObject(*rest)) return Invalid("a variant has fields in typed_value and a value that is no object");
      ARROW_ASSIGN_OR_RAISE(fields, VariantFields(metadata, *rest));
      ARROW_RETURN_NOT_OK(CheckDisjoint(metadata, fields));
    }
    std::string bytes;
    std::vector<std::pair<uint32_t, size_t>> ends;
    for (const Field& field : fields_) {
      ARROW_ASSIGN_OR_RAISE(const bool present, field.values.Append(metadata, i, &bytes));
      if (!present) continue;
      const auto id = metadata.Find(field.name);
      if (!id)
        return Invalid("variant field '{}' is not among the {} names of its metadata", field.name, metadata.size());
      ends.emplace_back(*id, bytes.size());
    }
    size_t begin = 0;
    for (const auto& [id, end] : ends) {
      fields.push_back({id, std::string_view(bytes).substr(begin, end - begin)});
      begin = end;
    }
    return AppendVariantObject(metadata, std::move(fields), out);
  }

 private:
  struct Field {
    std::string name;
    ShreddedValues values;
  };

  /// Shredded fields may not be in `value` too, also where they are missing in this row.
  Status CheckDisjoint(const VariantMetadata& metadata, const std::vector<VariantField>& rest) const {
    for (const VariantField& field : rest) {
      const std::string_view name = metadata.name(field.id);
      for (const Field& shredded : fields_) {
        if (shredded.name == name) return Invalid("variant field '{}' is in value although it is shredded", name);
      }
    }
    return Status::OK();
  }

  std::shared_ptr<arrow::StructArray> array_;
  std::vector<ArrayPtr> arrays_;
  std::vector<Field> fields_;
};

std::unique_ptr<TypedValues> Decimals(const ArrayPtr& array) {
  const auto& type = checked_cast<const arrow::DecimalType&>(*array->type());
  std::string scale(1, static_cast<char>(type.scale()));
  // The narrow ones are the low bytes of Arrow's 16.
  const bool is_4 = type.precision() <= 9, is_8 = type.precision() <= 18;
  const auto primitive = is_4   ? VariantPrimitive::kDecimal4
                         : is_8 ? VariantPrimitive::kDecimal8
                                : VariantPrimitive::kDecimal16;
  return std::make_unique<FixedValues>(array, primitive, is_4 ? 4 : is_8 ? 8 : 16, std::move(scale));
}

VariantPrimitive TimestampPrimitive(const arrow::TimestampType& type) {
  const bool nanos = type.unit() == arrow::TimeUnit::NANO;
  if (type.timezone().empty()) return nanos ? VariantPrimitive::kTimestampNtzNanos : VariantPrimitive::kTimestampNtz;
  return nanos ? VariantPrimitive::kTimestampNanos : VariantPrimitive::kTimestamp;
}

Result<std::unique_ptr<TypedValues>> TypedValues::Make(ArrayPtr array, arrow::MemoryPool* pool) {
  using arrow::Type;
  using P = VariantPrimitive;
  if (array->type_id() == Type::EXTENSION) {
    array = checked_cast<const arrow::ExtensionArray&>(*array).storage();
    return std::make_unique<FixedValues>(array, P::kUuid, 16);
  }
  switch (array->type_id()) {
    case Type::BOOL:
      return std::make_unique<BooleanValues>(array);
    case Type::INT8:
      return std::make_unique<FixedValues>(array, P::kInt8, 1);
    case Type::INT16:
      return std::make_unique<FixedValues>(array, P::kInt16, 2);
    case Type::INT32:
      return std::make_unique<FixedValues>(array, P::kInt32, 4);
    case Type::INT64:
      return std::make_unique<FixedValues>(array, P::kInt64, 8);
    case Type::FLOAT:
      return std::make_unique<FixedValues>(array, P::kFloat, 4);
    case Type::DOUBLE:
      return std::make_unique<FixedValues>(array, P::kDouble, 8);
    case Type::DATE32:
      return std::make_unique<FixedValues>(array, P::kDate, 4);
    case Type::TIME64:
      return std::make_unique<FixedValues>(array, P::kTimeNtz, 8);
    case Type::TIMESTAMP:
      return std::make_unique<FixedValues>(
          array, TimestampPrimitive(checked_cast<const arrow::TimestampType&>(*array->type())), 8);
    case Type::DECIMAL128:
      return Decimals(array);
    case Type::STRUCT:
      return ObjectValues::Make(array, pool);
    case Type::LIST:
      return ListValues::Make(array, pool);
    default: {
      const auto id = array->type_id();
      const bool is_text = id == Type::STRING || id == Type::LARGE_STRING || id == Type::STRING_VIEW;
      ARROW_ASSIGN_OR_RAISE(Bytes bytes, Bytes::Make(std::move(array), pool));
      return std::make_unique<TextValues>(std::move(bytes), is_text);
    }
  }
}

/// Puts one row after another together.
class Reconstruction {
 public:
  explicit Reconstruction(arrow::MemoryPool* pool) : builder_(pool) {}

  Status AppendRow(const Bytes& metadata, const ShreddedValues& values, int64_t i) {
    if (metadata.IsNull(i)) return Invalid("a variant without metadata");
    ARROW_RETURN_NOT_OK(UseMetadata(metadata.At(i)));
    value_.clear();
    ARROW_RETURN_NOT_OK(values.AppendPresent(metadata_, i, &value_));
    return builder_.Append(value_);
  }
  Status AppendNothing() { return builder_.Append(""); }
  Result<ArrayPtr> Finish() { return builder_.Finish(); }

 private:
  /// Rows mostly have the metadata of the row before.
  Status UseMetadata(std::string_view bytes) {
    if (parsed_ && *parsed_ == bytes) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(metadata_, VariantMetadata::Parse(bytes));
    parsed_ = bytes;
    return Status::OK();
  }

  arrow::BinaryBuilder builder_;
  std::optional<std::string_view> parsed_;
  VariantMetadata metadata_;
  std::string value_;
};

}  // namespace

Result<std::shared_ptr<arrow::ArrayData>> PutVariantsTogether(const arrow::ArrayData& shredded,
                                                              arrow::MemoryPool* pool) {
  ArrayPtr array = arrow::MakeArray(shredded.Copy());
  if (array->type_id() == arrow::Type::EXTENSION) array = checked_cast<const arrow::ExtensionArray&>(*array).storage();
  const auto& group = checked_cast<const arrow::StructArray&>(*array);
  ArrayPtr names = group.GetFieldByName("metadata");
  if (names == nullptr) return Invalid("a variant without metadata");
  ARROW_ASSIGN_OR_RAISE(const Bytes metadata, Bytes::Make(std::move(names), pool));
  ARROW_ASSIGN_OR_RAISE(const ShreddedValues values, ShreddedValues::Make(group, pool));
  Reconstruction rows(pool);
  for (int64_t i = 0; i < group.length(); ++i) {
    const Status status = group.IsNull(i) ? rows.AppendNothing() : rows.AppendRow(metadata, values, i);
    if (!status.ok()) return WithContext(status, fmt::format("value {}", i));
  }
  ARROW_ASSIGN_OR_RAISE(ArrayPtr whole, rows.Finish());
  auto metadata_data = metadata.array().data()->Copy();
  metadata_data->buffers[0] = nullptr;
  metadata_data->null_count = 0;
  return arrow::ArrayData::Make(WholeVariantType(), group.length(), {group.data()->buffers[0]},
                                {std::move(metadata_data), whole->data()}, group.null_count(), 0);
}

}  // namespace calve::parquet
