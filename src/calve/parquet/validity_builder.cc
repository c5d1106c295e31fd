#include "calve/parquet/validity_builder.h"

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

namespace calve::parquet {

using arrow::Status;

/// Makes room for `count` more bits, and writes the ones that were only counted so far.
Status ValidityBuilder::Grow(int64_t count) {
  ARROW_RETURN_NOT_OK(bits_.Resize(arrow::bit_util::BytesForBits(size_ + count)));
  if (null_count_ == 0 && size_ > 0) arrow::bit_util::SetBitsTo(bits_.data(), 0, size_, true);
  return Status::OK();
}

void ValidityBuilder::Writer::Finish() {
  std::memcpy(out_, &word_, sizeof(word_));
  const int64_t count = (out_ - begin_) * 8 + used_ - first_;
  builder_->size_ += count;
  builder_->null_count_ += count - arrow::internal::CountSetBits(begin_, first_, count);
}

arrow::Result<ValidityBuilder::Writer> ValidityBuilder::Write(int64_t count) {
  ARROW_RETURN_NOT_OK(Grow(count));
  return Writer(this, bits_.data() + size_ / 8);
}

Status ValidityBuilder::AppendRun(bool valid, int64_t count) {
  if (count == 0) return Status::OK();
  if (!valid || null_count_ > 0) {
    ARROW_RETURN_NOT_OK(Grow(count));
    arrow::bit_util::SetBitsTo(bits_.data(), size_, count, valid);
  }
  size_ += count;
  null_count_ += valid ? 0 : count;
  return Status::OK();
}

Status ValidityBuilder::AppendBits(const uint8_t* bits, int64_t first, int64_t count) {
  if (null_count_ == 0) {
    const int64_t nulls = count - arrow::internal::CountSetBits(bits, first, count);
    if (nulls == 0) return AppendRun(true, count);
  }
  ARROW_ASSIGN_OR_RAISE(Writer writer, Write(count));
  writer.AppendBits(bits, first, count);
  writer.Finish();
  return Status::OK();
}

Status ValidityBuilder::AppendFrom(const ValidityBuilder& other, int64_t first, int64_t count) {
  return other.bits() == nullptr ? AppendRun(true, count) : AppendBits(other.bits(), first, count);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityBuilder::Finish() {
  std::shared_ptr<arrow::Buffer> result;
  if (null_count_ > 0) {
    // Arrow wants no garbage behind the last bit.
    const int64_t tail = bits_.size() * 8 - size_;
    if (tail > 0) arrow::bit_util::SetBitsTo(bits_.data(), size_, tail, false);
    ARROW_ASSIGN_OR_RAISE(result, bits_.Finish());
  }
  bits_.Release();
  size_ = null_count_ = 0;
  return result;
}

}  // namespace calve::parquet
