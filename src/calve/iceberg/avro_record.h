#pragma once

#include "calve/avro/schema.h"
#include "calve/avro/value.h"
#include "calve/base/status.h"
#include "calve/iceberg/manifest_schema.h"

#include <map>

namespace calve::iceberg {

/// The record inside `schema`, a union with null looked through; null when it is none.
const avro::Schema* RecordIn(const avro::Schema& schema);

/// Reads the columns of an Avro record by field id, or by name when the file carries no id there. Errors name the
/// column. Not owning.
class AvroRecord {
 public:
  /// Invalid when `value` is no record of `schema`.
  static Result<AvroRecord> Make(const avro::Schema& schema, const avro::Value& value);

  /// True when the file has the column.
  bool Has(const Column& column) const { return Find(column) != nullptr; }
  /// The field and its value; null when the file lacks it.
  const avro::Field* FieldOf(const Column& column) const { return Find(column); }
  const avro::Value* ValueOf(const Column& column) const;

  Result<int64_t> Long(const Column& column) const;
  Result<int> Int(const Column& column) const;
  Result<std::string> Text(const Column& column) const;
  Result<bool> Bool(const Column& column) const;
  /// Nothing when the file lacks the column or it is null.
  Result<std::optional<int64_t>> OptionalLong(const Column& column) const;
  Result<std::optional<int>> OptionalInt(const Column& column) const;
  Result<std::optional<std::string>> OptionalText(const Column& column) const;
  Result<std::optional<bool>> OptionalBool(const Column& column) const;
  /// Empty when the file lacks the column or it is null. Maps have values of int64_t or std::string,
  /// lists of int64_t or int.
  template <typename T>
  Result<std::map<int, T>> Map(const Column& column) const;
  template <typename T>
  Result<std::vector<T>> List(const Column& column) const;

 private:
  AvroRecord(const avro::Schema& schema, const avro::Value::List& values) : schema_(&schema), values_(&values) {}
  const avro::Field* Find(const Column& column) const;
  template <typename T>
  Result<std::optional<T>> OptionalAs(const Column& column) const;

  const avro::Schema* schema_;
  const avro::Value::List* values_;
};

}  // namespace calve::iceberg
