#pragma once

#include "calve/ipc/batch_layout.h"
#include "calve/ipc/body.h"

#include <arrow/c/abi.h>

namespace calve::ipc {

/// Puts the batch that `layout` describes into `out` as a struct array of the Arrow C Data Interface. Everything but
/// the body is one allocation, which lives until every array that was moved out of it is released. NotImplemented when
/// dictionaries within dictionaries, each shared, would become too many arrays.
Status ExportBatch(const BatchPlan& plan, const BatchLayout& layout, Body body, ArrowArray* out);

}  // namespace calve::ipc
