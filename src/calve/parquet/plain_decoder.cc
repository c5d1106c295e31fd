#include "calve/parquet/plain_decoder.h"

#include "calve/parquet/byte_copy.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/parquet/rle_decoder.h"

namespace calve::parquet {
namespace {

constexpr size_t kLengthBytes = 4;

/// Room to make for `count` values more, of a page that has `bytes` left: all of it when that is little.
int64_t GrowthFor(int64_t bytes, int64_t count) {
  constexpr int64_t kLittle = 64 << 10;
  return std::max<int64_t>(std::min(bytes - count * static_cast<int64_t>(kLengthBytes), kLittle), 0);
}

uint32_t LengthAt(const uint8_t* bytes) {
  uint32_t length;
  std::memcpy(&length, bytes, sizeof(length));
  return length;
}

/// Finds values of one length, which are decoded together: where each begins is known then without a look at the length
/// of the one before, for which all would have to wait.
class SameLengths {
 public:
  /// Whether several of the next `count` values are as long as the first, and kOvercopyBytes are there behind them.
  bool Ahead(const uint8_t* in, const uint8_t* end, int64_t count) {
    if (count < static_cast<int64_t>(kValues) || static_cast<size_t>(end - in) < kLengthBytes) return false;
    length_ = LengthAt(in);
    const size_t stride = kLengthBytes + length_;
    if (length_ > kLongest || static_cast<size_t>(end - in) < kValues * stride + kOvercopyBytes) return false;
    uint32_t differs = 0;
    for (size_t i = 1; i < kValues; ++i) differs |= LengthAt(in + i * stride) ^ length_;
    wait_ = differs == 0 ? kFirstWait : std::min(2 * wait_, kLongestWait);
    return differs == 0;
  }
  uint32_t length() const { return length_; }
  size_t stride() const { return kLengthBytes + length_; }
  /// Where there was nothing ahead: how many values are best decoded before looking again.
  int64_t wait() const { return wait_; }

  /// Calls `visit(bytes)` for those that Ahead found and the ones behind them of the same length, `most` of them at
  /// most; kOvercopyBytes may be read behind each. Returns how many there were.
  template <typename Visit>
  int64_t ForEach(const uint8_t* in, const uint8_t* end, int64_t most, Visit&& visit) const {
    const uint32_t length = length_;
    const size_t step = stride();
    most = std::min(most, (end - in - static_cast<ptrdiff_t>(kOvercopyBytes)) / static_cast<ptrdiff_t>(step));
    int64_t done = 0;
    for (; done < most && LengthAt(in) == length; ++done, in += step) visit(in + kLengthBytes);
    return done;
  }

  /// Copies these, one behind the other, to `to`, where there is room for `room` bytes and kOvercopyBytes more.
  int64_t Copy(const uint8_t* in, const uint8_t* end, int64_t count, size_t room, uint8_t* to) const {
    constexpr size_t kHalf = kOvercopyBytes / 2;
    const int64_t most = length_ == 0 ? count : std::min(count, static_cast<int64_t>(room / length_));
    const auto copy = [&](const auto& copy_one) {
      return ForEach(in, end, most, [&](const uint8_t* bytes) {
        copy_one(bytes, to);
        to += length_;
      });
    };
    if (length_ <= kHalf) return copy([](const uint8_t* from, uint8_t* out) { std::memcpy(out, from, kHalf); });
    if (length_ <= kOvercopyBytes) {
      return copy([](const uint8_t* from, uint8_t* out) { std::memcpy(out, from, kOvercopyBytes); });
    }
    return copy([this](const uint8_t* from, uint8_t* out) { CopyShortBytes(from, length_, out); });
  }

 private:
  static constexpr size_t kValues = 8;
  static constexpr uint32_t kLongest = 256;
  static constexpr int64_t kFirstWait = 16, kLongestWait = 1024;

  uint32_t length_ = 0;
  int64_t wait_ = kFirstWait;
};

}  // namespace

Result<std::span<const uint8_t>> PlainFixedDecoder::Take(int64_t count) {
  const auto size = CheckedMultiply(count, width_);
  const auto bytes = cursor_.Bytes(size ? static_cast<size_t>(*size) : SIZE_MAX);
  if (cursor_.ok()) return bytes;
  return Invalid("{} PLAIN values of {} bytes, {} bytes are left at byte {} of the values", count, width_,
                 cursor_.remaining(), cursor_.offset());
}

Status PlainFixedDecoder::Decode(int64_t count, uint8_t* out) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, Take(count));
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return Status::OK();
}

Result<const uint8_t*> PlainFixedDecoder::TakeInPlace(int64_t count) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, Take(count));
  return bytes.data();
}

Status PlainFixedDecoder::Skip(int64_t count) { return Take(count).status(); }

Status PlainBooleanDecoder::Skip(int64_t count) {
  const int64_t available = static_cast<int64_t>(bytes_.size()) * 8 - position_;
  if (count > available) return Invalid("{} PLAIN booleans, {} are left", count, available);
  position_ += count;
  return Status::OK();
}

Status PlainBooleanDecoder::Decode(int64_t count, uint8_t* out) {
  const int64_t first = position_;
  ARROW_RETURN_NOT_OK(Skip(count));
  UnpackRun(Run{bytes_.data(), bytes_.data() + bytes_.size(), 0, first, count}, 1, out);
  return Status::OK();
}

