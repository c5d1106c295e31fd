#include "calve/parquet/plain_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

namespace calve::parquet {

Status PlainFixedDecoder::Decode(int64_t count, uint8_t* out) {
  const auto size = CheckedMultiply(count, width_);
  const auto bytes = cursor_.Bytes(size ? static_cast<size_t>(*size) : SIZE_MAX);
  if (!cursor_.ok()) {
    return Invalid("{} PLAIN values of {} bytes, {} bytes are left at byte {} of the values", count, width_,
                   cursor_.remaining(), cursor_.offset());
  }
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return Status::OK();
}

Status PlainBooleanDecoder::Decode(int64_t count, uint8_t* out) {
  const int64_t available = static_cast<int64_t>(bytes_.size()) * 8 - position_;
  if (count > available) return Invalid("{} PLAIN booleans, {} are left", count, available);
  for (int64_t i = 0; i < count; ++i, ++position_) out[i] = bytes_[position_ / 8] >> (position_ % 8) & 1;
  return Status::OK();
}

int64_t PlainBinaryDecoder::BytesAtMost(int64_t count) const {
  constexpr size_t kSmall = 1 << 20;  // not worth a look at the lengths
  if (cursor_.remaining() <= kSmall) return static_cast<int64_t>(cursor_.remaining());
  ByteCursor values = cursor_;
  for (int64_t i = 0; i < count && values.ok(); ++i) values.Skip(values.Little<uint32_t>());
  return static_cast<int64_t>(values.offset() - cursor_.offset());
}

Status PlainBinaryDecoder::Decode(int64_t count, BinaryValues* out) {
  // First the lengths, so that the bytes are copied to memory of the right size.
  ARROW_RETURN_NOT_OK(out->offsets.Reserve(count));
  ByteCursor values = cursor_;
  int32_t end = out->offsets[out->offsets.size() - 1];
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t length = values.Little<uint32_t>();
    values.Skip(length);
    if (!values.ok()) {
      return Invalid("PLAIN byte array of {} bytes, {} bytes are left at byte {} of the values", length,
                     values.remaining(), values.offset());
    }
    total += length;
    out->offsets.UnsafeAppend(end + static_cast<int32_t>(total));
  }
  ARROW_RETURN_NOT_OK(out->data.Reserve(total));
  for (int64_t i = 0; i < count; ++i) {
    const auto bytes = cursor_.Bytes(cursor_.Little<uint32_t>());
    out->data.UnsafeAppend(bytes.data(), static_cast<int64_t>(bytes.size()));
  }
  return Status::OK();
}

}  // namespace calve::parquet
