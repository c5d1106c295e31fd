// The codecs of blocks, as Comet writes them:
//
//   LZ4_  an LZ4 frame: independent blocks of 64 KiB, no content size, no checksums
//           04 22 4D 18  60 40 82  (size:u32 bytes)*  00000000      size's top bit: the bytes are not compressed
//   ZSTD  a Zstandard frame: no content size, no checksum
//   SNAP  snappy's framing format: chunks of up to 64 KiB of content
//           FF 06 00 00 "sNaPpY"  (type:u8 size:u24 crc:u32 bytes)*  type 00: compressed, 01: not; crc: masked CRC-32C
#include "calve/shuffle/block_compressor.h"

#include "calve/base/status.h"
#include "calve/hash/hash.h"

#include <lz4.h>
#include <snappy-c.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace calve::shuffle {

namespace {

using Bytes = std::span<const uint8_t>;
constexpr size_t kChunkSize = 64 * 1024;

void PutLittle32(uint32_t value, uint8_t* out) { std::memcpy(out, &value, 4); }

/// Calls `chunk` with the parts of `payload`, each of kChunkSize bytes but the last.
template <typename Visit>
Status ForEachChunk(Bytes payload, Visit visit) {
  for (; !payload.empty(); payload = payload.subspan(std::min(kChunkSize, payload.size()))) {
    ARROW_RETURN_NOT_OK(visit(payload.first(std::min(kChunkSize, payload.size()))));
  }
  return Status::OK();
}

class Lz4Compressor final : public BlockCompressor {
 public:
  Lz4Compressor() : state_(static_cast<size_t>(LZ4_sizeofState())) {}

  Status Compress(Bytes payload, std::span<const int64_t>, ipc::ByteArena* out) override {
    static constexpr std::array<uint8_t, 7> kHead = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82};
    static constexpr std::array<uint8_t, 4> kEnd = {0, 0, 0, 0};
    ARROW_RETURN_NOT_OK(out->Append(kHead));
    ARROW_RETURN_NOT_OK(ForEachChunk(payload, [&](Bytes chunk) { return AppendChunk(chunk, out); }));
    return out->Append(kEnd);
  }

 private:
  Status AppendChunk(Bytes chunk, ipc::ByteArena* out) {
    const int64_t start = out->size();
    const int in_size = static_cast<int>(chunk.size());
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, out->Extend(4 + in_size));
    // One that does not get smaller does not fit, and is kept as it is.
    const int size = LZ4_compress_fast_extState(state_.data(), reinterpret_cast<const char*>(chunk.data()),
                                                reinterpret_cast<char*>(at + 4), in_size, in_size - 1, 1);
    if (size > 0) {
      PutLittle32(static_cast<uint32_t>(size), at);
      out->Truncate(start + 4 + size);
    } else {
      PutLittle32(static_cast<uint32_t>(in_size) | 0x80000000u, at);
      std::memcpy(at + 4, chunk.data(), chunk.size());
    }
    return Status::OK();
  }

  std::vector<char> state_;
};

class ZstdCompressor final : public BlockCompressor {
 public:
  static Result<std::unique_ptr<BlockCompressor>> Make(int level) {
    if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel()) {
      return Invalid("zstd has no level {}, only {} to {}", level, ZSTD_minCLevel(), ZSTD_maxCLevel());
    }
    std::unique_ptr<ZstdCompressor> made(new ZstdCompressor);
    if (made->context_ == nullptr) return Status::OutOfMemory("zstd: no memory for a context");
    ZSTD_CCtx_setParameter(made->context_.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(made->context_.get(), ZSTD_c_contentSizeFlag, 0);
    ZSTD_CCtx_setParameter(made->context_.get(), ZSTD_c_checksumFlag, 0);
    // For large inputs level 1 looks for matches of 7 bytes; columns of short texts have many of 6.
    if (level == 1) ZSTD_CCtx_setParameter(made->context_.get(), ZSTD_c_minMatch, 6);
    return made;
  }

