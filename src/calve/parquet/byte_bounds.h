#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace calve::parquet {

/// The smallest and largest of byte strings, unsigned byte by byte. Most are told apart by their first eight bytes.
/// The strings must outlive it.
class ByteBounds {
 public:
  void Add(std::string_view value) {
    const uint64_t prefix = PrefixOf(value);
    if (prefix < min_prefix_ || (prefix == min_prefix_ && (empty_ || value < min_))) {
      min_ = value;
      min_prefix_ = prefix;
    }
    if (prefix > max_prefix_ || (prefix == max_prefix_ && (empty_ || max_ < value))) {
      max_ = value;
      max_prefix_ = prefix;
    }
    empty_ = false;
  }
  bool empty() const { return empty_; }
  std::string_view min() const { return min_; }
  std::string_view max() const { return max_; }

 private:
  /// Compares as the first eight bytes do; shorter strings as if zeros followed.
  static uint64_t PrefixOf(std::string_view value) {
    uint64_t word = 0;
    if (value.size() >= sizeof(word)) {
      std::memcpy(&word, value.data(), sizeof(word));
    } else if (value.size() >= sizeof(uint32_t)) {
      uint32_t first, last;
      std::memcpy(&first, value.data(), sizeof(first));
      std::memcpy(&last, value.data() + value.size() - sizeof(last), sizeof(last));
      word = first | uint64_t{last} << (8 * (value.size() - sizeof(last)));
    } else {
      for (size_t i = 0; i < value.size(); ++i) word |= uint64_t{static_cast<uint8_t>(value[i])} << (8 * i);
    }
    return __builtin_bswap64(word);
  }

  bool empty_ = true;
  std::string_view min_, max_;
  uint64_t min_prefix_ = ~uint64_t{0}, max_prefix_ = 0;
};

static_assert(std::endian::native == std::endian::little);

}  // namespace calve::parquet
