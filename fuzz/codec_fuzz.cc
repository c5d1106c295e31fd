// Any bytes as compressed data of every codec: the first byte chooses the codec, the second the size that is expected.
// What comes out must compress to something that decompresses to it again.

#include "calve/compress/codec.h"

#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kCodecs = static_cast<int>(calve::Codec::kLz4Hadoop) + 1;
  constexpr size_t kLargest = 1 << 20;
  if (size < 2) return 0;
  const auto codec = static_cast<calve::Codec>(data[0] % kCodecs);
  const std::vector<uint8_t> in(data + 2, data + size);
  std::vector<uint8_t> exact(data[1]);
  const bool fits = calve::Decompress(codec, in, exact).ok();
  const auto all = calve::DecompressAll(codec, in, kLargest);
  // Of the forms that Hadoop's LZ4 may have, the size decides which it is taken for.
  const bool told_by_size = codec == calve::Codec::kLz4Hadoop;
  if (fits && !told_by_size && (!all.ok() || all->size() != exact.size())) std::abort();
  if (!all.ok()) return 0;
  const auto packed = calve::CompressToString(codec, {}, *all).ValueOrDie();
  const std::vector<uint8_t> again(packed.begin(), packed.end());
  if (calve::DecompressAll(codec, again, kLargest).ValueOrDie() != *all) std::abort();
  return 0;
}
