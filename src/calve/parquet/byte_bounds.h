#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace calve::parquet {

/// How many bytes two strings begin with alike.
inline size_t SharedPrefix(std::string_view a, std::string_view b) {
  constexpr size_t kFirst = 64, kBlock = 512;
  const size_t most = std::min(a.size(), b.size());
  size_t shared = 0;
  const auto compare_words = [&](size_t end) {
    for (; shared + sizeof(uint64_t) <= end; shared += sizeof(uint64_t)) {
      uint64_t left, right;
      std::memcpy(&left, a.data() + shared, sizeof(left));
      std::memcpy(&right, b.data() + shared, sizeof(right));
      if (left == right) continue;
      shared += static_cast<size_t>(std::countr_zero(left ^ right)) / 8;
      return false;
    }
    return true;
  };
  if (!compare_words(std::min(most, kFirst))) return shared;
  while (shared + kBlock <= most && std::memcmp(a.data() + shared, b.data() + shared, kBlock) == 0) shared += kBlock;
  if (!compare_words(most)) return shared;
  while (shared < most && a[shared] == b[shared]) ++shared;
  return shared;
}

/// A byte string that is kept: a copy, or where it lies, when it is long and stays there until Own().
class KeptBytes {
 public:
  std::string_view view() const { return refers_ ? referred_ : std::string_view(own_); }
  bool refers() const { return refers_; }
  void Keep(std::string_view bytes, bool stays) {
    constexpr size_t kShort = 64;
    const bool is_kept = bytes.data() == view().data() && bytes.size() == view().size();
    if (is_kept && refers_ == stays) return;  // what was referred to may have been somewhere else by now
    refers_ = stays && bytes.size() > kShort;
    if (refers_) {
      referred_ = bytes;
    } else {
      own_.assign(bytes);
    }
  }
  void Own() {
    if (refers_) own_.assign(referred_);
    refers_ = false;
  }

 private:
  bool refers_ = false;
  std::string_view referred_;
  std::string own_;
};

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
