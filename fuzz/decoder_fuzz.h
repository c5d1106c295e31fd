#pragma once

#include "calve/parquet/dictionary_decoder.h"
#include "calve/parquet/value_decoder.h"

#include <arrow/memory_pool.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calve::fuzz {

using namespace calve::parquet;  // NOLINT

/// What the first five bytes of an input choose; the rest are the encoded values, in memory of their exact size.
struct DecoderInput {
  static constexpr size_t kHeadBytes = 5;

  DecoderInput(const uint8_t* data, size_t size)
      : type(static_cast<PhysicalType>(data[0] % 8)),
        width(ValueWidth(type, data[1] % 32)),
        count(data[2] | data[3] << 8),
        step(data[4] % 70 + 1),
        bytes(new uint8_t[size - kHeadBytes]),
        values(bytes.get(), size - kHeadBytes) {
    std::copy(data + kHeadBytes, data + size, bytes.get());
  }

  PhysicalType type;
  int64_t width, count, step;
  std::unique_ptr<uint8_t[]> bytes;
  std::span<const uint8_t> values;
};

inline void Require(bool holds) {
  if (!holds) std::abort();
}

/// A dictionary of 21 values, of `width` bytes each or as byte arrays, those of `form`.
inline std::shared_ptr<const Dictionary> SomeDictionary(bool binary, int64_t width, ValueForm form) {
  constexpr int64_t kValues = 21;
  std::string bytes;
  for (int64_t i = 0; i < kValues; ++i) {
    const auto size = static_cast<uint32_t>(binary ? i % 40 : width);
    if (binary) bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes.append(size, static_cast<char>('a' + i));
  }
  LeafLayout layout;
  layout.binary = binary;
  layout.form = form;
  layout.conversion = {width, width, nullptr, {}};
  return MakeDictionary(layout, kValues, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                        arrow::default_memory_pool())
      .ValueOrDie();
}

/// The next `count` values to `out`, taken in place where the encoding has them so.
inline bool DecodeOrTake(FixedDecoder* decoder, int64_t count, int64_t width, uint8_t* out) {
  const auto taken = decoder->TakeInPlace(count);
  if (!taken.ok()) return false;
  if (*taken == nullptr) return decoder->Decode(count, out).ok();
  std::memcpy(out, *taken, static_cast<size_t>(count * width));
  return true;
}

/// Values decoded at once are those decoded in pieces, every third of which is passed over, and those taken in place.
inline void DecodeFixed(Encoding encoding, const DecoderInput& in) {
  const auto dictionary = SomeDictionary(false, in.width, ValueForm::kFixed);
  const ValueConversion as_they_are{in.width, in.width, nullptr, {}};
  const auto make = [&] {
    return MakeFixedDecoder(encoding, in.type, as_they_are, in.values, in.count, dictionary.get());
  };
  auto whole = make(), pieces = make();
  if (!whole.ok()) return;
  const auto size = static_cast<size_t>(in.count * in.width);
  std::vector<uint8_t> expected(size + kPoolVectorSlackBytes), got(size + kPoolVectorSlackBytes);
  const bool decoded = (*whole)->Decode(in.count, expected.data()).ok();
  for (int64_t done = 0, piece = 0; done < in.count; done += in.step, ++piece) {
    const int64_t n = std::min(in.step, in.count - done);
    uint8_t* out = got.data() + done * in.width;
    const bool passed = piece % 3 == 2;
    const bool ok = passed           ? (*pieces)->Skip(n).ok()
                    : piece % 3 == 1 ? DecodeOrTake(pieces->get(), n, in.width, out)
                                     : (*pieces)->Decode(n, out).ok();
    if (!ok) return Require(!decoded);
    const auto bytes = static_cast<size_t>(n * in.width);
    if (decoded && !passed && bytes > 0) Require(std::memcmp(out, expected.data() + done * in.width, bytes) == 0);
  }
}

inline std::string_view ValueAt(const BinaryValues& values, int64_t i) {
  return {reinterpret_cast<const char*>(values.data.data()) + values.offsets[i],
          static_cast<size_t>(values.offsets[i + 1] - values.offsets[i])};
}

inline std::string_view ValueAt(const ViewValues& values, int64_t i) {
  const BinaryView& view = values.views()[i];
  if (view.is_inline()) return {reinterpret_cast<const char*>(view.start), view.size};
  const arrow::Buffer& buffer = *values.buffers()[view.rest[0]];
  Require(int64_t{view.rest[1]} + view.size <= buffer.size());
  return {reinterpret_cast<const char*>(buffer.data()) + view.rest[1], view.size};
}

/// Views are of the values that were decoded with offsets.
inline void DecodeViews(Encoding encoding, const DecoderInput& in, bool decoded, const BinaryValues& expected) {
  const auto dictionary = SomeDictionary(true, 0, ValueForm::kViews);
  const auto page = std::make_shared<arrow::Buffer>(in.values.data(), static_cast<int64_t>(in.values.size()));
  auto pieces = MakeBinaryDecoder(encoding, in.values, in.count, dictionary.get());
  Require(pieces.ok());
  ViewValues got(arrow::default_memory_pool());
  for (int64_t done = 0; done < in.count; done += in.step) {
    const int64_t n = std::min(in.step, in.count - done);
    if (!(*pieces)->DecodeViews(n, page, &got).ok()) return Require(!decoded);
    if (!decoded) continue;
    for (int64_t i = done; i < done + n; ++i) Require(ValueAt(got, i) == ValueAt(expected, i));
  }
}

inline void DecodeBinary(Encoding encoding, const DecoderInput& in) {
  constexpr int64_t kMostBytes = 16 << 20;
  const auto dictionary = SomeDictionary(true, 0, ValueForm::kOffsets);
  const auto make = [&] { return MakeBinaryDecoder(encoding, in.values, in.count, dictionary.get()); };
  auto whole = make(), pieces = make();
  if (!whole.ok() || (*whole)->BytesAtMost(in.count) > kMostBytes) return;
  BinaryValues expected(arrow::default_memory_pool());
  Require(expected.Init().ok());
  const bool decoded = (*whole)->Decode(in.count, &expected).ok();
  for (int64_t done = 0, piece = 0; done < in.count; done += in.step, ++piece) {
    const int64_t n = std::min(in.step, in.count - done);
    BinaryValues got(arrow::default_memory_pool());
    Require(got.Init().ok());
    const bool passed = piece % 3 == 2;
    const int64_t bound = (*pieces)->BytesAtMost(n);
    const bool ok = passed ? (*pieces)->Skip(n).ok() : (*pieces)->Decode(n, &got).ok();
    if (!ok) return Require(!decoded);
    Require(got.data.size() <= bound);
    if (!decoded || passed) continue;
    for (int64_t i = 0; i < n; ++i) Require(ValueAt(got, i) == ValueAt(expected, done + i));
  }
  DecodeViews(encoding, in, decoded, expected);
}

/// Any bytes as the values of a page of any type.
inline int DecodeBothWays(Encoding encoding, const uint8_t* data, size_t size) {
  if (size < DecoderInput::kHeadBytes) return 0;
  const DecoderInput in(data, size);
  in.type == PhysicalType::kByteArray ? DecodeBinary(encoding, in) : DecodeFixed(encoding, in);
  return 0;
}

}  // namespace calve::fuzz
