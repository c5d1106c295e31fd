#include "calve/parquet/byte_stream_split_decoder.h"

#include "calve/base/status.h"
#include "calve/simd/byte_stream_split.h"

namespace calve::parquet {

Status ByteStreamSplitDecoder::Decode(int64_t count, uint8_t* out) {
  if (width_ == 0) return Status::OK();
  const int64_t size = static_cast<int64_t>(bytes_.size());
  const int64_t values = size / width_;
  if (size % width_ != 0) return Invalid("{} bytes of BYTE_STREAM_SPLIT are no multiple of {}", size, width_);
  if (count > values - position_) return Invalid("{} BYTE_STREAM_SPLIT values, {} are left", count, values - position_);
  simd::JoinByteStreams(bytes_.data() + position_, static_cast<size_t>(values), static_cast<size_t>(width_),
                        static_cast<size_t>(count), out);
  position_ += count;
  return Status::OK();
}

}  // namespace calve::parquet
