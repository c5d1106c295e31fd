// Zstandard (RFC 8878): frames one after another, skippable ones among them.
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <new>

namespace calve {
namespace {

constexpr int kDefaultLevel = 3;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

ZSTD_DCtx* ThreadDecompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

ZSTD_CCtx* ThreadCompressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

/// The most bytes that the frames can hold by what their heads say; 0 when they are malformed.
size_t MostBytesIn(ByteSpan in) {
  size_t most = 0;
  while (!in.empty()) {
    size_t frame = ZSTD_findFrameCompressedSize(in.data(), in.size());
    if (ZSTD_isError(frame)) return 0;
    size_t limit = frame * MaxExpansion(Codec::kZstd);
    auto told = ZSTD_getFrameContentSize(in.data(), in.size());
    if (told == ZSTD_CONTENTSIZE_ERROR) return 0;
    most += told == ZSTD_CONTENTSIZE_UNKNOWN ? limit : std::min<size_t>(told, limit);
    in = in.subspan(frame);
  }
  return most;
}

}  // namespace

DecodeOutcome DecodeZstd(ByteSpan in, MutableByteSpan out) {
  size_t size = ZSTD_decompressDCtx(ThreadDecompressor(), out.data(), out.size(), in.data(), in.size());
  if (!ZSTD_isError(size)) return DecodeOutcome::Done(size);
  if (ZSTD_getErrorCode(size) != ZSTD_error_dstSize_tooSmall) return DecodeOutcome::Malformed();
  // The library also says so of some damaged blocks.
  return out.size() < MostBytesIn(in) ? DecodeOutcome::NoSpace() : DecodeOutcome::Malformed();
}

size_t ZstdBound(size_t size) { return ZSTD_compressBound(size); }

namespace {

/// One frame, in which a block ends behind the first `head` bytes: each block has a code of its own. Returns an error
/// of the library as it does.
size_t EncodeInTwo(ZSTD_CCtx* context, int level, ByteSpan in, MutableByteSpan out, size_t head) {
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setPledgedSrcSize(context, in.size());
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  ZSTD_inBuffer input{in.data(), head, 0};
  size_t left = ZSTD_compressStream2(context, &output, &input, ZSTD_e_flush);
  if (left == 0) {
    input.size = in.size();
    left = ZSTD_compressStream2(context, &output, &input, ZSTD_e_end);
  }
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  if (ZSTD_isError(left)) return left;
  // With room for all there is nothing left.
  return left == 0 ? output.pos : static_cast<size_t>(-ZSTD_error_dstSize_tooSmall);
}

}  // namespace

Result<size_t> EncodeZstd(std::optional<int> level, ByteSpan in, MutableByteSpan out, size_t head) {
  // Of less the second code takes more than it saves.
  constexpr size_t kMuch = 8 << 10;
  const int used = level.value_or(kDefaultLevel);
  ARROW_RETURN_NOT_OK(CheckLevel(Codec::kZstd, used, ZSTD_minCLevel(), ZSTD_maxCLevel()));
  const bool in_two = head >= kMuch && in.size() >= head + kMuch;
  const size_t size = in_two
                          ? EncodeInTwo(ThreadCompressor(), used, in, out, head)
                          : ZSTD_compressCCtx(ThreadCompressor(), out.data(), out.size(), in.data(), in.size(), used);
  if (ZSTD_isError(size)) return Invalid("zstd: {}", ZSTD_getErrorName(size));
  return size;
}

}  // namespace calve
