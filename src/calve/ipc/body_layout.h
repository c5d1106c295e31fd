#pragma once

#include <arrow/type.h>

#include <cstddef>

namespace calve::ipc {

/// How many nodes, buffers and variadic counts the body of a record batch has.
struct BodyLayout {
  size_t nodes = 0, buffers = 0, variadic_counts = 0;
};

/// Of a column as BodyEncoder writes it: views have one data buffer. Adds to `layout`.
void AddLayoutOf(const arrow::DataType& type, BodyLayout* layout);

/// `schema` without metadata of its own and of its fields, at any depth. Extension types keep theirs.
std::shared_ptr<arrow::Schema> WithoutMetadata(const arrow::Schema& schema);

}  // namespace calve::ipc
