// Brotli (RFC 7932). Its contexts cannot be reset, so each call makes one.
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <brotli/decode.h>
#include <brotli/encode.h>

#include <memory>
#include <new>

namespace calve {
namespace {

constexpr int kDefaultQuality = 5;  // the library's own default, 11, is hundreds of times slower

struct FreeDecoder {
  void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
};

}  // namespace

DecodeOutcome DecodeBrotli(ByteSpan in, MutableByteSpan out) {
  std::unique_ptr<BrotliDecoderState, FreeDecoder> state(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr));
  if (!state) throw std::bad_alloc();
  size_t in_left = in.size(), out_left = out.size();
  const uint8_t* next_in = in.data();
  uint8_t* next_out = out.data();
  auto result = BrotliDecoderDecompressStream(state.get(), &in_left, &next_in, &out_left, &next_out, nullptr);
  if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) return DecodeOutcome::NoSpace();
  if (result != BROTLI_DECODER_RESULT_SUCCESS || in_left != 0) return DecodeOutcome::Malformed();
  return DecodeOutcome::Done(out.size() - out_left);
}

size_t BrotliBound(size_t size) { return BrotliEncoderMaxCompressedSize(size); }

Result<size_t> EncodeBrotli(std::optional<int> level, ByteSpan in, MutableByteSpan out) {
  int quality = level.value_or(kDefaultQuality);
  ARROW_RETURN_NOT_OK(CheckLevel(Codec::kBrotli, quality, BROTLI_MIN_QUALITY, BROTLI_MAX_QUALITY));
  size_t size = out.size();
  if (!BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW, BROTLI_DEFAULT_MODE, in.size(), in.data(), &size,
                             out.data())) {
    return Invalid("brotli: no room for the compressed form of {} bytes", in.size());
  }
  return size;
}

}  // namespace calve
