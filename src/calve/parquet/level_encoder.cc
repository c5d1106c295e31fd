#include "calve/parquet/level_encoder.h"

#include "calve/parquet/packed_rle.h"
#include "calve/simd/level_bits.h"

#include <bit>

namespace calve::parquet {

using arrow::Status;

LevelEncoder::LevelEncoder(int max_level, arrow::MemoryPool* pool)
    : bit_width_(std::bit_width(static_cast<unsigned>(max_level))), packed_(pool) {
  for (int level = 0; level < max_level; ++level) planes_.emplace_back(pool);
}

Status LevelEncoder::ExpandRun() {
  if (!is_run_) return Status::OK();
  is_run_ = false;
  for (size_t k = 0; k < planes_.size(); ++k) {
    ARROW_RETURN_NOT_OK(planes_[k].AppendRun(static_cast<int>(k) < run_level_, count_));
  }
  return Status::OK();
}

Status LevelEncoder::AppendBits(const uint8_t* bits, int64_t offset, int64_t count) {
  ARROW_RETURN_NOT_OK(ExpandRun());
  count_ += count;
  return planes_[0].Append(bits, offset, count);
}

Status LevelEncoder::AppendRun(int level, int64_t count) {
  if (is_run_ && (count_ == 0 || level == run_level_)) {
    run_level_ = level;
    count_ += count;
    return Status::OK();
  }
  ARROW_RETURN_NOT_OK(ExpandRun());
  for (size_t k = 0; k < planes_.size(); ++k) {
    ARROW_RETURN_NOT_OK(planes_[k].AppendRun(static_cast<int>(k) < level, count));
  }
  count_ += count;
  return Status::OK();
}

Status LevelEncoder::Append(std::span<const BitPlane> planes) {
  if (planes.empty()) return Status::OK();
  ARROW_RETURN_NOT_OK(ExpandRun());
  for (size_t k = 0; k < planes_.size(); ++k) {
    ARROW_RETURN_NOT_OK(planes_[k].Append(planes[k].bytes(), 0, planes[k].size()));
  }
  count_ += planes[0].size();
  return Status::OK();
}

Status LevelEncoder::Flush(ByteBuffer* out) {
  if (is_run_) {
    if (bit_width_ > 0 && count_ > 0) ARROW_RETURN_NOT_OK(AppendRleRun(run_level_, count_, out));
  } else if (bit_width_ == 1) {
    ARROW_RETURN_NOT_OK(EncodePackedRle(planes_[0].bytes(), count_, 1, out));
  } else if (bit_width_ > 1) {
    std::vector<const uint64_t*> words;
    for (const BitPlane& plane : planes_) words.push_back(plane.words());
    ARROW_RETURN_NOT_OK(packed_.Resize((count_ + 63) / 64 * 8 * bit_width_ + simd::kPackLevelsSlackBytes));
    simd::PackLevels(words.data(), words.size(), bit_width_, static_cast<size_t>(count_), packed_.data());
    ARROW_RETURN_NOT_OK(EncodePackedRle(packed_.data(), count_, bit_width_, out));
  }
  Clear();
  return Status::OK();
}

void LevelEncoder::Clear() {
  count_ = 0;
  is_run_ = true;
  for (BitPlane& plane : planes_) plane.Clear();
}

}  // namespace calve::parquet
