#include "calve/parquet/statistics.h"

#include "calve/simd/min_max.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace calve::parquet {
namespace {

constexpr size_t kLongestBound = 64;

uint16_t HalfBits(std::string_view value) {
  uint16_t bits;
  std::memcpy(&bits, value.data(), sizeof(bits));
  return bits;
}

bool IsHalfNan(uint16_t bits) { return (bits & 0x7FFF) > 0x7C00; }

/// A number that compares as the half-precision value does; both zeros are 0.
int HalfRank(uint16_t bits) {
  const int magnitude = bits & 0x7FFF;
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool DecimalLess(std::string_view a, std::string_view b) {
  const auto first_a = static_cast<signed char>(a.front()), first_b = static_cast<signed char>(b.front());
  return first_a != first_b ? first_a < first_b : a < b;
}

template <typename T>
bool IsNan(BoundOrder order, const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return order == BoundOrder::kFloat16 && IsHalfNan(HalfBits(value));
  } else {
    return false;
  }
}

template <typename T>
std::string PlainValue(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

BoundOrder BoundOrderOf(const SchemaElement& element) {
  using Kind = LogicalType::Kind;
  const LogicalType& logical = element.logical_type;
  if (logical.kind == Kind::kUnknown || logical.kind == Kind::kVariant || logical.kind == Kind::kGeometry ||
      logical.kind == Kind::kGeography || element.converted_type == ConvertedType::kInterval ||
      element.type == PhysicalType::kInt96) {
    return BoundOrder::kNone;
  }
  switch (*element.type) {
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return BoundOrder::kFloat;
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray:
      if (logical.kind == Kind::kDecimal) return BoundOrder::kDecimal;
      return logical.kind == Kind::kFloat16 ? BoundOrder::kFloat16 : BoundOrder::kBytes;
    default:
      return logical.kind == Kind::kInteger && !logical.is_signed ? BoundOrder::kUnsigned : BoundOrder::kSigned;
  }
}

template <typename T>
template <typename Less>
void Bounds<T>::UpdateBy(std::span<const T> values, Less&& less) {
  auto value = values.begin();
  while (value != values.end() && IsNan(order_, *value)) ++value;
  if (value == values.end()) return;
  T min = *value, max = *value;
  if constexpr (kIsBytes) {
    if (has_values_) min = min_.view(), max = max_.view();
  } else {
    if (has_values_) min = min_, max = max_;
  }
  for (; value != values.end(); ++value) {
    if (IsNan(order_, *value)) continue;
    if (less(*value, min)) min = *value;
    if (less(max, *value)) max = *value;
  }
  if constexpr (kIsBytes) {
    min_.Keep(min, /*stays=*/false);
    max_.Keep(max, /*stays=*/false);
  } else {
    min_ = min;
    max_ = max;
  }
  has_values_ = true;
}

template <typename T>
void Bounds<T>::UpdateNumbers(std::span<const T> values)
  requires(std::is_arithmetic_v<T> && sizeof(T) >= 4)
{
  if (!has_values_) {
    const auto first = std::find_if(values.begin(), values.end(), [&](const T& v) { return !IsNan(order_, v); });
    if (first == values.end()) return;
    min_ = max_ = *first;
    has_values_ = true;
  }
  if constexpr (std::is_integral_v<T>) {
    if (order_ == BoundOrder::kUnsigned) {
      using Unsigned = std::make_unsigned_t<T>;
      simd::MinMax(reinterpret_cast<const Unsigned*>(values.data()), values.size(), reinterpret_cast<Unsigned*>(&min_),
                   reinterpret_cast<Unsigned*>(&max_));
      return;
    }
  }
  simd::MinMax(values.data(), values.size(), &min_, &max_);
}

/// Compares with one of the bounds only, as far as what the two begin with alike tells how it compares with the other.
template <typename T>
void Bounds<T>::UpdateBytes(std::string_view value, bool stays) {
  if constexpr (kIsBytes) {
    if (!has_values_) {
      min_.Keep(value, stays);
      max_.Keep(value, stays);
      shared_ = value.size();
      has_values_ = true;
      return;
    }
    // `a` and `b` are alike for `shared` bytes and no further.
    const auto less = [](std::string_view a, std::string_view b, size_t shared) {
      return shared < b.size() &&
             (shared == a.size() || static_cast<uint8_t>(a[shared]) < static_cast<uint8_t>(b[shared]));
    };
    const std::string_view max = max_.view();
    const size_t with_min = SharedPrefix(min_.view(), value);
    if (less(value, min_.view(), with_min)) {
      min_.Keep(value, stays);
      shared_ = std::min(shared_, with_min);
      return;
    }
    if (with_min > shared_) return;  // there the maximum is larger than both
    size_t with_max = with_min;
    if (with_min == shared_) with_max += SharedPrefix(max.substr(shared_), value.substr(shared_));
    if (!less(max, value, with_max)) return;
    max_.Keep(value, stays);
    shared_ = with_min;
  }
}

template <typename T>
void Bounds<T>::Refer(std::span<const T> values)
  requires kIsBytes
{
  if (order_ != BoundOrder::kBytes) return Update(values);
  for (std::string_view value : values) UpdateBytes(value, /*stays=*/true);
}

template <typename T>
void Bounds<T>::Own() {
  if constexpr (kIsBytes) {
    if (!has_values_) return;
    min_.Own();
    max_.Own();
  }
}

template <typename T>
void Bounds<T>::Update(std::span<const T> values) {
  if (order_ == BoundOrder::kNone || values.empty()) return;
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (order_ == BoundOrder::kDecimal) return UpdateBy(values, DecimalLess);
    if (order_ == BoundOrder::kFloat16) {
      return UpdateBy(values, [](T a, T b) { return HalfRank(HalfBits(a)) < HalfRank(HalfBits(b)); });
    }
    ByteBounds more;
    for (std::string_view value : values) more.Add(value);
    UpdateBytes(more.min(), /*stays=*/false);
    UpdateBytes(more.max(), /*stays=*/false);
  } else if constexpr (!std::is_same_v<T, uint8_t>) {
    UpdateNumbers(values);
  } else if (values.size() > 2) {
    // One of each that is there.
    const bool falses = std::memchr(values.data(), 0, values.size()) != nullptr;
    const bool trues = std::memchr(values.data(), 1, values.size()) != nullptr;
    const std::array<uint8_t, 2> both = {static_cast<uint8_t>(falses ? 0 : 1), static_cast<uint8_t>(trues ? 1 : 0)};
    return Update(both);
  } else {
    return UpdateBy(values, [](T a, T b) { return a < b; });
  }
}

template <typename T>
void Bounds<T>::Update(const Bounds& other) {
  if (!other.has_values_) return;
  if constexpr (kIsBytes) {
    if (order_ == BoundOrder::kBytes) {
      UpdateBytes(other.min_.view(), other.min_.refers());
      return UpdateBytes(other.max_.view(), other.max_.refers());
    }
    const T both[2] = {other.min_.view(), other.max_.view()};
    Update(std::span<const T>(both, 2));
  } else {
    const T both[2] = {other.min_, other.max_};
    Update(std::span<const T>(both, 2));
  }
}

template <typename T>
typename Bounds<T>::Bound Bounds<T>::min() const {
  if constexpr (std::is_floating_point_v<T>) {
    return PlainValue(min_ == 0 ? -T{0} : min_);
  } else if constexpr (kIsBytes) {
    if (order_ == BoundOrder::kFloat16 && HalfRank(HalfBits(min_.view())) == 0) return {"\x00\x80", 2};
    return min_.view();
  } else {
    return PlainValue(min_);
  }
}

template <typename T>
typename Bounds<T>::Bound Bounds<T>::max() const {
  if constexpr (std::is_floating_point_v<T>) {
    return PlainValue(max_ == 0 ? T{0} : max_);
  } else if constexpr (kIsBytes) {
    if (order_ == BoundOrder::kFloat16 && HalfRank(HalfBits(max_.view())) == 0) return {"\x00\x00", 2};
    return max_.view();
  } else {
    return PlainValue(max_);
  }
}

template <typename T>
int64_t CountNans(BoundOrder order, std::span<const T> values) {
  if (order != BoundOrder::kFloat && order != BoundOrder::kFloat16) return 0;
  int64_t count = 0;
  for (const T& value : values) count += IsNan(order, value) ? 1 : 0;
  return count;
}

namespace {

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// The largest size up to `limit` at which `text` has a whole number of code points.
size_t CodePointCut(std::string_view text, size_t limit) {
  size_t cut = limit;
  while (cut > 0 && limit - cut < 4 && IsContinuation(text[cut])) --cut;
  return cut;
}

/// Reads the last code point of `text` and where it begins; false when the text does not end in well-formed UTF-8.
bool LastCodePoint(std::string_view text, size_t* start, uint32_t* code_point) {
  size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 && IsContinuation(text[begin])) --begin;
  const auto lead = static_cast<uint8_t>(text[begin]);
  const int length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (static_cast<size_t>(length) != text.size() - begin) return false;
  uint32_t value = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (size_t i = begin + 1; i < text.size(); ++i) value = value << 6 | (static_cast<uint8_t>(text[i]) & 0x3F);
  *start = begin;
  *code_point = value;
  return true;
}

void AppendCodePoint(uint32_t value, std::string* out) {
  if (value < 0x80) {
    out->push_back(static_cast<char>(value));
    return;
  }
  const int following = value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
  out->push_back(static_cast<char>((0xFF00u >> (following + 1) & 0xFF) | value >> (6 * following)));
  for (int i = following - 1; i >= 0; --i) out->push_back(static_cast<char>(0x80 | (value >> (6 * i) & 0x3F)));
}

/// Makes `text` a larger text that is no longer, by the last code point that has a successor.
bool IncrementText(std::string* text) {
  constexpr uint32_t kFirstSurrogate = 0xD800, kAfterSurrogates = 0xE000, kLast = 0x10FFFF;
  const auto grows = [](uint32_t value) { return value == 0x7F || value == 0x7FF || value == 0xFFFF; };
  while (!text->empty()) {
    size_t start;
    uint32_t code_point;
    if (!LastCodePoint(*text, &start, &code_point)) return false;
    text->resize(start);
    if (code_point >= kLast || grows(code_point)) continue;
    AppendCodePoint(code_point + 1 == kFirstSurrogate ? kAfterSurrogates : code_point + 1, text);
    return true;
  }
  return false;
}

bool IncrementBytes(std::string* bytes) {
  while (!bytes->empty() && static_cast<uint8_t>(bytes->back()) == 0xFF) bytes->pop_back();
  if (bytes->empty()) return false;
  bytes->back() = static_cast<char>(static_cast<uint8_t>(bytes->back()) + 1);
  return true;
}

}  // namespace

