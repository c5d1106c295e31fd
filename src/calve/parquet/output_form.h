#pragma once

#include "calve/parquet/schema.h"

#include <arrow/array/data.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace calve::parquet {

/// The field that readers return for a node.
inline const std::shared_ptr<arrow::Field>& OutputOf(const ArrowNode& node) {
  return node.output != nullptr ? node.output : node.field;
}

/// True for a variant whose values readers return put together: it is read whole or not at all.
bool IsPutTogether(const ArrowNode& node);

/// A nested type of the kind of `like` over other children (a map's: key and value). An extension type over children
/// that are not its own is their storage.
std::shared_ptr<arrow::DataType> TypeOver(const arrow::DataType& like, const arrow::FieldVector& children);

/// Sets the types of a group from those of its children: of `field` always, of `output` where one of them has another
/// than it is assembled as, or it had one before.
void UpdateTypes(ArrowNode* group);

/// Turns what AssembleField made of `node` into what readers return for it: other forms of strings, lists and decimals,
/// dictionaries, variants put together. Values stay what they are; Invalid for a list that is not of its fixed size, or
/// values that a form has no room for.
Result<std::shared_ptr<arrow::ArrayData>> FinishField(const ArrowNode& node,
                                                      std::shared_ptr<arrow::ArrayData> assembled,
                                                      arrow::MemoryPool* pool);

}  // namespace calve::parquet
