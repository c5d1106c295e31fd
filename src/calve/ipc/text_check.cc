#include "calve/ipc/text_check.h"

#include "calve/simd/checks.h"

#include <arrow/util/utf8.h>

namespace calve::ipc {
namespace {

bool BeginsCharacter(uint8_t byte) { return (byte & 0xc0) != 0x80; }

bool IsUtf8(const uint8_t* bytes, int64_t size) {
  // Arrow's tables are empty, and everything passes, until they are asked for.
  static const bool ready = (arrow::util::InitializeUTF8(), true);
  return ready && arrow::util::ValidateUTF8(bytes, size);
}

template <typename Offset>
bool IsThroughout(const uint8_t* bytes, const Offset* offsets, int64_t count) {
  const int64_t begin = offsets[0], end = offsets[count];
  if (simd::IsAscii(bytes + begin, static_cast<size_t>(end - begin))) return true;
  if (!IsUtf8(bytes + begin, end - begin)) return false;
  bool all = true;
  for (int64_t i = 0; i < count; ++i) all &= offsets[i] == end || BeginsCharacter(bytes[offsets[i]]);
  return all;
}

}  // namespace

bool IsText(const uint8_t* bytes, int64_t size) {
  return simd::IsAscii(bytes, static_cast<size_t>(size)) || IsUtf8(bytes, size);
}

bool IsTextThroughout(const uint8_t* bytes, const int32_t* offsets, int64_t count) {
  return IsThroughout(bytes, offsets, count);
}

bool IsTextThroughout(const uint8_t* bytes, const int64_t* offsets, int64_t count) {
  return IsThroughout(bytes, offsets, count);
}

}  // namespace calve::ipc
