#include "calve/iceberg/avro_record.h"

#include "calve/base/status.h"

namespace calve::iceberg {
namespace {

template <typename T>
Result<T> Needed(Result<std::optional<T>> value, const Column& column) {
  ARROW_RETURN_NOT_OK(value.status());
  if (!*value) return Invalid("column '{}' (id {}) is missing", column.name, column.id);
  return std::move(**value);
}

Status WrongType(const Column& column) {
  return Invalid("column '{}' (id {}) has values of a wrong type", column.name, column.id);
}

bool FitsInt(int64_t value) { return value == static_cast<int32_t>(value); }

}  // namespace

const avro::Schema* RecordIn(const avro::Schema& schema) {
  const auto* branch = schema.optional_branch();
  const auto& record = branch != nullptr ? *branch : schema;
  return record.kind == avro::Kind::kRecord ? &record : nullptr;
}

Result<AvroRecord> AvroRecord::Make(const avro::Schema& schema, const avro::Value& value) {
  const auto* record = RecordIn(schema);
  const auto* values = value.As<avro::Value::List>();
  if (record == nullptr || values == nullptr || values->size() != record->fields.size()) {
    return Invalid("{} where a record is expected", avro::ToString(schema.kind));
  }
  return AvroRecord(*record, *values);
}

const avro::Field* AvroRecord::Find(const Column& column) const {
  for (const auto& field : schema_->fields) {
    if (field.id ? *field.id == column.id : field.name == column.name) return &field;
  }
  return nullptr;
}

const avro::Value* AvroRecord::ValueOf(const Column& column) const {
  const auto* field = Find(column);
  return field == nullptr ? nullptr : &(*values_)[static_cast<size_t>(field - schema_->fields.data())];
}

template <typename T>
Result<std::optional<T>> AvroRecord::OptionalAs(const Column& column) const {
  const auto* value = ValueOf(column);
  if (value == nullptr || value->is_null()) return std::optional<T>();
  const auto* typed = value->As<T>();
  if (typed == nullptr) return WrongType(column);
  return std::optional<T>(*typed);
}

Result<std::optional<int64_t>> AvroRecord::OptionalLong(const Column& column) const {
  return OptionalAs<int64_t>(column);
}
Result<std::optional<std::string>> AvroRecord::OptionalText(const Column& column) const {
  return OptionalAs<std::string>(column);
}
Result<std::optional<bool>> AvroRecord::OptionalBool(const Column& column) const { return OptionalAs<bool>(column); }

Result<std::optional<int>> AvroRecord::OptionalInt(const Column& column) const {
  ARROW_ASSIGN_OR_RAISE(auto value, OptionalLong(column));
  if (!value) return std::optional<int>();
  if (!FitsInt(*value)) return Invalid("column '{}' (id {}): {} is no int", column.name, column.id, *value);
  return std::optional<int>(static_cast<int>(*value));
}

Result<int64_t> AvroRecord::Long(const Column& column) const { return Needed(OptionalLong(column), column); }
Result<int> AvroRecord::Int(const Column& column) const { return Needed(OptionalInt(column), column); }
Result<std::string> AvroRecord::Text(const Column& column) const { return Needed(OptionalText(column), column); }
Result<bool> AvroRecord::Bool(const Column& column) const { return Needed(OptionalBool(column), column); }

template <typename T>
Result<std::map<int, T>> AvroRecord::Map(const Column& column) const {
  std::map<int, T> result;
  ARROW_ASSIGN_OR_RAISE(auto items, OptionalAs<avro::Value::List>(column));
  if (!items) return result;
  for (const auto& item : *items) {
    const auto* pair = item.template As<avro::Value::List>();
    if (pair == nullptr || pair->size() != 2) return WrongType(column);
    const auto* key = (*pair)[0].template As<int64_t>();
    const auto* value = (*pair)[1].template As<T>();
    if (key == nullptr || value == nullptr || !FitsInt(*key)) return WrongType(column);
    result[static_cast<int>(*key)] = *value;
  }
  return result;
}

template <typename T>
Result<std::vector<T>> AvroRecord::List(const Column& column) const {
  std::vector<T> result;
  ARROW_ASSIGN_OR_RAISE(auto items, OptionalAs<avro::Value::List>(column));
  if (!items) return result;
  for (const auto& item : *items) {
    const auto* value = item.template As<int64_t>();
    if (value == nullptr || *value != static_cast<T>(*value)) return WrongType(column);
    result.push_back(static_cast<T>(*value));
  }
  return result;
}

template Result<std::map<int, int64_t>> AvroRecord::Map(const Column&) const;
template Result<std::map<int, std::string>> AvroRecord::Map(const Column&) const;
template Result<std::vector<int64_t>> AvroRecord::List(const Column&) const;
template Result<std::vector<int>> AvroRecord::List(const Column&) const;

}  // namespace calve::iceberg