void SetBounds(const SchemaElement& element, std::string_view min, std::string_view max, Statistics* statistics) {
  const LogicalType::Kind kind = element.logical_type.kind;
  const bool is_text = kind == LogicalType::Kind::kString || kind == LogicalType::Kind::kEnum;
  const bool can_cut = element.type == PhysicalType::kByteArray && (is_text || kind == LogicalType::Kind::kNone);
  const auto cut = [&](std::string_view bound) {
    return std::string(bound.substr(0, is_text ? CodePointCut(bound, kLongestBound) : kLongestBound));
  };
  const bool min_exact = min.size() <= kLongestBound, max_exact = max.size() <= kLongestBound;
  std::string lower = min_exact ? std::string(min) : can_cut ? cut(min) : std::string();
  if (min_exact || !lower.empty()) {
    statistics->min_value = std::move(lower);
    statistics->is_min_value_exact = min_exact;
  }
  std::string upper = max_exact ? std::string(max) : can_cut ? cut(max) : std::string();
  if (max_exact || (!upper.empty() && (is_text ? IncrementText(&upper) : IncrementBytes(&upper)))) {
    statistics->max_value = std::move(upper);
    statistics->is_max_value_exact = max_exact;
  }
}

template class Bounds<uint8_t>;
template class Bounds<int32_t>;
template class Bounds<int64_t>;
template class Bounds<float>;
template class Bounds<double>;
template class Bounds<std::string_view>;
template int64_t CountNans(BoundOrder, std::span<const uint8_t>);
template int64_t CountNans(BoundOrder, std::span<const int32_t>);
template int64_t CountNans(BoundOrder, std::span<const int64_t>);
template int64_t CountNans(BoundOrder, std::span<const float>);
template int64_t CountNans(BoundOrder, std::span<const double>);
template int64_t CountNans(BoundOrder, std::span<const std::string_view>);

}  // namespace calve::parquet
