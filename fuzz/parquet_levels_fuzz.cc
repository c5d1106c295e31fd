// Any bytes as the levels of a page of either version: at once, in pieces, and straight to validity.

#include "calve/parquet/level_decoder.h"

#include <arrow/memory_pool.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

using namespace calve::parquet;  // NOLINT

calve::parquet::Result<LevelDecoder> Make(int kind, int max_level, int64_t count, std::span<const uint8_t> bytes) {
  if (kind == 2) return LevelDecoder::FromV2(max_level, bytes);
  calve::ByteCursor body(bytes);
  return LevelDecoder::FromV1(kind == 0 ? Encoding::kRle : Encoding::kBitPacked, max_level, count, &body);
}

void Require(bool holds) {
  if (!holds) std::abort();
}

/// Levels of 0 and 1 as a bitmap are the levels.
void CheckValidity(LevelDecoder decoder, const std::vector<uint8_t>& levels) {
  ValidityBuilder validity(arrow::default_memory_pool());
  Require(decoder.DecodeValidity(static_cast<int64_t>(levels.size()), &validity).ok());
  const uint8_t* bits = validity.bits();
  for (size_t i = 0; i < levels.size(); ++i) {
    Require((bits == nullptr || arrow::bit_util::GetBit(bits, static_cast<int64_t>(i))) == (levels[i] != 0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 5) return 0;
  const int kind = data[0] % 3, max_level = data[1] % 128;
  const int64_t count = data[2] | data[3] << 8, step = data[4] + 1;
  if (count == 0) return 0;
  const std::vector<uint8_t> bytes(data + 5, data + size);
  auto whole = Make(kind, max_level, count, bytes), pieces = Make(kind, max_level, count, bytes);
  if (!whole.ok()) return 0;
  std::vector<uint8_t> expected(static_cast<size_t>(count)), got(static_cast<size_t>(count));
  const bool decoded = whole->Decode(count, expected.data()).ok();
  for (int64_t done = 0; done < count; done += step) {
    if (!pieces->Decode(std::min(step, count - done), got.data() + done).ok()) {
      Require(!decoded);
      return 0;
    }
  }
  Require(decoded && got == expected);
  for (uint8_t level : expected) Require(level <= max_level);
  if (max_level == 1) CheckValidity(Make(kind, max_level, count, bytes).ValueOrDie(), expected);
  return 0;
}