  // A cut ends a block of the frame, so that what follows gets codes of its own.
  Status Compress(Bytes payload, std::span<const int64_t> cuts, ipc::ByteArena* out) override {
    const int64_t start = out->size();
    constexpr size_t kBlockHead = 3;
    const size_t bound = ZSTD_compressBound(payload.size()) + (cuts.size() + 1) * kBlockHead;
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, out->Extend(static_cast<int64_t>(bound)));
    ZSTD_outBuffer output{at, bound, 0};
    if (cuts.empty()) {
      output.pos = ZSTD_compress2(context_.get(), at, bound, payload.data(), payload.size());
      if (ZSTD_isError(output.pos) != 0) return Invalid("zstd: {}", ZSTD_getErrorName(output.pos));
    } else {
      ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
      ZSTD_CCtx_setPledgedSrcSize(context_.get(), payload.size());
      ZSTD_inBuffer input{payload.data(), 0, 0};
      for (const int64_t cut : cuts) {
        input.size = static_cast<size_t>(cut);
        ARROW_RETURN_NOT_OK(Continue(&input, &output, ZSTD_e_flush));
      }
      input.size = payload.size();
      ARROW_RETURN_NOT_OK(Continue(&input, &output, ZSTD_e_end));
    }
    out->Truncate(start + static_cast<int64_t>(output.pos));
    return Status::OK();
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  ZstdCompressor() : context_(ZSTD_createCCtx()) {}

  Status Continue(ZSTD_inBuffer* input, ZSTD_outBuffer* output, ZSTD_EndDirective directive) {
    const size_t left = ZSTD_compressStream2(context_.get(), output, input, directive);
    if (ZSTD_isError(left) != 0) return Invalid("zstd: {}", ZSTD_getErrorName(left));
    return left == 0 ? Status::OK() : Invalid("zstd: the output does not fit what it is at most");
  }

  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

uint32_t MaskedCrc(Bytes content) {
  const uint32_t crc = Crc32c(content);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

class SnappyCompressor final : public BlockCompressor {
 public:
  Status Compress(Bytes payload, std::span<const int64_t>, ipc::ByteArena* out) override {
    static constexpr std::array<uint8_t, 10> kStreamIdentifier = {0xff, 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};
    ARROW_RETURN_NOT_OK(out->Append(kStreamIdentifier));
    return ForEachChunk(payload, [&](Bytes chunk) { return AppendChunk(chunk, out); });
  }

 private:
  static Status AppendChunk(Bytes chunk, ipc::ByteArena* out) {
    constexpr int64_t kHead = 8;
    const int64_t start = out->size();
    size_t size = snappy_max_compressed_length(chunk.size());
    ARROW_ASSIGN_OR_RAISE(uint8_t* at, out->Extend(kHead + static_cast<int64_t>(size)));
    snappy_compress(reinterpret_cast<const char*>(chunk.data()), chunk.size(), reinterpret_cast<char*>(at + kHead),
                    &size);
    const bool smaller = size < chunk.size();
    if (!smaller) {
      size = chunk.size();
      std::memcpy(at + kHead, chunk.data(), size);
    }
    PutLittle32(static_cast<uint32_t>((size + 4) << 8) | (smaller ? 0x00u : 0x01u), at);
    PutLittle32(MaskedCrc(chunk), at + 4);
    out->Truncate(start + kHead + static_cast<int64_t>(size));
    return Status::OK();
  }
};

}  // namespace

Result<std::unique_ptr<BlockCompressor>> MakeBlockCompressor(ShuffleCodec codec, std::optional<int> level) {
  const bool zstd = codec == ShuffleCodec::kZstd || codec == ShuffleCodec::kZstdOffsetsAsLengths;
  if (zstd) return ZstdCompressor::Make(level.value_or(1));
  if (level) return Invalid("{} blocks have no compression levels", ToString(codec));
  if (codec == ShuffleCodec::kLz4) return std::make_unique<Lz4Compressor>();
  if (codec == ShuffleCodec::kSnappy) return std::make_unique<SnappyCompressor>();
  return nullptr;
}

}  // namespace calve::shuffle
