#include "calve/parquet/usual_element.h"

#include <algorithm>
#include <cstring>

// An element is taken apart into
//
//   head  name's length (1 byte)  name  [middle  field id (varint)]  tail
//
// where head, middle and tail are compared with those of the element learnt.

namespace calve::parquet {
namespace {

constexpr size_t kWordBytes = 8;
constexpr uint8_t kLongName = 0x80;  ///< lengths from here on take more than a byte
constexpr int kIdBytes = 4;          ///< such varints are in range for 32 bits
constexpr ptrdiff_t kMostBytes = 4 * kWordBytes + 1 + kLongName + kIdBytes;

/// A zigzag varint of up to kIdBytes; null when it is longer.
const uint8_t* ShortId(const uint8_t* at, int32_t* value) {
  uint32_t bits = 0;
  for (int i = 0; i < kIdBytes; ++i) {
    bits |= (at[i] & 0x7fu) << (7 * i);
    if (at[i] >= 0x80) continue;
    *value = static_cast<int32_t>(bits >> 1) ^ -static_cast<int32_t>(bits & 1);
    return at + i + 1;
  }
  return nullptr;
}

}  // namespace

bool UsualElement::Word::Set(std::span<const uint8_t> bytes) {
  if (bytes.size() > kWordBytes) return false;
  uint8_t padded[kWordBytes] = {}, ones[kWordBytes] = {};
  std::copy(bytes.begin(), bytes.end(), padded);
  std::fill_n(ones, bytes.size(), uint8_t{0xff});
  std::memcpy(&value, padded, kWordBytes);
  std::memcpy(&mask, ones, kWordBytes);
  size = bytes.size();
  return true;
}

inline bool UsualElement::Word::IsAt(const uint8_t* at) const {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return (word & mask) == value;
}

void UsualElement::Learn(std::span<const uint8_t> element, const Parts& parts) {
  known_ = false;
  const size_t name_end = parts.name_begin + parts.name_size;
  has_id_ = parts.id_begin > 0;
  if (has_id_ && (parts.id_begin < name_end || parts.id_end <= parts.id_begin)) return;
  // The name's length is the one byte before it.
  if (parts.name_begin < 2 || element[parts.name_begin - 2] >= kLongName) return;
  if (parts.name_size >= kLongName || element[parts.name_begin - 1] != parts.name_size) return;
  const auto tail = element.subspan(has_id_ ? parts.id_end : name_end);
  const size_t half = std::min(tail.size(), kWordBytes);
  known_ = head_.Set(element.first(parts.name_begin - 1)) &&
           middle_.Set(has_id_ ? element.subspan(name_end, parts.id_begin - name_end) : element.first(0)) &&
           tail_[0].Set(tail.first(half)) && tail_[1].Set(tail.subspan(half));
}

UsualElement::Passed UsualElement::Pass(const uint8_t* at, const uint8_t* end) const {
  Passed passed;
  if (!known_ || end - at < kMostBytes || !head_.IsAt(at)) return passed;
  at += head_.size;
  if (*at >= kLongName) return passed;
  passed.name_size = *at++;
  passed.name = at;
  at += passed.name_size;
  if (has_id_) {
    if (!middle_.IsAt(at)) return passed;
    at = ShortId(at + middle_.size, &passed.field_id);
    if (at == nullptr) return passed;
    passed.has_field_id = true;
  }
  if (!tail_[0].IsAt(at) || !tail_[1].IsAt(at + tail_[0].size)) return passed;
  passed.end = at + tail_[0].size + tail_[1].size;
  return passed;
}

}  // namespace calve::parquet
