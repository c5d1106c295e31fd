// gzip (RFC 1952), zlib (RFC 1950) and raw deflate (RFC 1951).
//
//   gzip = member+            a writer that appends, or that compresses in parallel, leaves several members
//   member = 1f 8b 08 flags mtime(4) xfl os [extra] [name] [comment] deflate crc32(4) size(4)
//   zlib = cmf flg deflate adler32(4)      cmf & 15 == 8, and cmf * 256 + flg is a multiple of 31
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <libdeflate.h>

#include <array>
#include <memory>
#include <new>

namespace calve {
namespace {

constexpr int kDefaultLevel = 6;
constexpr int kHighestLevel = 12;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* context) const { libdeflate_free_decompressor(context); }
};
struct FreeCompressor {
  void operator()(libdeflate_compressor* context) const { libdeflate_free_compressor(context); }
};

libdeflate_decompressor* ThreadDecompressor() {
  thread_local std::unique_ptr<libdeflate_decompressor, FreeDecompressor> context(libdeflate_alloc_decompressor());
  if (!context) throw std::bad_alloc();
  return context.get();
}

libdeflate_compressor* ThreadCompressor(int level) {
  thread_local std::array<std::unique_ptr<libdeflate_compressor, FreeCompressor>, kHighestLevel + 1> contexts;
  auto& context = contexts[level];
  if (!context) context.reset(libdeflate_alloc_compressor(level));
  if (!context) throw std::bad_alloc();
  return context.get();
}

DecodeOutcome FailureOf(libdeflate_result result) {
  return result == LIBDEFLATE_INSUFFICIENT_SPACE ? DecodeOutcome::NoSpace() : DecodeOutcome::Malformed();
}

bool LooksLikeZlib(ByteSpan in) { return in.size() >= 2 && (in[0] & 15) == 8 && (in[0] * 256 + in[1]) % 31 == 0; }

/// Python writers of Avro cut too little from zlib's form and leave the first bytes of its checksum behind the data.
bool BeginsAdler32(ByteSpan rest, ByteSpan data) {
  if (rest.empty()) return true;
  uint32_t checksum = libdeflate_adler32(1, data.data(), data.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    if (i == 4 || rest[i] != static_cast<uint8_t>(checksum >> (24 - 8 * i))) return false;
  }
  return true;
}

DecodeOutcome DecodeMembers(ByteSpan in, MutableByteSpan out) {
  size_t produced = 0;
  while (!in.empty()) {
    size_t used = 0, size = 0;
    auto result = libdeflate_gzip_decompress_ex(ThreadDecompressor(), in.data(), in.size(), out.data() + produced,
                                                out.size() - produced, &used, &size);
    if (result != LIBDEFLATE_SUCCESS) return FailureOf(result);
    in = in.subspan(used);
    produced += size;
  }
  return DecodeOutcome::Done(produced);
}

}  // namespace

DecodeOutcome DecodeGzip(ByteSpan in, MutableByteSpan out) {
  return LooksLikeZlib(in) ? DecodeZlib(in, out) : DecodeMembers(in, out);
}

DecodeOutcome DecodeZlib(ByteSpan in, MutableByteSpan out) {
  size_t used = 0, size = 0;
  auto result =
      libdeflate_zlib_decompress_ex(ThreadDecompressor(), in.data(), in.size(), out.data(), out.size(), &used, &size);
  if (result != LIBDEFLATE_SUCCESS) return FailureOf(result);
  return used == in.size() ? DecodeOutcome::Done(size) : DecodeOutcome::Malformed();
}

DecodeOutcome DecodeDeflate(ByteSpan in, MutableByteSpan out) {
  size_t used = 0, size = 0;
  auto result = libdeflate_deflate_decompress_ex(ThreadDecompressor(), in.data(), in.size(), out.data(), out.size(),
                                                 &used, &size);
  if (result != LIBDEFLATE_SUCCESS) return FailureOf(result);
  return BeginsAdler32(in.subspan(used), out.first(size)) ? DecodeOutcome::Done(size) : DecodeOutcome::Malformed();
}

size_t DeflateBound(Codec codec, size_t size) {
  if (codec == Codec::kGzip) return libdeflate_gzip_compress_bound(nullptr, size);
  if (codec == Codec::kZlib) return libdeflate_zlib_compress_bound(nullptr, size);
  return libdeflate_deflate_compress_bound(nullptr, size);
}

Result<size_t> EncodeDeflate(Codec codec, std::optional<int> level, ByteSpan in, MutableByteSpan out) {
  ARROW_RETURN_NOT_OK(CheckLevel(codec, level.value_or(kDefaultLevel), 0, kHighestLevel));
  auto* context = ThreadCompressor(level.value_or(kDefaultLevel));
  auto* compress = codec == Codec::kGzip   ? libdeflate_gzip_compress
                   : codec == Codec::kZlib ? libdeflate_zlib_compress
                                           : libdeflate_deflate_compress;
  size_t size = compress(context, in.data(), in.size(), out.data(), out.size());
  if (size == 0) return Invalid("{}: no room for the compressed form of {} bytes", ToString(codec), in.size());
  return size;
}

}  // namespace calve