/// Bytes of the next `count` values, their lengths left out; or of those that are there.
int64_t PlainBinaryDecoder::BytesAtMost(int64_t count) const {
  constexpr size_t kSmall = 1 << 20;  // not worth a look at the lengths
  const size_t remaining = bytes_.size() - position_;
  if (remaining <= kSmall) return static_cast<int64_t>(remaining);
  ByteCursor values(bytes_.subspan(position_));
  for (int64_t i = 0; i < count && values.ok(); ++i) values.Skip(values.Little<uint32_t>());
  return static_cast<int64_t>(values.offset());
}

Status PlainBinaryDecoder::CutShort(size_t position) const {
  const size_t left = bytes_.size() - position;
  if (left < kLengthBytes) {
    return Invalid("PLAIN byte arrays end early, {} bytes are left at byte {} of the values", left, position);
  }
  return Invalid("PLAIN byte array of {} bytes, {} bytes are left at byte {} of the values",
                 LengthAt(bytes_.data() + position), left - kLengthBytes, position + kLengthBytes);
}

/// Bytes that the next `count` values take, their lengths included.
Result<int64_t> PlainBinaryDecoder::BytesOf(int64_t count) const {
  size_t position = position_;
  for (int64_t i = 0; i < count; ++i) {
    if (bytes_.size() - position < kLengthBytes) return CutShort(position);
    const size_t next = position + kLengthBytes + LengthAt(bytes_.data() + position);
    if (next > bytes_.size()) return CutShort(position);
    position = next;
  }
  return static_cast<int64_t>(position - position_);
}

Status PlainBinaryDecoder::Skip(int64_t count) {
  ARROW_ASSIGN_OR_RAISE(const int64_t size, BytesOf(count));
  position_ += static_cast<size_t>(size);
  return Status::OK();
}

Status PlainBinaryDecoder::Decode(int64_t count, BinaryValues* out) {
  ARROW_RETURN_NOT_OK(out->data.Reserve(0));
  ARROW_RETURN_NOT_OK(out->offsets.Reserve(count));
  const uint8_t* const begin = bytes_.data();
  const uint8_t* const end = begin + bytes_.size();
  const uint8_t* in = begin + position_;
  uint8_t* data = out->data.data();
  uint8_t* to = data + out->data.size();
  size_t room = static_cast<size_t>(out->data.capacity_bytes() - out->data.size());
  int32_t* offsets = out->offsets.data() + out->offsets.size();
  SameLengths same;
  for (int64_t i = 0; i < count;) {
    if (same.Ahead(in, end, count - i)) {
      const int64_t n = same.Copy(in, end, count - i, room, to);
      const auto length = static_cast<int32_t>(same.length()), first = static_cast<int32_t>(to - data);
      for (int32_t k = 0; k < n; ++k) offsets[i + k] = first + (k + 1) * length;
      i += n;
      in += static_cast<size_t>(n) * same.stride();
      to += n * length;
      room -= static_cast<size_t>(n * length);
      if (n > 0) continue;
    }
    for (const int64_t until = std::min(count, i + same.wait()); i < until; ++i) {
      if (static_cast<size_t>(end - in) < kLengthBytes) return CutShort(static_cast<size_t>(in - begin));
      const size_t length = LengthAt(in);
      if (length > static_cast<size_t>(end - in) - kLengthBytes) return CutShort(static_cast<size_t>(in - begin));
      in += kLengthBytes;
      if (length > room) {
        out->data.UnsafeResize(to - data);
        ARROW_RETURN_NOT_OK(out->data.Reserve(std::max(static_cast<int64_t>(length), GrowthFor(end - in, count - i))));
        data = out->data.data();
        to = data + out->data.size();
        room = static_cast<size_t>(out->data.capacity_bytes() - out->data.size());
      }
      CopyBytes(in, length, end, to);
      in += length;
      to += length;
      room -= length;
      offsets[i] = static_cast<int32_t>(to - data);
    }
  }
  position_ = static_cast<size_t>(in - begin);
  ARROW_RETURN_NOT_OK(out->offsets.Resize(out->offsets.size() + count));
  return out->data.Resize(to - data);
}

Status PlainBinaryDecoder::DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>& page, ViewValues* out) {
  if (page == nullptr) return BinaryDecoder::DecodeViews(count, page, out);
  const uint32_t buffer_index = out->IndexOf(page);
  PoolVector<BinaryView>& views = out->views();
  ARROW_RETURN_NOT_OK(views.Reserve(count));
  const uint8_t* const begin = bytes_.data();
  const uint8_t* const end = begin + bytes_.size();
  const uint8_t* in = begin + position_;
  SameLengths same;
  for (int64_t i = 0; i < count;) {
    if (same.Ahead(in, end, count - i)) {
      BinaryView* to = views.data() + views.size();
      const uint8_t* const first = page->data();
      const int64_t n = same.ForEach(in, end, count - i, [&](const uint8_t* bytes) {
        *to++ = MakeView(bytes, same.length(), kOvercopyBytes, buffer_index, static_cast<uint32_t>(bytes - first));
      });
      views.UnsafeResize(views.size() + n);
      i += n;
      in += static_cast<size_t>(n) * same.stride();
      continue;
    }
    for (const int64_t until = std::min(count, i + same.wait()); i < until; ++i) {
      if (static_cast<size_t>(end - in) < kLengthBytes) return CutShort(static_cast<size_t>(in - begin));
      const uint32_t length = LengthAt(in);
      if (length > static_cast<size_t>(end - in) - kLengthBytes) return CutShort(static_cast<size_t>(in - begin));
      in += kLengthBytes;
      views.UnsafeAppend(
          MakeView(in, length, static_cast<size_t>(end - in), buffer_index, static_cast<uint32_t>(in - page->data())));
      in += length;
    }
  }
  position_ = static_cast<size_t>(in - begin);
  return Status::OK();
}

}  // namespace calve::parquet
