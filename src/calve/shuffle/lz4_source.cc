// LZ4 frames (LZ4 frame format 1.6), little-endian:
//
//   frame  = 04 22 4D 18  FLG  BD  content_size(u64)?  dictionary_id(u32)?  HC  block* 00 00 00 00  checksum(u32)?
//   block  = size(u32; high bit: stored as it is)  data  checksum(u32)?
#include "calve/shuffle/lz4_source.h"

#include "calve/base/status.h"

#include <lz4.h>
#include <lz4frame.h>

#include <memory>
#include <new>

namespace calve::shuffle {
namespace {

constexpr uint32_t kStoredBit = 0x80000000;
constexpr int64_t kMostExpansion = 255;

struct FreeContext {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

LZ4F_dctx* ThreadContext() {
  thread_local std::unique_ptr<LZ4F_dctx, FreeContext> context;
  if (!context) {
    LZ4F_dctx* made = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION))) throw std::bad_alloc();
    context.reset(made);
  }
  return context.get();
}

int64_t BytesOf(LZ4F_blockSizeID_t id) {
  switch (id) {
    case LZ4F_max256KB:
      return int64_t{256} << 10;
    case LZ4F_max1MB:
      return int64_t{1} << 20;
    case LZ4F_max4MB:
      return int64_t{4} << 20;
    default:
      return int64_t{64} << 10;
  }
}

}  // namespace

arrow::Status Lz4Source::Open(std::span<const uint8_t> payload) {
  payload_ = left_ = payload;
  decoded_ = {};
  in_frame_ = at_end_ = false;
  ARROW_ASSIGN_OR_RAISE(const bool more, FillScratch());
  if (!more) at_end_ = true;
  return arrow::Status::OK();
}

arrow::Status Lz4Source::ReadFrameHeader() {
  LZ4F_dctx* context = ThreadContext();
  LZ4F_resetDecompressionContext(context);
  LZ4F_frameInfo_t info{};
  size_t size = left_.size();
  const size_t result = LZ4F_getFrameInfo(context, &info, left_.data(), &size);
  const auto position = left_.data() - payload_.data();
  if (LZ4F_isError(result)) return Invalid("lz4 frame at compressed byte {}: {}", position, LZ4F_getErrorName(result));
  if (info.frameType == LZ4F_skippableFrame)
    return NotImplemented("skippable lz4 frame at compressed byte {}", position);
  if (info.dictID != 0) return NotImplemented("lz4 frame with a dictionary at compressed byte {}", position);
  by_library_ = info.blockMode == LZ4F_blockLinked || info.contentChecksumFlag != LZ4F_noContentChecksum ||
                info.blockChecksumFlag != LZ4F_noBlockChecksum || info.contentSize != 0;
  largest_block_ = BytesOf(info.blockSizeID);
  left_ = left_.subspan(size);
  in_frame_ = true;
  return arrow::Status::OK();
}

arrow::Result<bool> Lz4Source::NextBlock(uint8_t* out, int64_t capacity, int64_t* decoded) {
  while (true) {
    if (!in_frame_) {
      if (left_.empty()) return false;
      ARROW_RETURN_NOT_OK(ReadFrameHeader());
    }
    if (by_library_) return StreamOn(out, capacity, decoded);
    const auto position = left_.data() - payload_.data();
    if (left_.size() < 4) return Invalid("lz4 frame cut at compressed byte {}", position);
    uint32_t head;
    std::memcpy(&head, left_.data(), sizeof(head));
    left_ = left_.subspan(4);
    if (head == 0) {
      in_frame_ = false;
      continue;
    }
    const size_t size = head & ~kStoredBit;
    if (size > left_.size()) return Invalid("lz4 block of {} bytes cut at compressed byte {}", size, position);
    const auto* from = reinterpret_cast<const char*>(left_.data());
    left_ = left_.subspan(size);
    if ((head & kStoredBit) != 0) {
      if (static_cast<int64_t>(size) > capacity)
        return Invalid("lz4 block of {} bytes at compressed byte {}", size, position);
      std::memcpy(out, from, size);
      *decoded = static_cast<int64_t>(size);
    } else {
      *decoded =
          LZ4_decompress_safe(from, reinterpret_cast<char*>(out), static_cast<int>(size), static_cast<int>(capacity));
      if (*decoded < 0) return Invalid("lz4 block at compressed byte {} is malformed", position);
    }
    if (*decoded > 0) return true;
  }
}

