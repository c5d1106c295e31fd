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

/// A dictionary of 21 values, of `width` bytes each or as byte arrays.
inline void MakeDictionary(bool binary, int64_t width, Dictionary* out) {
  constexpr int64_t kValues = 21;
  std::string bytes;
  for (int64_t i = 0; i < kValues; ++i) {
    const auto size = static_cast<uint32_t>(binary ? i % 40 : width);
    if (binary) bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes.append(size, static_cast<char>('a' + i));
  }
  Require(
      FillDictionary(binary, width, kValues, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, out).ok());
}

/// Values decoded at once are those decoded in pieces, every third of which is passed over.
inline void DecodeFixed(Encoding encoding, const DecoderInput& in, const Dictionary& dictionary) {
  const auto make = [&] { return MakeFixedDecoder(encoding, in.type, in.width, in.values, in.count, &dictionary); };
  auto whole = make(), pieces = make();
  if (!whole.ok()) return;
  const auto size = static_cast<size_t>(in.count * in.width);
  std::vector<uint8_t> expected(size + kPoolVectorSlackBytes), got(size + kPoolVectorSlackBytes);
  const bool decoded = (*whole)->Decode(in.count, expected.data()).ok();
  for (int64_t done = 0, piece = 0; done < in.count; done += in.step, ++piece) {
    const int64_t n = std::min(in.step, in.count - done);
    uint8_t* out = got.data() + done * in.width;
    const bool passed = piece % 3 == 2;
    const bool ok = passed ? (*pieces)->Skip(n).ok() : (*pieces)->Decode(n, out).ok();
    if (!ok) return Require(!decoded);
    const auto bytes = static_cast<size_t>(n * in.width);
    if (decoded && !passed && bytes > 0) Require(std::memcmp(out, expected.data() + done * in.width, bytes) == 0);
  }
}

inline std::string_view ValueAt(const BinaryValues& values, int64_t i) {
  return {reinterpret_cast<const char*>(values.data.data()) + values.offsets[i],
          static_cast<size_t>(values.offsets[i + 1] - values.offsets[i])};
}

inline void DecodeBinary(Encoding encoding, const DecoderInput& in, const Dictionary& dictionary) {
  constexpr int64_t kMostBytes = 16 << 20;
  const auto make = [&] { return MakeBinaryDecoder(encoding, in.values, in.count, &dictionary); };
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
}

/// Any bytes as the values of a page of any type.
inline int DecodeBothWays(Encoding encoding, const uint8_t* data, size_t size) {
  if (size < DecoderInput::kHeadBytes) return 0;
  const DecoderInput in(data, size);
  const bool binary = in.type == PhysicalType::kByteArray;
  Dictionary dictionary(arrow::default_memory_pool());
  MakeDictionary(binary, in.width, &dictionary);
  binary ? DecodeBinary(encoding, in, dictionary) : DecodeFixed(encoding, in, dictionary);
  return 0;
}

}  // namespace calve::fuzz
