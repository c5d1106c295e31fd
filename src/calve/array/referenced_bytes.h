#pragma once

#include <arrow/array/data.h>

#include <cstdint>

namespace calve {

/// Bytes that slots [offset, offset + length) of `array` take in memory, validity left out, to size work by: offsets
/// are taken as they stand, and what slots share (dictionaries, the buffers of views, the elements of list views, runs)
/// counts whole. Allocates nothing.
int64_t ReferencedBytes(const arrow::ArrayData& array, int64_t offset, int64_t length);

}  // namespace calve
