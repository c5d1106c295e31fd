#pragma once

#include <cstdint>

namespace calve::ipc {

/// True when the bytes are UTF-8.
bool IsText(const uint8_t* bytes, int64_t size);

/// True when the bytes from the first of `count` + 1 offsets to the last are UTF-8 as a whole and no offset points into
/// a character. The offsets are in order.
bool IsTextThroughout(const uint8_t* bytes, const int32_t* offsets, int64_t count);
bool IsTextThroughout(const uint8_t* bytes, const int64_t* offsets, int64_t count);

}  // namespace calve::ipc
