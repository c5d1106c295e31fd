#pragma once

#include "calve/expr/bounds.h"
#include "calve/expr/node.h"
#include "calve/parquet/schema.h"
#include "calve/pipeline/column_projection.h"

namespace calve::pipeline {

/// What `filter`, bound to columns that `projection` makes, asks of the columns of the file itself: a filter bound to
/// `schema` that is true of every row that `filter` is true of. Tests of columns that every row has the same value of
/// are answered; those of columns that the file's cannot be compared for become TRUE.
expr::NodePtr FilterOfFile(const expr::NodePtr& filter, const ColumnProjection& projection,
                           const parquet::FileSchema& schema);

/// The bounds of `rows` rows that all hold `constant`; nothing for a NaN.
std::optional<expr::ColumnBounds> BoundsOfConstant(const Value& constant, int64_t rows);

}  // namespace calve::pipeline
