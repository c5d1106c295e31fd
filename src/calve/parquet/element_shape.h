#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace calve::parquet {

/// What an element says of the values under it, its name and place in the tree left aside.
struct ElementShape {
  int32_t type = -1;  ///< -1: a group
  int32_t type_length = 0, repetition = 0, converted_type = -1, scale = 0, precision = 0;
  std::string_view logical_type;
  bool has_several = false;  ///< logical types: a damaged footer

  bool operator==(const ElementShape&) const = default;
};

/// Checks the types of elements. Columns are many and their types few: a shape that was found right lately is not
/// checked again.
class ShapeChecker {
 public:
  /// `element`: the bytes from the start of the SchemaElement on.
  bool Check(const ElementShape& shape, std::span<const uint8_t> element);

 private:
  static constexpr int kKnownBits = 6;
  static size_t HashOf(const ElementShape& shape);

  std::array<std::optional<ElementShape>, size_t{1} << kKnownBits> known_;
};

}  // namespace calve::parquet
