#pragma once

#include "calve/ipc/batch_layout.h"

namespace calve::ipc {

/// Undoes, in place, how Comet stores 32-bit offsets under the tag DA 53 54 44: n + 1 offsets are the first one and n
/// lengths, in four planes of n + 1 bytes, low bytes first. What follows the planes in a buffer is left alone.
///
/// The buffers are the decoder's own memory. Columns for which it was never seen how they would be stored (64-bit
/// offsets, list views, dense unions, dictionaries) are NotImplemented, by name.
Status UndoOffsetsAsLengths(const BatchPlan& plan, BatchLayout* layout);

}  // namespace calve::ipc
