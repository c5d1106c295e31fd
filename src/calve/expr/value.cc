#include "calve/expr/value.h"

#include <bit>
#include <cmath>
#include <functional>
#include <string_view>
#include <type_traits>

namespace calve {
namespace {

/// The bits by which values of one alternative are told apart: all NaNs are one, -0.0 is not 0.0.
uint64_t BitsOf(float value) { return std::isnan(value) ? 0x7fc00000u : std::bit_cast<uint32_t>(value); }
uint64_t BitsOf(double value) { return std::isnan(value) ? 0x7ff8000000000000u : std::bit_cast<uint64_t>(value); }

size_t Mix(size_t seed, uint64_t bits) {
  uint64_t mixed = (seed ^ bits) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(mixed ^ (mixed >> 32));
}

}  // namespace

bool IsNaN(const Value& value) {
  if (const auto* number = std::get_if<float>(&value)) return std::isnan(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::isnan(*number);
  return false;
}

std::partial_ordering Compare(const Value& left, const Value& right) {
  if (left.index() != right.index()) return std::partial_ordering::unordered;
  return std::visit(
      [&right](const auto& a) -> std::partial_ordering {
        using T = std::decay_t<decltype(a)>;
        const T& b = std::get<T>(right);
        if constexpr (std::is_same_v<T, std::monostate>) {
          return std::partial_ordering::unordered;
        } else if constexpr (std::is_same_v<T, std::string>) {
          return std::string_view(a).compare(b) <=> 0;
        } else if constexpr (std::is_same_v<T, arrow::Decimal128>) {
          if (a == b) return std::partial_ordering::equivalent;
          return a < b ? std::partial_ordering::less : std::partial_ordering::greater;
        } else {
          return a <=> b;
        }
      },
      left);
}

bool SameValue(const Value& left, const Value& right) {
  if (left.index() != right.index()) return false;
  return std::visit(
      [&right](const auto& a) {
        using T = std::decay_t<decltype(a)>;
        const T& b = std::get<T>(right);
        if constexpr (std::is_floating_point_v<T>) {
          return BitsOf(a) == BitsOf(b);
        } else {
          return a == b;
        }
      },
      left);
}

size_t HashValue(const Value& value) {
  const size_t seed = value.index();
  return std::visit(
      [seed](const auto& a) -> size_t {
        using T = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return Mix(seed, 0);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return Mix(seed, std::hash<std::string>{}(a));
        } else if constexpr (std::is_same_v<T, arrow::Decimal128>) {
          return Mix(Mix(seed, static_cast<uint64_t>(a.high_bits())), a.low_bits());
        } else if constexpr (std::is_floating_point_v<T>) {
          return Mix(seed, BitsOf(a));
        } else {
          return Mix(seed, static_cast<uint64_t>(a));
        }
      },
      value);
}

}  // namespace calve
