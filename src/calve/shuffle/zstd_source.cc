// Zstandard (RFC 8878), as far as sizes go:
//
//   frame = 28 B5 2F FD  descriptor(u8)  window(u8)?  dictionary_id(0, 1, 2, 4)  content_size(0, 1, 2, 4, 8)  block*
//   checksum(u32)? block = last(1 bit) type(2 bits) size(21 bits)  data      type 0: stored, 1: one byte, repeated, 2:
//   compressed
#include "calve/shuffle/zstd_source.h"

#include "calve/base/byte_cursor.h"
#include "calve/base/status.h"

#include <zstd.h>

#include <array>
#include <memory>
#include <new>
#include <optional>

namespace calve::shuffle {
namespace {

constexpr uint32_t kMagic = 0xFD2FB528, kSkippableMagic = 0x184D2A50, kSkippableMask = 0xFFFFFFF0;
constexpr int64_t kLargestBlock = int64_t{128} << 10;
/// 8 MiB: what every decoder should take (RFC 8878, 3.1.1.1.2).
constexpr int kLargestWindowLog = 23;
/// What is decoded at once, to be copied from a cache.
constexpr int64_t kMostAtOnce = 2 * kLargestBlock;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

using Context = std::unique_ptr<ZSTD_DCtx, FreeContext>;

Context& ThreadSlot() {
  thread_local Context context;
  return context;
}

ZSTD_DCtx* ThreadContext() {
  Context& context = ThreadSlot();
  if (!context) {
    context.reset(ZSTD_createDCtx());
    if (!context) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kLargestWindowLog);
  }
  return context.get();
}

/// A bad frame may have made the context as large as the window it announced.
arrow::Status Failed(size_t code, size_t position) {
  ThreadSlot().reset();
  return Invalid("zstd: {} at compressed byte {}", ZSTD_getErrorName(code), position);
}

/// Moves `cursor` past a frame; the most bytes that its blocks hold.
int64_t PassFrame(ByteCursor* cursor) {
  const auto descriptor = cursor->Little<uint8_t>();
  const bool single_segment = (descriptor & 0x20) != 0, checksum = (descriptor & 0x04) != 0;
  constexpr std::array<size_t, 4> kDictionary = {0, 1, 2, 4}, kContent = {0, 2, 4, 8};
  const size_t content_flag = descriptor >> 6;
  cursor->Skip((single_segment ? 0 : 1) + kDictionary[descriptor & 3] +
               (content_flag == 0 && single_segment ? 1 : kContent[content_flag]));
  int64_t most = 0;
  for (bool last = false; !last && cursor->ok();) {
    const auto low = cursor->Little<uint16_t>();
    const auto head = static_cast<uint32_t>(low) | static_cast<uint32_t>(cursor->Little<uint8_t>()) << 16;
    last = (head & 1) != 0;
    const uint32_t type = (head >> 1) & 3, size = head >> 3;
    most += type == 2 ? kLargestBlock : size;
    cursor->Skip(type == 1 ? 1 : size);
  }
  if (checksum) cursor->Skip(4);
  return most;
}

/// The most bytes that `payload` decodes to; none when its blocks are not whole.
std::optional<int64_t> MostBytesIn(std::span<const uint8_t> payload) {
  ByteCursor cursor(payload);
  int64_t most = 0;
  while (cursor.ok() && !cursor.at_end()) {
    const auto magic = cursor.Little<uint32_t>();
    if (magic == kMagic) {
      most += PassFrame(&cursor);
    } else if ((magic & kSkippableMask) == kSkippableMagic) {
      cursor.Skip(cursor.Little<uint32_t>());
    } else {
      return std::nullopt;
    }
  }
  return cursor.ok() ? std::optional(most) : std::nullopt;
}

}  // namespace

arrow::Status ZstdSource::Open(std::span<const uint8_t> payload) {
  payload_ = payload;
  position_ = 0;
  decoded_ = {};
  frame_is_open_ = false;
  const auto most = MostBytesIn(payload);
  if (!most) return Invalid("zstd frames are malformed or cut");
  most_left_ = *most;
  is_streaming_ = *most > kMostAtOnce;
  if (is_streaming_) {
    ZSTD_DCtx_reset(ThreadContext(), ZSTD_reset_session_only);
    return arrow::Status::OK();
  }
  scratch_.Clear();
  uint8_t* out = scratch_.Grow(std::max<int64_t>(*most, 1));
  const size_t size =
      ZSTD_decompressDCtx(ThreadContext(), out, static_cast<size_t>(*most), payload.data(), payload.size());
  if (ZSTD_isError(size)) return Failed(size, 0);
  decoded_ = {out, size};
  return arrow::Status::OK();
}

arrow::Result<int64_t> ZstdSource::Read(uint8_t* out, int64_t size) {
  if (!is_streaming_) {
    const auto count = std::min(static_cast<size_t>(size), decoded_.size());
    if (count > 0) std::memcpy(out, decoded_.data(), count);
    decoded_ = decoded_.subspan(count);
    return static_cast<int64_t>(count);
  }
  ZSTD_outBuffer to{out, static_cast<size_t>(size), 0};
  ZSTD_inBuffer from{payload_.data(), payload_.size(), position_};
  // What does not fit stays inside the library, so the input may be used up before the output is.
  while (to.pos < to.size && (from.pos < from.size || frame_is_open_)) {
    const size_t before_in = from.pos, before_out = to.pos;
    const size_t wanted = ZSTD_decompressStream(ThreadContext(), &to, &from);
    if (ZSTD_isError(wanted)) return Failed(wanted, from.pos);
    frame_is_open_ = wanted != 0;
    if (from.pos == before_in && to.pos == before_out && frame_is_open_) {
      return Invalid("zstd frame cut at compressed byte {}", from.pos);
    }
  }
  position_ = from.pos;
  most_left_ -= static_cast<int64_t>(to.pos);
  return static_cast<int64_t>(to.pos);
}

const uint8_t* ZstdSource::Borrow(int64_t size) {
  if (is_streaming_ || static_cast<size_t>(size) > decoded_.size()) return nullptr;
  const uint8_t* bytes = decoded_.data();
  decoded_ = decoded_.subspan(static_cast<size_t>(size));
  return bytes;
}

int64_t ZstdSource::MostLeft() const { return is_streaming_ ? most_left_ : static_cast<int64_t>(decoded_.size()); }

}  // namespace calve::shuffle
