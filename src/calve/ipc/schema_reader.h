#pragma once

#include "calve/ipc/flat_table.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace calve::ipc {

using arrow::Result;

/// What a field's type does not say: which dictionary it takes. `children` are those of the type (of the dictionary's
/// values, for a dictionary).
struct FieldShape {
  std::optional<int64_t> dictionary_id;
  std::vector<FieldShape> children;
};

struct SchemaMessage {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<FieldShape> fields;
};

/// Reads the table Schema of a message. Extension types that are registered with Arrow come as such, others as their
/// storage with their metadata. Invalid for what no schema says, naming the field; NotImplemented for big-endian data.
Result<SchemaMessage> ReadSchema(const FlatTable& schema, FlatBytes* flat);

}  // namespace calve::ipc
