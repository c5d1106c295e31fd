#include "calve/parquet/value_conversion.h"

#include "calve/base/status.h"

#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include <array>

namespace calve::parquet {
namespace {

using arrow::Buffer;
using BufferResult = Result<std::shared_ptr<Buffer>>;

constexpr int64_t kJulianDayOfEpoch = 2440588;
constexpr int64_t kMicrosPerDay = int64_t{86400} * 1000 * 1000;

bool IsNull(const LeafBatch& batch, int64_t i) {
  return batch.validity != nullptr && !arrow::bit_util::GetBit(batch.validity->data(), i);
}

template <typename T>
T ValueAt(const uint8_t* values, int64_t i) {
  T value;
  std::memcpy(&value, values + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

BufferResult PackBooleans(const LeafBatch& batch, arrow::MemoryPool* pool) {
  const int64_t size = arrow::bit_util::BytesForBits(batch.slots);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<Buffer> out, arrow::AllocateBuffer(size, pool));
  std::memset(out->mutable_data(), 0, static_cast<size_t>(size));
  const uint8_t* values = batch.values->data();
  for (int64_t i = 0; i < batch.slots; ++i) {
    out->mutable_data()[i / 8] = static_cast<uint8_t>(out->mutable_data()[i / 8] | values[i] << (i % 8));
  }
  return out;
}

/// Unsigned values are also accepted sign-extended, as some writers store them.
template <typename T>
bool FitsIn(int32_t value) {
  using Signed = std::make_signed_t<T>;
  return value == static_cast<T>(value) || (std::is_unsigned_v<T> && value == static_cast<Signed>(value));
}

template <typename T>
BufferResult Narrow(const LeafBatch& batch, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<Buffer> out, arrow::AllocateBuffer(batch.slots * sizeof(T), pool));
  auto* values = out->mutable_data_as<T>();
  for (int64_t i = 0; i < batch.slots; ++i) {
    const int32_t value = ValueAt<int32_t>(batch.values->data(), i);
    if (!FitsIn<T>(value)) return Invalid("value {} does not fit an INTEGER of {} bits", value, sizeof(T) * 8);
    values[i] = static_cast<T>(value);
  }
  return out;
}

BufferResult Int96Micros(const LeafBatch& batch, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<Buffer> out, arrow::AllocateBuffer(batch.slots * 8, pool));
  for (int64_t i = 0; i < batch.slots; ++i) {
    out->mutable_data_as<int64_t>()[i] = IsNull(batch, i) ? 0 : Int96ToMicros(batch.values->data() + i * 12);
  }
  return out;
}

/// Sign-extends a little-endian integer to a decimal of kWords 64-bit words.
template <size_t kWords>
std::array<uint64_t, kWords> Extend(int64_t value) {
  std::array<uint64_t, kWords> words;
  words.fill(value < 0 ? ~uint64_t{0} : 0);
  words[0] = static_cast<uint64_t>(value);
  return words;
}

/// A big-endian two's complement number of any length; false when it needs more than kWords words.
template <size_t kWords>
bool FromBigEndian(const uint8_t* bytes, int64_t size, std::array<uint64_t, kWords>* out) {
  constexpr int64_t kBytes = kWords * 8;
  const uint8_t sign = (bytes[0] & 0x80) != 0 ? 0xff : 0;
  for (; size > kBytes; --size, ++bytes) {
    if (bytes[0] != sign || ((bytes[1] ^ sign) & 0x80) != 0) return false;
  }
  out->fill(sign == 0 ? 0 : ~uint64_t{0});
  for (int64_t i = 0; i < size; ++i) {
    const int64_t shift = (i % 8) * 8;
    uint64_t& word = (*out)[i / 8];
    word = (word & ~(uint64_t{0xff} << shift)) | static_cast<uint64_t>(bytes[size - 1 - i]) << shift;
  }
  return true;
}

/// The bytes of value `i` of a decimal that is stored as bytes.
std::span<const uint8_t> DecimalBytes(const LeafColumn& leaf, const LeafBatch& batch, int64_t i) {
  const uint8_t* values = batch.values->data();
  if (batch.offsets == nullptr) {
    const size_t width = static_cast<size_t>(leaf.element.type_length);
    return {values + static_cast<size_t>(i) * width, width};
  }
  const auto* offsets = batch.offsets->data_as<int32_t>();
  return {values + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
}

template <size_t kWords>
BufferResult Decimals(const LeafColumn& leaf, const LeafBatch& batch, arrow::MemoryPool* pool) {
  using Words = std::array<uint64_t, kWords>;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<Buffer> out, arrow::AllocateBuffer(batch.slots * sizeof(Words), pool));
  for (int64_t i = 0; i < batch.slots; ++i) {
    Words words{};
    if (!IsNull(batch, i)) {
      if (leaf.element.type == PhysicalType::kInt32) {
        words = Extend<kWords>(ValueAt<int32_t>(batch.values->data(), i));
      } else if (leaf.element.type == PhysicalType::kInt64) {
        words = Extend<kWords>(ValueAt<int64_t>(batch.values->data(), i));
      } else {
        const auto bytes = DecimalBytes(leaf, batch, i);
        if (bytes.empty()) return Invalid("a decimal of no bytes");
        if (!FromBigEndian(bytes.data(), static_cast<int64_t>(bytes.size()), &words)) {
          return Invalid("a decimal of {} bytes does not fit {} bits", bytes.size(), kWords * 64);
        }
      }
    }
    std::memcpy(out->mutable_data() + i * static_cast<int64_t>(sizeof(Words)), words.data(), sizeof(Words));
  }
  return out;
}

BufferResult ConvertFixed(const LeafColumn& leaf, arrow::Type::type type, const LeafBatch& batch,
                          arrow::MemoryPool* pool) {
  switch (type) {
    case arrow::Type::BOOL:
      return PackBooleans(batch, pool);
    case arrow::Type::INT8:
      return Narrow<int8_t>(batch, pool);
    case arrow::Type::UINT8:
      return Narrow<uint8_t>(batch, pool);
    case arrow::Type::INT16:
      return Narrow<int16_t>(batch, pool);
    case arrow::Type::UINT16:
      return Narrow<uint16_t>(batch, pool);
    case arrow::Type::DECIMAL128:
      return Decimals<2>(leaf, batch, pool);
    case arrow::Type::DECIMAL256:
      return Decimals<4>(leaf, batch, pool);
    default:
      break;
  }
  return leaf.element.type == PhysicalType::kInt96 ? Int96Micros(batch, pool) : batch.values;
}

}  // namespace

