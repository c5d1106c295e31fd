#pragma once

#include "calve/parquet/schema.h"

namespace calve::parquet {

/// Rebuilds the tree that a footer lists depth first, and computes the levels. Invalid when the list does not add up to
/// one tree, a group has no fields (the root may), or it is nested too deep.
Result<SchemaNode> MakeSchemaTree(const std::vector<SchemaElement>& elements);

}  // namespace calve::parquet
