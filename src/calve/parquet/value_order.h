#pragma once

#include "calve/parquet/metadata.h"

#include <string>
#include <string_view>

namespace calve::parquet {

/// How the values of a column compare under TYPE_ORDER, over their PLAIN bytes (without a length before them), straight
/// from the specification. Kept apart from what the writer uses, so that one can be held against the other.
class ValueOrder {
 public:
  explicit ValueOrder(const SchemaElement& element);

  /// False: undefined (INT96, INTERVAL, geometries, variants), or a type whose order is not known.
  bool is_defined() const { return compare_ != nullptr; }
  /// Bytes that a value has; 0: any number.
  size_t width() const { return width_; }
  /// Below, at or above 0. Both are of width(), and no NaN.
  int Compare(std::string_view a, std::string_view b) const { return compare_(a, b); }
  bool IsNan(std::string_view value) const { return is_nan_ != nullptr && is_nan_(value); }
  bool has_nans() const { return is_nan_ != nullptr; }
  /// True when the deprecated `min` and `max`, which were compared signed, follow this order.
  bool is_signed() const { return is_signed_; }
  /// True for text, whose values and bounds are UTF-8.
  bool is_text() const { return is_text_; }
  /// A value for people: a number, quoted text, or hexadecimal digits, cut where it is long.
  std::string Text(std::string_view value) const;

 private:
  void SetBinary(const SchemaElement& element);

  int (*compare_)(std::string_view, std::string_view) = nullptr;
  bool (*is_nan_)(std::string_view) = nullptr;
  std::string (*text_)(std::string_view) = nullptr;
  size_t width_ = 0;
  bool is_signed_ = false, is_text_ = false;
};

}  // namespace calve::parquet
