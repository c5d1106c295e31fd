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

Result<size_t> EncodeZstd(std::optional<int> level, ByteSpan in, MutableByteSpan out) {
  ARROW_RETURN_NOT_OK(CheckLevel(Codec::kZstd, level.value_or(kDefaultLevel), ZSTD_minCLevel(), ZSTD_maxCLevel()));
  size_t size = ZSTD_compressCCtx(ThreadCompressor(), out.data(), out.size(), in.data(), in.size(),
                                  level.value_or(kDefaultLevel));
  if (ZSTD_isError(size)) return Invalid("zstd: {}", ZSTD_getErrorName(size));
  return size;
}

}  // namespace calve