int64_t Int96ToMicros(const uint8_t* bytes) {
  int64_t nanos = 0;
  int32_t day = 0;
  std::memcpy(&nanos, bytes, 8);
  std::memcpy(&day, bytes + 8, 4);
  const uint64_t days = static_cast<uint64_t>(int64_t{day} - kJulianDayOfEpoch);
  return static_cast<int64_t>(days * static_cast<uint64_t>(kMicrosPerDay) + static_cast<uint64_t>(nanos / 1000));
}

Result<std::shared_ptr<arrow::ArrayData>> ConvertLeaf(const LeafColumn& leaf,
                                                      const std::shared_ptr<arrow::DataType>& type, LeafBatch batch,
                                                      arrow::MemoryPool* pool) {
  if (type->id() == arrow::Type::NA) {
    if (batch.null_count != batch.slots) return Invalid("a value in a column of type UNKNOWN, which holds nulls only");
    return arrow::ArrayData::Make(type, batch.slots, {nullptr}, batch.slots);
  }
  if (arrow::is_base_binary_like(type->id())) {
    return arrow::ArrayData::Make(type, batch.slots, {batch.validity, batch.offsets, batch.values}, batch.null_count);
  }
  ARROW_ASSIGN_OR_RAISE(auto values, ConvertFixed(leaf, type->id(), batch, pool));
  return arrow::ArrayData::Make(type, batch.slots, {batch.validity, std::move(values)}, batch.null_count);
}

}  // namespace calve::parquet
