#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/thrift_reader.h"

#include <fmt/format.h>

namespace calve::parquet {

/// Fails unless `value` is one of an enumeration whose members are 0 to `last`. Returns true: the member was read.
template <typename Enum>
bool CheckEnum(ThriftReader& in, Enum value, int last) {
  if (in.ok() && (static_cast<int>(value) < 0 || static_cast<int>(value) > last)) {
    in.Fail(fmt::format("{} is no member of the enumeration", static_cast<int>(value)));
  }
  return true;
}

/// Reads a SchemaElement, its logical type included.
void ReadSchemaElement(ThriftReader& in, SchemaElement* out);

}  // namespace calve::parquet
