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
/// Hashes are kept while a filter would have so many bytes for each.
constexpr int64_t kFewBytesAValue = 64;

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

Status BloomFilterBuilder::Begin(int64_t bytes) {
  ARROW_RETURN_NOT_OK(bits_.AppendRun(0, bytes));
  Insert(hashes_.span());
  hashes_.Release();
  return Status::OK();
}

void BloomFilterBuilder::Insert(std::span<const uint64_t> hashes) {
  const int64_t blocks = bits_.size() / kBloomBlockBytes;
  // So many blocks are on the way before the first is needed.
  constexpr size_t kAhead = 64;
  std::array<uint8_t*, kAhead> found;
  while (!hashes.empty()) {
    const size_t here = std::min(hashes.size(), kAhead);
    for (size_t i = 0; i < here; ++i) {
      found[i] = bits_.data() + BloomBlockOf(hashes[i], blocks) * kBloomBlockBytes;
      __builtin_prefetch(found[i], /*rw=*/1);
    }
    for (size_t i = 0; i < here; ++i) BloomBlockInsert(found[i], hashes[i]);
    hashes = hashes.subspan(here);
  }
}

Status BloomFilterBuilder::Add(std::span<const uint8_t> plain, int64_t count) {
  // A filter of few values is never as large as it might become.
  const int64_t most_hashes = bytes_ / kFewBytesAValue;
  std::array<uint64_t, 256> hashes;
  while (count > 0) {
    const size_t here = std::min(static_cast<size_t>(count), hashes.size());
    for (size_t i = 0; i < here; ++i) hashes[i] = Xxh64(TakeValue(&plain), 0);
    count -= static_cast<int64_t>(here);
    if (bits_.empty()) {
      ARROW_RETURN_NOT_OK(hashes_.Append(hashes.data(), static_cast<int64_t>(here)));
      if (hashes_.size() > most_hashes) ARROW_RETURN_NOT_OK(Begin(bytes_));
    } else {
      Insert({hashes.data(), here});
    }
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
  if (bits_.empty() && hashes_.empty()) return result;
  // From any size on a filter is folded to the same, for as long as it is still too large.
  if (bits_.empty()) {
    ARROW_RETURN_NOT_OK(
        Begin(fpp_ > 0 ? std::min(bytes_, 4 * BloomFilterBytes(hashes_.size(), fpp_, bytes_)) : bytes_));
  }
  while (bits_.size() > kBloomBlockBytes && WrongPassRateFolded(bits_) <= fpp_) Fold();
  result.emplace();
  result->header = HeaderOf(bits_.size());
  ARROW_ASSIGN_OR_RAISE(result->bitset, bits_.Finish());
  return result;
}

}  // namespace calve::parquet
