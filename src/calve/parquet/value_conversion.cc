#include "calve/parquet/value_conversion.h"

#include "calve/array/array_data.h"
#include "calve/base/status.h"
#include "calve/simd/level_bits.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include <array>

namespace calve::parquet {
namespace {

using arrow::Buffer;
using BufferResult = Result<std::shared_ptr<Buffer>>;
template <size_t kWords>
using Words = std::array<uint64_t, kWords>;

constexpr int64_t kJulianDayOfEpoch = 2440588;
constexpr int64_t kSecondsPerDay = 86400;

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY) {
    return StorageOf(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  if (type.id() != arrow::Type::EXTENSION) return type;
  return *static_cast<const arrow::ExtensionType&>(type).storage_type();
}

bool IsNull(const LeafBatch& batch, int64_t i) {
  return batch.validity != nullptr && !arrow::bit_util::GetBit(batch.validity->data(), i);
}

template <typename T>
T ValueAt(const uint8_t* values, int64_t i) {
  T value;
  std::memcpy(&value, values + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void Put(const T& value, int64_t i, uint8_t* out) {
  std::memcpy(out + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Unsigned values are also accepted sign-extended, as some writers store them.
template <typename T>
bool FitsIn(int32_t value) {
  using Signed = std::make_signed_t<T>;
  return value == static_cast<T>(value) || (std::is_unsigned_v<T> && value == static_cast<Signed>(value));
}

template <typename T>
Status Narrow(const ValueConversion&, const uint8_t* in, int64_t count, uint8_t* out) {
  bool fits = true;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = ValueAt<int32_t>(in, i);
    fits &= FitsIn<T>(value);
    Put(static_cast<T>(value), i, out);
  }
  for (int64_t i = 0; !fits && i < count; ++i) {
    const auto value = ValueAt<int32_t>(in, i);
    if (!FitsIn<T>(value)) return Invalid("value {} does not fit an INTEGER of {} bits", value, sizeof(T) * 8);
  }
  return Status::OK();
}

Status Int96(const ValueConversion& conversion, const uint8_t* in, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) Put(Int96ToTimestamp(in + i * 12, conversion.unit), i, out);
  return Status::OK();
}

/// Sign-extends an integer to a little-endian number of kWords 64-bit words.
template <size_t kWords>
Words<kWords> Extend(int64_t value) {
  Words<kWords> words;
  words.fill(value < 0 ? ~uint64_t{0} : 0);
  words[0] = static_cast<uint64_t>(value);
  return words;
}

template <typename T, size_t kWords>
Status ExtendAll(const ValueConversion&, const uint8_t* in, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) Put(Extend<kWords>(ValueAt<T>(in, i)), i, out);
  return Status::OK();
}

/// A big-endian two's complement number of any length but 0; false when it needs more than kWords words.
template <size_t kWords>
bool FromBigEndian(const uint8_t* bytes, int64_t size, Words<kWords>* out) {
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

template <size_t kWords>
Status DoesNotFit(int64_t size) {
  if (size == 0) return Invalid("a decimal of no bytes");
  return Invalid("a decimal of {} bytes does not fit {} bits", size, kWords * 64);
}

uint64_t BigEndianWord(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return __builtin_bswap64(word);
}

/// Nine to sixteen bytes: the last eight, and the first eight without those.
Words<2> TwoWords(const uint8_t* bytes, int width) {
  const auto high = static_cast<int64_t>(BigEndianWord(bytes)) >> (128 - 8 * width);
  return {BigEndianWord(bytes + width - 8), static_cast<uint64_t>(high)};
}

template <size_t kWords>
Status FixedDecimals(const ValueConversion& conversion, const uint8_t* in, int64_t count, uint8_t* out) {
  const int64_t width = conversion.in_width;
  if (kWords == 2 && width > 8 && width <= 16) {
    for (int64_t i = 0; i < count; ++i) Put(TwoWords(in + i * width, static_cast<int>(width)), i, out);
    return Status::OK();
  }
  // Up to eight bytes are the upper ones of a word that begins with them; the last values have no such word.
  int64_t i = 0;
  if (width > 0 && width <= 8) {
    for (; (count - i) * width >= 8; ++i) {
      const auto value = static_cast<int64_t>(BigEndianWord(in + i * width)) >> (64 - 8 * width);
      Put(Extend<kWords>(value), i, out);
    }
  }
  for (; i < count; ++i) {
    Words<kWords> words{};
    if (width == 0 || !FromBigEndian(in + i * width, width, &words)) return DoesNotFit<kWords>(width);
    Put(words, i, out);
  }
  return Status::OK();
}

template <size_t kWords>
ValueConversion DecimalConversion(const SchemaElement& element, int64_t width) {
  switch (*element.type) {
    case PhysicalType::kInt32:
      return {width, kWords * 8, &ExtendAll<int32_t, kWords>, {}};
    case PhysicalType::kInt64:
      return {width, kWords * 8, &ExtendAll<int64_t, kWords>, {}};
    case PhysicalType::kFixedLenByteArray:
      return {width, kWords * 8, &FixedDecimals<kWords>, {}};
    default:
      return {width, width, nullptr, {}};
  }
}

template <size_t kWords>
BufferResult DecimalsOfByteArrays(const LeafBatch& batch, arrow::MemoryPool* pool) {
  constexpr int64_t kWidth = kWords * 8;
  ByteBuffer out(pool);
  ARROW_RETURN_NOT_OK(out.Resize(batch.slots * kWidth));
  const auto* offsets = batch.offsets->data_as<int32_t>();
  for (int64_t i = 0; i < batch.slots; ++i) {
    Words<kWords> words{};
    if (!IsNull(batch, i)) {
      const int64_t size = offsets[i + 1] - offsets[i];
      if (size == 0 || !FromBigEndian(batch.values->data() + offsets[i], size, &words)) return DoesNotFit<kWords>(size);
    }
    Put(words, i, out.data());
  }
  return out.Finish();
}

BufferResult PackBooleans(const LeafBatch& batch, arrow::MemoryPool* pool) {
  PoolVector<uint64_t> words(pool);
  ARROW_RETURN_NOT_OK(words.Resize((batch.slots + 63) / 64));
  simd::BitsAtLeast(batch.values->data(), static_cast<size_t>(batch.slots), 1, words.data());
  return words.Finish();
}

BufferResult FinishValues(const arrow::DataType& storage, const LeafBatch& batch, arrow::MemoryPool* pool) {
  switch (storage.id()) {
    case arrow::Type::BOOL:
      return PackBooleans(batch, pool);
    case arrow::Type::DECIMAL128:
      return batch.offsets != nullptr ? DecimalsOfByteArrays<2>(batch, pool) : batch.values;
    case arrow::Type::DECIMAL256:
      return batch.offsets != nullptr ? DecimalsOfByteArrays<4>(batch, pool) : batch.values;
    default:
      return batch.values;
  }
}

int64_t TicksPerSecond(arrow::TimeUnit::type unit) {
  constexpr int64_t kTicks[] = {1, 1'000, 1'000'000, 1'000'000'000};
  return kTicks[unit];
}

}  // namespace

int64_t Int96ToTimestamp(const uint8_t* bytes, arrow::TimeUnit::type unit) {
  int64_t nanos = 0;
  int32_t day = 0;
  std::memcpy(&nanos, bytes, 8);
  std::memcpy(&day, bytes + 8, 4);
  const int64_t per_second = TicksPerSecond(unit);
  const uint64_t days = static_cast<uint64_t>(int64_t{day} - kJulianDayOfEpoch);
  const int64_t of_day = nanos / (TicksPerSecond(arrow::TimeUnit::NANO) / per_second);
  return static_cast<int64_t>(days * static_cast<uint64_t>(kSecondsPerDay * per_second) +
                              static_cast<uint64_t>(of_day));
}

ValueConversion ConversionOf(const SchemaElement& element, const arrow::DataType& type) {
  const int64_t width = ValueWidth(*element.type, element.type_length);
  const arrow::DataType& storage = StorageOf(type);
  switch (storage.id()) {
    case arrow::Type::INT8:
      return {width, 1, &Narrow<int8_t>, {}};
    case arrow::Type::UINT8:
      return {width, 1, &Narrow<uint8_t>, {}};
    case arrow::Type::INT16:
      return {width, 2, &Narrow<int16_t>, {}};
    case arrow::Type::UINT16:
      return {width, 2, &Narrow<uint16_t>, {}};
    case arrow::Type::DECIMAL128:
      return DecimalConversion<2>(element, width);
    case arrow::Type::DECIMAL256:
      return DecimalConversion<4>(element, width);
    case arrow::Type::TIMESTAMP:
      if (*element.type == PhysicalType::kInt96) {
        return {width, 8, &Int96, static_cast<const arrow::TimestampType&>(storage).unit()};
      }
      break;
    default:
      break;
  }
  return {width, width, nullptr, {}};
}

Result<std::shared_ptr<Buffer>> WideOffsets(const int32_t* offsets, int64_t count, arrow::MemoryPool* pool) {
  PoolVector<int64_t> wide(pool);
  ARROW_RETURN_NOT_OK(wide.Resize(count));
  std::copy(offsets, offsets + count, wide.data());
  return wide.Finish();
}

Result<std::shared_ptr<arrow::ArrayData>> ConvertLeaf(const std::shared_ptr<arrow::DataType>& type, LeafBatch batch,
                                                      arrow::MemoryPool* pool) {
  if (type->id() == arrow::Type::DICTIONARY) {
    auto indices = NewArrayData(type, batch.slots, {batch.validity, batch.values}, batch.null_count);
    indices->dictionary = std::move(batch.dictionary);
    return indices;
  }
  const arrow::DataType& storage = StorageOf(*type);
  if (storage.id() == arrow::Type::NA) {
    if (batch.null_count != batch.slots) return Invalid("a value in a column of type UNKNOWN, which holds nulls only");
    return NewArrayData(type, batch.slots, {nullptr}, batch.slots);
  }
  if (arrow::is_binary_view_like(storage.id())) {
    auto views = NewArrayData(type, batch.slots, {batch.validity, batch.values}, batch.null_count);
    for (auto& buffer : batch.view_buffers) views->buffers.push_back(std::move(buffer));
    return views;
  }
  if (arrow::is_base_binary_like(storage.id())) {
    if (arrow::is_large_binary_like(storage.id())) {
      ARROW_ASSIGN_OR_RAISE(batch.offsets, WideOffsets(batch.offsets->data_as<int32_t>(), batch.slots + 1, pool));
    }
    return NewArrayData(type, batch.slots, {batch.validity, batch.offsets, batch.values}, batch.null_count);
  }
  ARROW_ASSIGN_OR_RAISE(auto values, FinishValues(storage, batch, pool));
  return NewArrayData(type, batch.slots, {batch.validity, std::move(values)}, batch.null_count);
}

}  // namespace calve::parquet
