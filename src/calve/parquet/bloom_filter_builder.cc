#include "calve/parquet/bloom_filter_builder.h"

#include "calve/hash/hash.h"
#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/thrift_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace calve::parquet {
namespace {

constexpr int kWords = 8;

/// The probability that a value that is not there finds all its bits set in a filter of half the blocks, in which it
/// goes to block i / 2 instead of i.
double WrongPassRateFolded(const ByteBuffer& bits) {
  double sum = 0;
  for (int64_t at = 0; at < bits.size(); at += 2 * kBloomBlockBytes) {
    uint32_t words[2 * kWords];
    std::memcpy(words, bits.data() + at, sizeof(words));
    double all = 1;
    for (int w = 0; w < kWords; ++w) all *= std::popcount(words[w] | words[w + kWords]) / 32.0;
    sum += all;
  }
  return sum * 2 * kBloomBlockBytes / static_cast<double>(bits.size());
}

/// Split blocks, XXH64, not compressed.
std::string HeaderOf(int64_t bytes) {
  ThriftWriter out;
  out.I32(1, static_cast<int32_t>(bytes));
  for (const int16_t member : {2, 3, 4}) {
    out.Struct(member, [&] { out.Struct(1, [] {}); });
  }
  return out.Finish();
}

}  // namespace

int64_t BloomFilterBytes(int64_t ndv, double fpp, int64_t max_bytes) {
  const auto most = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max(max_bytes, kBloomBlockBytes))));
  // Eight words are a filter of 8 bits a value each; solved for the size that gives `fpp`.
  const double bits =
      -kWords * static_cast<double>(std::max<int64_t>(ndv, 1)) / std::log(1 - std::pow(fpp, 1.0 / kWords));
  if (!(bits / 8 < static_cast<double>(most))) return most;
  const auto bytes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bits / 8) + 1));
  return std::clamp(bytes, kBloomBlockBytes, most);
}

/// Takes one value off the front of `plain`.
std::span<const uint8_t> BloomFilterBuilder::TakeValue(std::span<const uint8_t>* plain) const {
  auto size = static_cast<size_t>(width_);
  if (width_ == 0) {
    uint32_t length = 0;
    std::memcpy(&length, plain->data(), sizeof(length));
    *plain = plain->subspan(sizeof(length));
    size = length;
  }
  const auto value = plain->first(size);
  *plain = plain->subspan(size);
  return value;
}

Status BloomFilterBuilder::Add(std::span<const uint8_t> plain, int64_t count) {
  if (bits_.empty()) {
    if (count == 0) return Status::OK();
    ARROW_RETURN_NOT_OK(bits_.AppendRun(0, bytes_));
  }
  const int64_t blocks = bits_.size() / kBloomBlockBytes;
  // So many blocks are on the way before the first is needed.
  std::array<std::pair<uint8_t*, uint64_t>, 64> found;
  for (size_t here = 0; count > 0; count -= static_cast<int64_t>(here)) {
    here = std::min(static_cast<size_t>(count), found.size());
    for (size_t i = 0; i < here; ++i) {
      const uint64_t hash = Xxh64(TakeValue(&plain), 0);
      found[i] = {bits_.data() + BloomBlockOf(hash, blocks) * kBloomBlockBytes, hash};
      __builtin_prefetch(found[i].first, /*rw=*/1);
    }
    for (size_t i = 0; i < here; ++i) BloomBlockInsert(found[i].first, found[i].second);
  }
  return Status::OK();
}

void BloomFilterBuilder::Fold() {
  const int64_t blocks = bits_.size() / kBloomBlockBytes;
  for (int64_t b = 0; b < blocks / 2; ++b) {
    const uint8_t* from = bits_.data() + 2 * b * kBloomBlockBytes;
    uint8_t* to = bits_.data() + b * kBloomBlockBytes;
    for (int64_t i = 0; i < kBloomBlockBytes; ++i) to[i] = from[i] | from[kBloomBlockBytes + i];
  }
  bits_.UnsafeResize(bits_.size() / 2);
}

Result<std::optional<WrittenBloomFilter>> BloomFilterBuilder::Finish() {
  std::optional<WrittenBloomFilter> result;
  if (bits_.empty()) return result;
  while (bits_.size() > kBloomBlockBytes && WrongPassRateFolded(bits_) <= fpp_) Fold();
  result.emplace();
  result->header = HeaderOf(bits_.size());
  ARROW_ASSIGN_OR_RAISE(result->bitset, bits_.Finish());
  return result;
}

}  // namespace calve::parquet
