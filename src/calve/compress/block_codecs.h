#pragma once

#include "calve/compress/codec.h"

namespace calve {

/// What a decoder made of its input.
struct DecodeOutcome {
  enum Kind {
    kDone,       ///< all of the input was used; `size_bytes` came out
    kNoSpace,    ///< the input holds more than the destination (LZ4 blocks cannot tell this from kMalformed)
    kMalformed,  ///< the input is not what it should be
  };
  Kind kind = kMalformed;
  size_t size_bytes = 0;

  static DecodeOutcome Done(size_t size) { return {kDone, size}; }
  static DecodeOutcome NoSpace() { return {kNoSpace, 0}; }
  static DecodeOutcome Malformed() { return {kMalformed, 0}; }
};

using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

/// The decoders. `in` is not empty; `out.data()` is not null, even for no bytes. Each writes inside `out` only.
DecodeOutcome DecodeSnappy(ByteSpan in, MutableByteSpan out);
DecodeOutcome DecodeGzip(ByteSpan in, MutableByteSpan out);  ///< members one after another; zlib-wrapped data too
DecodeOutcome DecodeDeflate(ByteSpan in, MutableByteSpan out);
DecodeOutcome DecodeZlib(ByteSpan in, MutableByteSpan out);
DecodeOutcome DecodeBrotli(ByteSpan in, MutableByteSpan out);
DecodeOutcome DecodeZstd(ByteSpan in, MutableByteSpan out);
DecodeOutcome DecodeLz4Raw(ByteSpan in, MutableByteSpan out);
DecodeOutcome DecodeLz4Hadoop(ByteSpan in, MutableByteSpan out);

/// The most bytes that one byte of the format may stand for; 0 when the format has no such limit.
size_t MaxExpansion(Codec codec);

/// The encoders. `out` has the bound's size. Levels outside of the codec's range are Invalid.
size_t DeflateBound(Codec codec, size_t size);  ///< kGzip, kDeflate, kZlib
Result<size_t> EncodeDeflate(Codec codec, std::optional<int> level, ByteSpan in, MutableByteSpan out);
size_t SnappyBound(size_t size);
Result<size_t> EncodeSnappy(ByteSpan in, MutableByteSpan out);
size_t BrotliBound(size_t size);
Result<size_t> EncodeBrotli(std::optional<int> level, ByteSpan in, MutableByteSpan out);
size_t ZstdBound(size_t size);
Result<size_t> EncodeZstd(std::optional<int> level, ByteSpan in, MutableByteSpan out, size_t head);
size_t Lz4RawBound(size_t size);
Result<size_t> EncodeLz4Raw(std::optional<int> level, ByteSpan in, MutableByteSpan out);
size_t Lz4HadoopBound(size_t size);
Result<size_t> EncodeLz4Hadoop(std::optional<int> level, ByteSpan in, MutableByteSpan out);

/// Invalid unless `level` is within [lowest, highest].
Status CheckLevel(Codec codec, int level, int lowest, int highest);

}  // namespace calve