/// By the library, which keeps what later blocks refer to.
arrow::Result<bool> Lz4Source::StreamOn(uint8_t* out, int64_t capacity, int64_t* decoded) {
  *decoded = 0;
  while (*decoded < capacity) {
    size_t out_size = static_cast<size_t>(capacity - *decoded), in_size = left_.size();
    const size_t wanted = LZ4F_decompress(ThreadContext(), out + *decoded, &out_size, left_.data(), &in_size, nullptr);
    const auto position = left_.data() - payload_.data();
    if (LZ4F_isError(wanted))
      return Invalid("lz4 frame at compressed byte {}: {}", position, LZ4F_getErrorName(wanted));
    left_ = left_.subspan(in_size);
    *decoded += static_cast<int64_t>(out_size);
    if (wanted == 0) {
      in_frame_ = false;
      break;
    }
    if (in_size == 0 && out_size == 0) return Invalid("lz4 frame cut at compressed byte {}", position);
  }
  if (*decoded > 0) return true;
  return NextBlock(out, capacity, decoded);
}

arrow::Result<bool> Lz4Source::FillScratch() {
  if (!in_frame_) {
    if (left_.empty()) return false;
    ARROW_RETURN_NOT_OK(ReadFrameHeader());
  }
  scratch_.Clear();
  // No more than the input can hold, whatever its header says.
  const int64_t frame_block = std::min(largest_block_, MostLeft());
  uint8_t* out = scratch_.Grow(frame_block);
  int64_t size = 0;
  decoded_ = {};
  ARROW_ASSIGN_OR_RAISE(const bool more, NextBlock(out, frame_block, &size));
  decoded_ = {out, static_cast<size_t>(size)};
  return more;
}

arrow::Result<int64_t> Lz4Source::Read(uint8_t* out, int64_t size) {
  int64_t done = 0;
  while (done < size && !at_end_) {
    if (!decoded_.empty()) {
      const auto count = std::min(static_cast<size_t>(size - done), decoded_.size());
      std::memcpy(out + done, decoded_.data(), count);
      decoded_ = decoded_.subspan(count);
      done += static_cast<int64_t>(count);
    } else if (in_frame_ && size - done >= largest_block_) {
      int64_t decoded = 0;
      ARROW_ASSIGN_OR_RAISE(const bool more, NextBlock(out + done, largest_block_, &decoded));
      done += decoded;
      at_end_ = !more;
    } else {
      ARROW_ASSIGN_OR_RAISE(const bool more, FillScratch());
      at_end_ = !more;
    }
  }
  return done;
}

/// Only what is decoded already, when nothing will be decoded over it.
const uint8_t* Lz4Source::Borrow(int64_t size) {
  constexpr size_t kEndMark = 4;
  const bool is_last = !by_library_ && (in_frame_ ? left_.size() == kEndMark : left_.empty());
  if (!is_last || static_cast<size_t>(size) > decoded_.size()) return nullptr;
  const uint8_t* bytes = decoded_.data();
  decoded_ = decoded_.subspan(static_cast<size_t>(size));
  return bytes;
}

int64_t Lz4Source::MostLeft() const {
  return static_cast<int64_t>(decoded_.size()) + static_cast<int64_t>(left_.size()) * kMostExpansion +
         (by_library_ ? largest_block_ : 0);
}

}  // namespace calve::shuffle
