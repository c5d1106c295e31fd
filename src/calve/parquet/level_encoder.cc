#include "calve/parquet/level_encoder.h"

#include "calve/parquet/rle_encoder.h"

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <bit>

namespace calve::parquet {

using arrow::Status;

LevelEncoder::LevelEncoder(int max_level, arrow::MemoryPool* pool)
    : max_level_(max_level), bit_width_(std::bit_width(static_cast<unsigned>(max_level))), bits_(pool), levels_(pool) {}

Status LevelEncoder::ReserveBits(int64_t additional) {
  return bits_.Resize(arrow::bit_util::BytesForBits(count_ + additional));
}

Status LevelEncoder::AppendBits(const uint8_t* bits, int64_t offset, int64_t count) {
  ARROW_RETURN_NOT_OK(ReserveBits(count));
  arrow::internal::CopyBitmap(bits, offset, count, bits_.data(), count_);
  count_ += count;
  return Status::OK();
}

Status LevelEncoder::AppendRun(int16_t level, int64_t count) {
  if (max_level_ > 1) ARROW_RETURN_NOT_OK(levels_.AppendRun(level, count));
  if (max_level_ == 1) {
    ARROW_RETURN_NOT_OK(ReserveBits(count));
    arrow::bit_util::SetBitsTo(bits_.data(), count_, count, level != 0);
  }
  count_ += count;
  return Status::OK();
}

Status LevelEncoder::Append(std::span<const int16_t> levels) {
  const auto count = static_cast<int64_t>(levels.size());
  if (max_level_ > 1) ARROW_RETURN_NOT_OK(levels_.Append(levels.data(), count));
  if (max_level_ == 1) {
    ARROW_RETURN_NOT_OK(ReserveBits(count));
    for (int64_t i = 0; i < count; ++i) arrow::bit_util::SetBitTo(bits_.data(), count_ + i, levels[i] != 0);
  }
  count_ += count;
  return Status::OK();
}

Status LevelEncoder::Flush(ByteBuffer* out) {
  if (max_level_ == 1) ARROW_RETURN_NOT_OK(EncodeBitsRle(bits_.data(), count_, out));
  if (max_level_ > 1) ARROW_RETURN_NOT_OK(EncodeRle(levels_.span(), bit_width_, out));
  count_ = 0;
  bits_.Clear();
  levels_.Clear();
  return Status::OK();
}

}  // namespace calve::parquet
