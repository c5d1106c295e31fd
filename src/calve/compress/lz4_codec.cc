// LZ4 blocks, bare and in Hadoop's framing.
//
//   hadoop = part*
//   part   = uncompressed_size(u32, big-endian) chunk+      chunks follow until that size is reached
//   chunk  = compressed_size(u32, big-endian) lz4_block
//
// Parquet's deprecated LZ4 codec is this framing in files by parquet-mr and newer parquet-cpp, a bare block in files of
// older parquet-cpp, and an LZ4 frame in others.
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <new>

namespace calve {
namespace {

constexpr size_t kHadoopHeaderBytes = 8;
constexpr uint8_t kFrameMagic[] = {0x04, 0x22, 0x4d, 0x18};

const char* Chars(const uint8_t* bytes) { return reinterpret_cast<const char*>(bytes); }
char* Chars(uint8_t* bytes) { return reinterpret_cast<char*>(bytes); }

uint32_t TakeBigEndian(ByteSpan* in) {
  uint32_t value = uint32_t{(*in)[0]} << 24 | uint32_t{(*in)[1]} << 16 | uint32_t{(*in)[2]} << 8 | (*in)[3];
  *in = in->subspan(4);
  return value;
}

void PutBigEndian(uint8_t* out, uint32_t value) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

/// Decodes one part's chunks into `out`, which has the part's size. Moves `in` past them.
bool DecodePart(ByteSpan* in, MutableByteSpan out) {
  do {
    if (in->size() < 4) return false;
    uint32_t size = TakeBigEndian(in);
    if (size > in->size() || size == 0) return false;
    auto chunk = DecodeLz4Raw(in->first(size), out);
    if (chunk.kind != DecodeOutcome::kDone) return false;
    if (chunk.size_bytes == 0 && !out.empty()) return false;
    *in = in->subspan(size);
    out = out.subspan(chunk.size_bytes);
  } while (!out.empty());
  return true;
}

DecodeOutcome DecodeHadoop(ByteSpan in, MutableByteSpan out) {
  size_t produced = 0;
  while (!in.empty()) {
    if (in.size() < kHadoopHeaderBytes) return DecodeOutcome::Malformed();
    uint32_t size = TakeBigEndian(&in);
    if (size / MaxExpansion(Codec::kLz4Raw) > in.size()) return DecodeOutcome::Malformed();
    if (size > out.size() - produced) return DecodeOutcome::NoSpace();
    if (!DecodePart(&in, out.subspan(produced, size))) return DecodeOutcome::Malformed();
    produced += size;
  }
  return DecodeOutcome::Done(produced);
}

struct FreeFrameContext {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

LZ4F_dctx* ThreadFrameDecompressor() {
  thread_local std::unique_ptr<LZ4F_dctx, FreeFrameContext> context;
  if (!context) {
    LZ4F_dctx* made = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION))) throw std::bad_alloc();
    context.reset(made);
  }
  LZ4F_resetDecompressionContext(context.get());
  return context.get();
}

DecodeOutcome DecodeFrames(ByteSpan in, MutableByteSpan out) {
  auto* context = ThreadFrameDecompressor();
  size_t produced = 0, wanted = 0;
  while (!in.empty()) {
    size_t in_size = in.size(), out_size = out.size() - produced;
    wanted = LZ4F_decompress(context, out.data() + produced, &out_size, in.data(), &in_size, nullptr);
    if (LZ4F_isError(wanted)) return DecodeOutcome::Malformed();
    if (in_size == 0 && out_size == 0) return DecodeOutcome::NoSpace();
    in = in.subspan(in_size);
    produced += out_size;
  }
  if (wanted == 0) return DecodeOutcome::Done(produced);
  // The frame goes on: either it is cut, or what it still holds back did not fit.
  return produced == out.size() ? DecodeOutcome::NoSpace() : DecodeOutcome::Malformed();
}

}  // namespace

DecodeOutcome DecodeLz4Raw(ByteSpan in, MutableByteSpan out) {
  if (in.size() > INT_MAX) return DecodeOutcome::Malformed();
  int capacity = static_cast<int>(std::min<size_t>(out.size(), INT_MAX));
  int size = LZ4_decompress_safe(Chars(in.data()), Chars(out.data()), static_cast<int>(in.size()), capacity);
  return size < 0 ? DecodeOutcome::NoSpace() : DecodeOutcome::Done(static_cast<size_t>(size));
}

DecodeOutcome DecodeLz4Hadoop(ByteSpan in, MutableByteSpan out) {
  auto hadoop = DecodeHadoop(in, out);
  if (hadoop.kind == DecodeOutcome::kDone) return hadoop;
  if (in.size() >= sizeof(kFrameMagic) && std::equal(std::begin(kFrameMagic), std::end(kFrameMagic), in.begin())) {
    auto frames = DecodeFrames(in, out);
    if (frames.kind != DecodeOutcome::kMalformed) return frames;
  }
  auto raw = DecodeLz4Raw(in, out);
  if (raw.kind == DecodeOutcome::kDone && raw.size_bytes == out.size()) return raw;
  return hadoop.kind == DecodeOutcome::kNoSpace ? hadoop : raw;
}

size_t Lz4RawBound(size_t size) {
  return size > LZ4_MAX_INPUT_SIZE ? 0 : static_cast<size_t>(LZ4_compressBound(static_cast<int>(size)));
}

Result<size_t> EncodeLz4Raw(std::optional<int> level, ByteSpan in, MutableByteSpan out) {
  if (in.size() > LZ4_MAX_INPUT_SIZE) return Invalid("lz4: {} bytes are more than a block may have", in.size());
  if (level) ARROW_RETURN_NOT_OK(CheckLevel(Codec::kLz4Raw, *level, 1, LZ4HC_CLEVEL_MAX));
  int in_size = static_cast<int>(in.size()), capacity = static_cast<int>(std::min<size_t>(out.size(), INT_MAX));
  int size = level.value_or(1) < LZ4HC_CLEVEL_MIN
                 ? LZ4_compress_default(Chars(in.data()), Chars(out.data()), in_size, capacity)
                 : LZ4_compress_HC(Chars(in.data()), Chars(out.data()), in_size, capacity, *level);
  if (size <= 0) return Invalid("lz4: no room for the compressed form of {} bytes", in.size());
  return static_cast<size_t>(size);
}

size_t Lz4HadoopBound(size_t size) { return kHadoopHeaderBytes + Lz4RawBound(size); }

Result<size_t> EncodeLz4Hadoop(std::optional<int> level, ByteSpan in, MutableByteSpan out) {
  ARROW_ASSIGN_OR_RAISE(size_t size, EncodeLz4Raw(level, in, out.subspan(kHadoopHeaderBytes)));
  PutBigEndian(out.data(), static_cast<uint32_t>(in.size()));
  PutBigEndian(out.data() + 4, static_cast<uint32_t>(size));
  return size + kHadoopHeaderBytes;
}

}  // namespace calve
