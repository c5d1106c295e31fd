#include "calve/iceberg/truncated_bound.h"

#include <cstdint>

namespace calve::iceberg {
namespace {

constexpr uint32_t kMaxCodePoint = 0x10ffff;
constexpr uint32_t kFirstSurrogate = 0xd800;
constexpr uint32_t kLastSurrogate = 0xdfff;

/// The code point at the front of `text` and its size in bytes; size 0 when the bytes are none.
struct CodePoint {
  uint32_t value = 0;
  size_t size = 0;
};

CodePoint FrontOf(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (text.empty()) return {};
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return {};
  uint32_t value = first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  const uint32_t smallest = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  const bool surrogate = value >= kFirstSurrogate && value <= kLastSurrogate;
  return value < smallest || value > kMaxCodePoint || surrogate ? CodePoint{} : CodePoint{value, size};
}

void Append(uint32_t value, std::string* text) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (value >> shift & 0x3f)); };
  if (value < 0x80) {
    text->push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    *text += {static_cast<char>(0xc0 | value >> 6), tail(0)};
  } else if (value < 0x10000) {
    *text += {static_cast<char>(0xe0 | value >> 12), tail(6), tail(0)};
  } else {
    *text += {static_cast<char>(0xf0 | value >> 18), tail(12), tail(6), tail(0)};
  }
}

// The size of the first `length` code points, or of all before the first byte that is not UTF-8.
size_t PrefixSize(std::string_view text, size_t length) {
  size_t size = 0;
  for (size_t i = 0; i < length && size < text.size(); ++i) {
    const CodePoint point = FrontOf(text.substr(size));
    if (point.size == 0) break;
    size += point.size;
  }
  return size;
}

// Where the last code point of the well-formed, non-empty `text` begins.
size_t LastCodePoint(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

}  // namespace

std::string TruncateTextDown(std::string_view text, size_t length) {
  return std::string(text.substr(0, PrefixSize(text, length)));
}

std::optional<std::string> TruncateTextUp(std::string_view text, size_t length) {
  std::string prefix = TruncateTextDown(text, length);
  if (prefix.size() == text.size()) return prefix;
  while (!prefix.empty()) {
    const size_t last = LastCodePoint(prefix);
    const uint32_t value = FrontOf(std::string_view(prefix).substr(last)).value;
    prefix.resize(last);
    if (value == kMaxCodePoint) continue;
    Append(value + 1 == kFirstSurrogate ? kLastSurrogate + 1 : value + 1, &prefix);
    return prefix;
  }
  return std::nullopt;
}

std::string TruncateBytesDown(std::string_view bytes, size_t length) { return std::string(bytes.substr(0, length)); }

std::optional<std::string> TruncateBytesUp(std::string_view bytes, size_t length) {
  std::string prefix(bytes.substr(0, length));
  if (prefix.size() == bytes.size()) return prefix;
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

}  // namespace calve::iceberg
