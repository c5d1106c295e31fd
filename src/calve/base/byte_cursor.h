#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace calve {

/// Reads little-endian values and byte ranges from a span, never outside it.
///
/// Failure is sticky: after the first read past the end, or an explicit Fail(), every read returns zero or an empty
/// span and ok() is false, so a parser may read a whole structure and check once. offset() then stays where the
/// failing read began. Not owning: the bytes outlive the cursor.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  explicit ByteCursor(std::string_view bytes) : bytes_(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) {}

  bool ok() const { return ok_; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }
  bool at_end() const { return remaining() == 0; }
  void Fail() { ok_ = false; }

  /// The next `size` bytes, or an empty span and failure.
  std::span<const uint8_t> Bytes(size_t size) {
    if (!Need(size)) return {};
    auto result = bytes_.subspan(offset_, size);
    offset_ += size;
    return result;
  }

  /// The next `size` bytes as text, or an empty view and failure.
  std::string_view Text(size_t size) {
    auto bytes = Bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void Skip(size_t size) {
    if (Need(size)) offset_ += size;
  }

  /// A little-endian arithmetic value.
  template <typename T>
  T Little() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    if (!Need(sizeof(T))) return value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  /// An unsigned LEB128 of at most 10 bytes; longer ones, and ones that overflow 64 bits, fail.
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (!Need(1)) return 0;
      uint64_t byte = bytes_[offset_++];
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

  /// A zigzag-coded signed LEB128.
  int64_t ZigZag() {
    uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }

 private:
  bool Need(size_t size) {
    if (ok_ && size <= remaining()) return true;
    ok_ = false;
    return false;
  }

  std::span<const uint8_t> bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace calve
