#pragma once

#include <cstdint>
#include <optional>

namespace calve {

/// `a + b`, or nothing when it overflows T.
template <typename T>
std::optional<T> CheckedAdd(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// `a * b`, or nothing when it overflows T.
template <typename T>
std::optional<T> CheckedMultiply(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

}  // namespace calve
