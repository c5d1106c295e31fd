// Snappy's framing format, little-endian:
//
//   stream = FF 06 00 00 "sNaPpY" chunk*
//   chunk  = type(u8) size(u24) data      type 0: checksum(u32) and raw snappy, 1: checksum(u32) and bytes as they are,
//                                         80 to FE: passed over, FF: the stream's beginning again, others: refused
//
// The checksum is CRC-32C of the decompressed bytes, rotated and with a constant added. A chunk holds 64 KiB at most.
#include "calve/shuffle/snappy_source.h"

#include "calve/base/status.h"
#include "calve/compress/codec.h"
#include "calve/hash/hash.h"

#include <snappy.h>

#include <string_view>

namespace calve::shuffle {
namespace {

constexpr uint8_t kCompressed = 0x00, kStored = 0x01, kFirstSkippable = 0x80, kBeginning = 0xFF;
constexpr std::string_view kMagic("\xff\x06\x00\x00sNaPpY", 10);
constexpr size_t kHeadBytes = 4, kChecksumBytes = 4, kLargestChunk = size_t{64} << 10;
constexpr int64_t kMostExpansion = 64;

uint32_t MaskedCrc(std::span<const uint8_t> bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

const char* Chars(std::span<const uint8_t> bytes) { return reinterpret_cast<const char*>(bytes.data()); }

}  // namespace

arrow::Status SnappySource::Open(std::span<const uint8_t> payload) {
  payload_ = left_ = payload;
  decoded_ = {};
  if (payload.size() >= kMagic.size() && std::string_view(Chars(payload), kMagic.size()) == kMagic) {
    return arrow::Status::OK();
  }
  return Invalid("payload does not begin as a snappy stream does");
}

/// Passes over chunks without data.
arrow::Result<bool> SnappySource::NextChunk(Chunk* chunk) {
  while (!left_.empty()) {
    chunk->position = left_.data() - payload_.data();
    if (left_.size() < kHeadBytes) return Invalid("snappy chunk cut at compressed byte {}", chunk->position);
    const uint8_t type = left_[0];
    const size_t size = left_[1] | static_cast<size_t>(left_[2]) << 8 | static_cast<size_t>(left_[3]) << 16;
    if (size > left_.size() - kHeadBytes) {
      return Invalid("snappy chunk of {} bytes cut at compressed byte {}", size, chunk->position);
    }
    auto data = left_.subspan(kHeadBytes, size);
    left_ = left_.subspan(kHeadBytes + size);
    if (type == kBeginning && std::string_view(Chars(data), size) != kMagic.substr(kHeadBytes)) {
      return Invalid("snappy stream begins wrongly at compressed byte {}", chunk->position);
    }
    if (type >= kFirstSkippable) continue;
    if (type > kStored) return Invalid("snappy chunk of unknown type {} at compressed byte {}", type, chunk->position);
    if (size < kChecksumBytes) return Invalid("snappy chunk of {} bytes at compressed byte {}", size, chunk->position);
    std::memcpy(&chunk->checksum, data.data(), kChecksumBytes);
    chunk->is_compressed = type == kCompressed;
    chunk->data = data.subspan(kChecksumBytes);
    chunk->size = chunk->data.size();
    if (chunk->is_compressed && !snappy::GetUncompressedLength(Chars(chunk->data), chunk->data.size(), &chunk->size)) {
      return Invalid("snappy chunk at compressed byte {} is malformed", chunk->position);
    }
    if (chunk->size > kLargestChunk) {
      return Invalid("snappy chunk of {} bytes decompressed at compressed byte {}", chunk->size, chunk->position);
    }
    return true;
  }
  return false;
}

arrow::Status SnappySource::Decode(const Chunk& chunk, uint8_t* out) {
  if (!chunk.is_compressed) {
    if (chunk.size > 0) std::memcpy(out, chunk.data.data(), chunk.size);
  } else if (!Decompress(Codec::kSnappy, chunk.data, {out, chunk.size}).ok()) {
    return Invalid("snappy chunk at compressed byte {} is malformed", chunk.position);
  }
  if (MaskedCrc({out, chunk.size}) == chunk.checksum) return arrow::Status::OK();
  return Invalid("snappy chunk at compressed byte {}: its checksum is another", chunk.position);
}

arrow::Result<int64_t> SnappySource::Read(uint8_t* out, int64_t size) {
  const auto wanted = static_cast<size_t>(size);
  size_t done = 0;
  while (done < wanted) {
    if (!decoded_.empty()) {
      const size_t count = std::min(wanted - done, decoded_.size());
      std::memcpy(out + done, decoded_.data(), count);
      decoded_ = decoded_.subspan(count);
      done += count;
      continue;
    }
    Chunk chunk;
    ARROW_ASSIGN_OR_RAISE(const bool more, NextChunk(&chunk));
    if (!more) break;
    const bool fits = chunk.size <= wanted - done;
    scratch_.Clear();
    uint8_t* to = fits ? out + done : scratch_.Grow(static_cast<int64_t>(chunk.size));
    ARROW_RETURN_NOT_OK(Decode(chunk, to));
    if (fits) {
      done += chunk.size;
    } else {
      decoded_ = {to, chunk.size};
    }
  }
  return static_cast<int64_t>(done);
}

int64_t SnappySource::MostLeft() const {
  return static_cast<int64_t>(decoded_.size()) + static_cast<int64_t>(left_.size()) * kMostExpansion;
}

}  // namespace calve::shuffle
