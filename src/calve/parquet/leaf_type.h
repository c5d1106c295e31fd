#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/type_options.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>

namespace calve::parquet {

/// The annotation of an element: its logical type, or what its converted type stands for ("Backward compatibility" in
/// the specification's LogicalTypes). MAP_KEY_VALUE counts as MAP; INTERVAL, which has no logical type, as none.
LogicalType AnnotationOf(const SchemaElement& element);

/// The Arrow type of a leaf (see docs/format/parquet-types.md). Invalid when the annotation cannot stand on the
/// physical type. When calve cannot decode such values, `*unsupported` says why, and the type is one that stands in for
/// it.
Result<std::shared_ptr<arrow::DataType>> LeafType(const SchemaElement& element, const TypeOptions& options,
                                                  std::string* unsupported);

}  // namespace calve::parquet
