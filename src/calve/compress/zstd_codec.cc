// Zstandard (RFC 8878): frames one after another, skippable ones among them.
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <zstd.h>
#include <zstd_errors.h>

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

}  // namespace

DecodeOutcome DecodeZstd(ByteSpan in, MutableByteSpan out) {
  size_t size = ZSTD_decompressDCtx(ThreadDecompressor(), out.data(), out.size(), in.data(), in.size());
  if (!ZSTD_isError(size)) return DecodeOutcome::Done(size);
  return ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall ? DecodeOutcome::NoSpace() : DecodeOutcome::Malformed();
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
