#pragma once

#include "calve/avro/schema.h"
#include "calve/avro/value.h"
#include "calve/iceberg/type.h"

namespace calve::iceberg {

/// The Avro form of a struct, with field ids ("Appendix A: Avro"). Names that Avro does not allow are replaced, the
/// original kept beside. Variant is NotImplemented.
Result<avro::SchemaPtr> ToAvroRecord(const std::string& name, const std::vector<Field>& fields);

/// A value of primitive `type` in the Avro form that ToAvroRecord gives it.
Result<avro::Value> ToAvroValue(const Type& type, const Value& value);

/// A value that stands in Avro as `schema` (a union with null looked through), promoted to primitive `type`; of
/// kUnknown, as the Avro type says. Invalid when the two do not go together.
Result<Value> FromAvroValue(const Type& type, const avro::Schema& schema, const avro::Value& value);

/// The number of bytes of a decimal fixed of `precision` digits.
int DecimalBytes(int precision);

}  // namespace calve::iceberg
