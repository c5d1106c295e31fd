#pragma once

#include "calve/parquet/pool_vector.h"
#include "calve/parquet/statistics.h"
#include "calve/parquet/value_slots.h"

#include <arrow/array/data.h>

#include <cstdint>
#include <string_view>

namespace calve::parquet {

/// Writes byte arrays in PLAIN straight from where an array has them: strings and binary with offsets, fixed-size
/// binary, decimals of 128 bits as FIXED_LEN_BYTE_ARRAY.
class PlainGatherer {
 public:
  /// `element` outlives the gatherer.
  explicit PlainGatherer(const SchemaElement* element) : element_(element), order_(BoundOrderOf(*element)) {}

  /// Takes the leaf's array. False when it has to be gathered value by value.
  bool Bind(const arrow::ArrayData& array);
  /// Bytes of the values in PLAIN.
  int64_t Bytes(const ValueSlots& slots) const;
  /// Appends the values, `bytes` (of Bytes) in all, and adds them to `bounds`. Invalid when one does not fit.
  Status Append(const ValueSlots& slots, int64_t bytes, ByteBuffer* out, Bounds<std::string_view>* bounds) const;

 private:
  template <typename Offset>
  int64_t TextBytes(const ValueSlots& slots) const;
  template <typename Offset>
  void AppendText(const ValueSlots& slots, uint8_t* out, Bounds<std::string_view>* bounds) const;
  void AppendFixed(const ValueSlots& slots, uint8_t* out, Bounds<std::string_view>* bounds) const;
  Status AppendDecimals(const ValueSlots& slots, uint8_t* out, Bounds<std::string_view>* bounds) const;

  const SchemaElement* element_;
  const BoundOrder order_;
  const arrow::ArrayData* array_ = nullptr;
};

}  // namespace calve::parquet
