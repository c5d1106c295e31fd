#pragma once

#include "calve/parquet/pool_vector.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet/value_slots.h"

#include <arrow/array/data.h>

#include <cstdint>
#include <string_view>

namespace calve::parquet {

/// Appends the values of `slots` of an array without dictionary, as the leaf's physical type has them, to `out`, which
/// has room for them. `bytes` holds what byte strings are converted to, and the views of those point there. Invalid
/// when a value does not fit.
Status CollectValues(const WrittenLeaf& leaf, const arrow::ArrayData& array, const ValueSlots& slots,
                     PoolVector<uint8_t>* out, ByteBuffer* bytes);
Status CollectValues(const WrittenLeaf& leaf, const arrow::ArrayData& array, const ValueSlots& slots,
                     PoolVector<int32_t>* out, ByteBuffer* bytes);
Status CollectValues(const WrittenLeaf& leaf, const arrow::ArrayData& array, const ValueSlots& slots,
                     PoolVector<int64_t>* out, ByteBuffer* bytes);
Status CollectValues(const WrittenLeaf& leaf, const arrow::ArrayData& array, const ValueSlots& slots,
                     PoolVector<float>* out, ByteBuffer* bytes);
Status CollectValues(const WrittenLeaf& leaf, const arrow::ArrayData& array, const ValueSlots& slots,
                     PoolVector<double>* out, ByteBuffer* bytes);
Status CollectValues(const WrittenLeaf& leaf, const arrow::ArrayData& array, const ValueSlots& slots,
                     PoolVector<std::string_view>* out, ByteBuffer* bytes);

}  // namespace calve::parquet
