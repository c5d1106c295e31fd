#include "calve/parquet/byte_stream_split_decoder.h"

#include "calve/base/status.h"
#include "calve/simd/byte_stream_split.h"

namespace calve::parquet {

/// Where the first of the next `count` values begins in the first stream.
Result<const uint8_t*> ByteStreamSplitDecoder::Take(int64_t count) {
  const int64_t size = static_cast<int64_t>(bytes_.size());
  const int64_t values = size / width_;
  if (size % width_ != 0) return Invalid("{} bytes of BYTE_STREAM_SPLIT are no multiple of {}", size, width_);
  if (count > values - position_) return Invalid("{} BYTE_STREAM_SPLIT values, {} are left", count, values - position_);
  const uint8_t* first = bytes_.data() + position_;
  position_ += count;
  return first;
}

Status ByteStreamSplitDecoder::Decode(int64_t count, uint8_t* out) {
  if (width_ == 0) return Skip(count);
  ARROW_ASSIGN_OR_RAISE(const uint8_t* first, Take(count));
  const auto width = static_cast<size_t>(width_);
  simd::JoinByteStreams(first, bytes_.size() / width, width, static_cast<size_t>(count), out);
  return Status::OK();
}

Status ByteStreamSplitDecoder::Skip(int64_t count) {
  if (width_ > 0) return Take(count).status();
  return bytes_.empty() ? Status::OK() : Invalid("{} bytes of BYTE_STREAM_SPLIT of values of no bytes", bytes_.size());
}

}  // namespace calve::parquet
