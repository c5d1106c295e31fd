// PLAIN ("PLAIN = 0" in Encodings.md):
//
//   BYTE_ARRAY              (u32 length, bytes)*
//   FIXED_LEN_BYTE_ARRAY    bytes*;  a decimal's are big-endian two's complement

#include "calve/parquet/plain_gatherer.h"

#include "calve/base/status.h"
#include "calve/parquet/byte_bounds.h"
#include "calve/simd/compact.h"

#include <arrow/type.h>

#include <array>

namespace calve::parquet {
namespace {

using arrow::Type;

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

void UpdateBounds(const ByteBounds& more, Bounds<std::string_view>* bounds) {
  if (more.empty()) return;
  const std::array<std::string_view, 2> both = {more.min(), more.max()};
  bounds->Update(both);
}

/// Up to so many bytes are copied as if they were so many.
constexpr int64_t kShortBytes = 16;

void StoreBigEndian(Wide value, uint8_t* out) {
  const uint64_t words[2] = {__builtin_bswap64(static_cast<uint64_t>(static_cast<UnsignedWide>(value) >> 64)),
                             __builtin_bswap64(static_cast<uint64_t>(value))};
  std::memcpy(out, static_cast<const void*>(words), sizeof(words));
}

}  // namespace

bool PlainGatherer::Bind(const arrow::ArrayData& array) {
  array_ = nullptr;
  switch (array.type->id()) {
    case Type::STRING:
    case Type::BINARY:
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      if (element_->type != PhysicalType::kByteArray) return false;
      break;
    case Type::FIXED_SIZE_BINARY:
      if (order_ != BoundOrder::kBytes && order_ != BoundOrder::kNone) return false;
      if (array.type->byte_width() != element_->type_length) return false;
      break;
    case Type::DECIMAL128:
      if (element_->type != PhysicalType::kFixedLenByteArray) return false;
      break;
    default:
      return false;
  }
  array_ = &array;
  return true;
}

int64_t PlainGatherer::Bytes(const ValueSlots& slots) const {
  switch (array_->type->id()) {
    case Type::STRING:
    case Type::BINARY:
      return TextBytes<int32_t>(slots);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return TextBytes<int64_t>(slots);
    default:
      return slots.count * element_->type_length;
  }
}

Status PlainGatherer::Append(const ValueSlots& slots, int64_t bytes, ByteBuffer* out,
                             Bounds<std::string_view>* bounds) const {
  if (slots.count == 0) return Status::OK();
  ARROW_RETURN_NOT_OK(out->Reserve(bytes));
  uint8_t* const begin = out->data() + out->size();
  switch (array_->type->id()) {
    case Type::STRING:
    case Type::BINARY:
      AppendText<int32_t>(slots, begin, bounds);
      break;
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      AppendText<int64_t>(slots, begin, bounds);
      break;
    case Type::DECIMAL128:
      ARROW_RETURN_NOT_OK(AppendDecimals(slots, begin, bounds));
      break;
    default:
      AppendFixed(slots, begin, bounds);
      break;
  }
  out->UnsafeResize(out->size() + bytes);
  return Status::OK();
}

template <typename Offset>
int64_t PlainGatherer::TextBytes(const ValueSlots& slots) const {
  const Offset* offsets = array_->GetValues<Offset>(1);
  int64_t bytes = slots.count * static_cast<int64_t>(sizeof(uint32_t));
  if (slots.bits != nullptr) {
    ForEachValue(slots, [&](int64_t i) { bytes += offsets[i + 1] - offsets[i]; });
    return bytes;
  }
  for (const SlotRange& range : slots.ranges) bytes += offsets[range.start + range.length] - offsets[range.start];
  return bytes;
}

template <typename Offset>
void PlainGatherer::AppendText(const ValueSlots& slots, uint8_t* out, Bounds<std::string_view>* bounds) const {
  const Offset* offsets = array_->GetValues<Offset>(1);
  const auto& buffer = array_->buffers[2];
  const uint8_t* bytes = buffer != nullptr ? buffer->data() : nullptr;
  const int64_t last_short = (buffer != nullptr ? buffer->size() : 0) - kShortBytes;
  ByteBounds more;
  ForEachValue(slots, [&](int64_t i) {
    const int64_t start = offsets[i];
    const auto length = static_cast<uint32_t>(offsets[i + 1] - offsets[i]);
    std::memcpy(out, &length, sizeof(length));
    out += sizeof(length);
    if (length <= kShortBytes && start <= last_short) {
      std::memcpy(out, bytes + start, kShortBytes);
    } else if (length > 0) {
      std::memcpy(out, bytes + start, length);
    }
    if (order_ == BoundOrder::kBytes) more.Add({reinterpret_cast<const char*>(out), length});
    out += length;
  });
  UpdateBounds(more, bounds);
}

void PlainGatherer::AppendFixed(const ValueSlots& slots, uint8_t* out, Bounds<std::string_view>* bounds) const {
  const int64_t width = element_->type_length;
  const uint8_t* values = array_->buffers[1]->data() + array_->offset * width;
  const uint8_t* const begin = out;
  int64_t bit = slots.bits_offset;
  for (const SlotRange& range : slots.ranges) {
    const uint8_t* first = values + range.start * width;
    if (slots.bits == nullptr) {
      std::memcpy(out, first, static_cast<size_t>(range.length * width));
      out += range.length * width;
      continue;
    }
    out += static_cast<int64_t>(simd::Compact(first, static_cast<size_t>(width), slots.bits, static_cast<size_t>(bit),
                                              static_cast<size_t>(range.length), out)) *
           width;
    bit += range.length;
  }
  if (order_ != BoundOrder::kBytes) return;
  ByteBounds more;
  for (const uint8_t* value = begin; value < out; value += width) {
    more.Add({reinterpret_cast<const char*>(value), static_cast<size_t>(width)});
  }
  UpdateBounds(more, bounds);
}

Status PlainGatherer::AppendDecimals(const ValueSlots& slots, uint8_t* out, Bounds<std::string_view>* bounds) const {
  const int64_t width = element_->type_length;
  const auto unused_bits = static_cast<int>(8 * (sizeof(Wide) - static_cast<size_t>(width)));
  const uint8_t* values = array_->buffers[1]->data() + array_->offset * static_cast<int64_t>(sizeof(Wide));
  Wide min = 0, max = 0;
  bool first = true, fits = true;
  ForEachValue(slots, [&](int64_t i) {
    Wide value;
    std::memcpy(&value, values + i * static_cast<int64_t>(sizeof(value)), sizeof(value));
    const auto shifted = static_cast<Wide>(static_cast<UnsignedWide>(value) << unused_bits);
    fits &= shifted >> unused_bits == value;
    // What is written behind the value is overwritten by the next one.
    StoreBigEndian(shifted, out);
    out += width;
    if (first || value < min) min = value;
    if (first || value > max) max = value;
    first = false;
  });
  if (!fits) return Invalid("a value has more digits than {} allows", array_->type->ToString());
  std::array<uint8_t, 2 * sizeof(Wide)> bytes;
  StoreBigEndian(static_cast<Wide>(static_cast<UnsignedWide>(min) << unused_bits), bytes.data());
  StoreBigEndian(static_cast<Wide>(static_cast<UnsignedWide>(max) << unused_bits), bytes.data() + sizeof(Wide));
  const char* text = reinterpret_cast<const char*>(bytes.data());
  const std::array<std::string_view, 2> both = {std::string_view(text, static_cast<size_t>(width)),
                                                std::string_view(text + sizeof(Wide), static_cast<size_t>(width))};
  bounds->Update(both);
  return Status::OK();
}

}  // namespace calve::parquet
