#include "calve/parquet/bit_plane.h"

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <bit>

namespace calve::parquet {
namespace {

using arrow::Status;

/// `count` bits (1 to 57) from bit `offset` on.
uint64_t FewBits(const uint8_t* bits, int64_t offset, int64_t count) {
  const auto shift = static_cast<int>(offset % 8);
  uint64_t word = 0;
  std::memcpy(&word, bits + offset / 8, static_cast<size_t>((shift + count + 7) / 8));
  return word >> shift & ((uint64_t{1} << count) - 1);
}

}  // namespace

int64_t BitPlane::CountSet() const {
  int64_t count = 0;
  for (uint64_t word : words_.span()) count += std::popcount(word);
  return count;
}

Status BitPlane::Resize(int64_t size) {
  const int64_t words = arrow::bit_util::CeilDiv(size, 64);
  if (words > words_.size()) ARROW_RETURN_NOT_OK(words_.AppendRun(0, words - words_.size()));
  words_.UnsafeResize(words);
  size_ = size;
  return Status::OK();
}

Status BitPlane::Append(const uint8_t* bits, int64_t offset, int64_t count) {
  constexpr int64_t kFew = 57;
  if (count == 0) return Status::OK();
  const int64_t begin = size_;
  ARROW_RETURN_NOT_OK(Resize(begin + count));
  if (count > kFew) {
    arrow::internal::CopyBitmap(bits, offset, count, reinterpret_cast<uint8_t*>(words_.data()), begin);
    return Status::OK();
  }
  const uint64_t added = FewBits(bits, offset, count);
  const auto used = static_cast<int>(begin % 64);
  words_[begin / 64] |= added << used;
  if (used + count > 64) words_[begin / 64 + 1] = added >> (64 - used);
  return Status::OK();
}

Status BitPlane::AppendRun(bool bit, int64_t count) {
  const int64_t begin = size_;
  ARROW_RETURN_NOT_OK(Resize(begin + count));
  if (bit) arrow::bit_util::SetBitsTo(reinterpret_cast<uint8_t*>(words_.data()), begin, count, true);
  return Status::OK();
}

}  // namespace calve::parquet
