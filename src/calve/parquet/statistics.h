#pragma once

#include "calve/parquet/byte_bounds.h"
#include "calve/parquet/metadata.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace calve::parquet {

/// How the values of a column compare ("ColumnOrder", TYPE_ORDER).
enum class BoundOrder {
  kNone,      ///< undefined: no bounds are kept
  kSigned,    ///< integers, booleans
  kUnsigned,  ///< unsigned integers
  kFloat,     ///< NaN left out; a zero minimum is -0.0, a zero maximum +0.0
  kFloat16,   ///< the same for FIXED_LEN_BYTE_ARRAY(2)
  kDecimal,   ///< big-endian two's complement, of one length
  kBytes,     ///< unsigned byte by byte
};

BoundOrder BoundOrderOf(const SchemaElement& element);

/// The smallest and largest of the values seen, in `order`. T as in ValueGatherer.
template <typename T>
class Bounds {
  static constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

 public:
  using Bound = std::conditional_t<kIsBytes, std::string_view, std::string>;

  explicit Bounds(BoundOrder order) : order_(order) {}

  void Update(std::span<const T> values);
  /// The same for values that stay where they are until Own(): long ones are not copied.
  void Refer(std::span<const T> values)
    requires kIsBytes;
  /// What `other` refers to stays, too.
  void Update(const Bounds& other);
  /// Copies what is referred to.
  void Own();
  void Reset() { has_values_ = false; }
  /// False: no value was seen, NaNs apart, or the order is undefined.
  bool has_values() const { return has_values_; }
  /// PLAIN, without a length before it. Valid until a value comes.
  Bound min() const;
  Bound max() const;

 private:
  using Kept = std::conditional_t<kIsBytes, KeptBytes, T>;
  template <typename Less>
  void UpdateBy(std::span<const T> values, Less&& less);
  void UpdateNumbers(std::span<const T> values)
    requires(std::is_arithmetic_v<T> && sizeof(T) >= 4);
  void UpdateBytes(std::string_view value, bool stays);

  const BoundOrder order_;
  bool has_values_ = false;
  Kept min_{}, max_{};
  size_t shared_ = 0;  ///< bytes that the two begin with alike, of kBytes
};

/// The number of NaNs; 0 for orders other than those of floating-point values.
template <typename T>
int64_t CountNans(BoundOrder order, std::span<const T> values);

/// Sets min_value and max_value of a column chunk from exact bounds. Those of byte arrays are cut to 64 bytes: a lower
/// bound stays one by that, an upper bound is incremented, and left out where that cannot be. Text is cut between code
/// points. Bounds that cannot be cut (of long fixed-length values, of JSON) are left out.
void SetBounds(const SchemaElement& element, std::string_view min, std::string_view max, Statistics* statistics);

}  // namespace calve::parquet
