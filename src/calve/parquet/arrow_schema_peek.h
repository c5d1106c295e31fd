#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace calve::parquet {

/// Looks into the value of "ARROW:schema" without decoding it, so that one column of ten thousand does not pay for all
/// of them. Not owning. What cannot be made out is left to ParseArrowSchema.
class ArrowSchemaPeek {
 public:
  explicit ArrowSchemaPeek(std::string_view base64);

  /// True when HonourArrowSchema would change nothing about top-level field `i`: it is of types that Parquet holds by
  /// itself, and has no metadata.
  bool IsPlain(size_t i);

 private:
  /// A table of the flatbuffer: where it and its vtable begin.
  struct Table {
    uint32_t begin = 0, vtable = 0, vtable_size = 0;
  };

  uint8_t Byte(uint64_t at);
  uint64_t Number(uint64_t at, int size);
  Table TableAt(uint64_t at);
  std::optional<uint64_t> Member(const Table& table, int number);
  std::optional<uint64_t> Offset(const Table& table, int number);
  bool IsPlainField(const Table& field, int depth);
  bool IsPlainType(const Table& field, int depth);
  bool HasPlainChildren(const Table& field, int depth);

  std::string_view text_;
  uint64_t size_ = 0;    ///< of the bytes that the text stands for
  uint64_t origin_ = 0;  ///< where the flatbuffer begins
  uint64_t fields_ = 0, fields_count_ = 0;
  size_t budget_;
  bool ok_ = true;
};

}  // namespace calve::parquet
