#include "calve/compress/codec.h"

#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <algorithm>
#include <cstring>

namespace calve {
namespace {

constexpr size_t kFirstGuessBytes = 4096;

ByteSpan BytesOf(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
MutableByteSpan BytesOf(std::string& text) { return {reinterpret_cast<uint8_t*>(text.data()), text.size()}; }

DecodeOutcome DecodeUncompressed(ByteSpan in, MutableByteSpan out) {
  if (in.size() > out.size()) return DecodeOutcome::NoSpace();
  std::memcpy(out.data(), in.data(), in.size());
  return DecodeOutcome::Done(in.size());
}

DecodeOutcome Decode(Codec codec, ByteSpan in, MutableByteSpan out) {
  // What no writer compressed: some leave the bytes of an empty page out altogether.
  if (in.empty()) return DecodeOutcome::Done(0);
  uint8_t nothing = 0;
  if (out.data() == nullptr) out = {&nothing, size_t{0}};
  switch (codec) {
    case Codec::kUncompressed:
      return DecodeUncompressed(in, out);
    case Codec::kSnappy:
      return DecodeSnappy(in, out);
    case Codec::kGzip:
      return DecodeGzip(in, out);
    case Codec::kDeflate:
      return DecodeDeflate(in, out);
    case Codec::kZlib:
      return DecodeZlib(in, out);
    case Codec::kBrotli:
      return DecodeBrotli(in, out);
    case Codec::kZstd:
      return DecodeZstd(in, out);
    case Codec::kLz4Raw:
      return DecodeLz4Raw(in, out);
    case Codec::kLz4Hadoop:
      return DecodeLz4Hadoop(in, out);
  }
  return DecodeOutcome::Malformed();
}

/// A malformed LZ4 block looks like one that is too large; once the format's limit is passed it is the former.
bool Malformed(Codec codec, const DecodeOutcome& outcome, size_t in_size, size_t out_size) {
  if (outcome.kind == DecodeOutcome::kMalformed) return true;
  size_t expansion = MaxExpansion(codec);
  return outcome.kind == DecodeOutcome::kNoSpace && expansion != 0 && out_size / expansion >= in_size;
}

Status MalformedError(Codec codec, size_t in_size) {
  return Invalid("malformed {} data ({} bytes)", ToString(codec), in_size);
}

}  // namespace

std::string_view ToString(Codec codec) {
  switch (codec) {
    case Codec::kUncompressed:
      return "uncompressed";
    case Codec::kSnappy:
      return "snappy";
    case Codec::kGzip:
      return "gzip";
    case Codec::kDeflate:
      return "deflate";
    case Codec::kZlib:
      return "zlib";
    case Codec::kBrotli:
      return "brotli";
    case Codec::kZstd:
      return "zstd";
    case Codec::kLz4Raw:
      return "lz4_raw";
    case Codec::kLz4Hadoop:
      return "lz4";
  }
  return "unknown";
}

size_t MaxExpansion(Codec codec) {
  switch (codec) {
    case Codec::kUncompressed:
      return 1;
    case Codec::kSnappy:
      return 32;  // a copy of 64 bytes takes 3
    case Codec::kGzip:
    case Codec::kDeflate:
    case Codec::kZlib:
      return 1032;  // a match of 258 bytes takes 2 bits
    case Codec::kLz4Raw:
    case Codec::kLz4Hadoop:
      return 256;  // a length byte of 255
    case Codec::kZstd:
      return 32768;  // a run of 128 KiB takes 4
    default:
      return 0;
  }
}

Status CheckLevel(Codec codec, int level, int lowest, int highest) {
  if (level >= lowest && level <= highest) return Status::OK();
  return Invalid("{}: compression level {} is out of range ({} to {})", ToString(codec), level, lowest, highest);
}

Status Decompress(Codec codec, std::span<const uint8_t> in, std::span<uint8_t> out) {
  auto outcome = Decode(codec, in, out);
  if (Malformed(codec, outcome, in.size(), out.size())) return MalformedError(codec, in.size());
  if (outcome.kind == DecodeOutcome::kNoSpace) {
    return Invalid("{} data ({} bytes) is malformed or larger than the expected {} bytes", ToString(codec), in.size(),
                   out.size());
  }
  if (outcome.size_bytes != out.size()) {
    return Invalid("{} data ({} bytes) decompressed to {} bytes, expected {}", ToString(codec), in.size(),
                   outcome.size_bytes, out.size());
  }
  return Status::OK();
}

Result<std::string> DecompressAll(Codec codec, std::span<const uint8_t> in, size_t max_size) {
  // Grows only after the data has filled the last guess, so memory follows what the input really holds.
  size_t capacity = std::min(max_size, std::max(kFirstGuessBytes, in.size() * 4));
  while (true) {
    std::string out(capacity, '\0');
    auto outcome = Decode(codec, in, BytesOf(out));
    if (outcome.kind == DecodeOutcome::kDone) {
      out.resize(outcome.size_bytes);
      return out;
    }
    if (Malformed(codec, outcome, in.size(), capacity)) return MalformedError(codec, in.size());
    if (capacity == max_size) {
      return Invalid("{} data ({} bytes) is malformed or decompresses to more than {} bytes", ToString(codec),
                     in.size(), max_size);
    }
    capacity = capacity > max_size / 2 ? max_size : capacity * 2;
  }
}

size_t MaxCompressedSize(Codec codec, size_t size) {
  switch (codec) {
    case Codec::kUncompressed:
      return size;
    case Codec::kSnappy:
      return SnappyBound(size);
    case Codec::kGzip:
    case Codec::kDeflate:
    case Codec::kZlib:
      return DeflateBound(codec, size);
    case Codec::kBrotli:
      return BrotliBound(size);
    case Codec::kZstd:
      return ZstdBound(size);
    case Codec::kLz4Raw:
      return Lz4RawBound(size);
    case Codec::kLz4Hadoop:
      return Lz4HadoopBound(size);
  }
  return 0;
}

Result<size_t> Compress(Codec codec, std::optional<int> level, std::span<const uint8_t> in, std::span<uint8_t> out,
                        size_t head) {
  if (out.size() < MaxCompressedSize(codec, in.size())) {
    return Invalid("{}: the destination has {} bytes, {} may be needed", ToString(codec), out.size(),
                   MaxCompressedSize(codec, in.size()));
  }
  uint8_t nothing = 0;
  if (in.data() == nullptr) in = {&nothing, size_t{0}};
  switch (codec) {
    case Codec::kUncompressed:
      if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
      return in.size();
    case Codec::kSnappy:
      return EncodeSnappy(in, out);
    case Codec::kGzip:
    case Codec::kDeflate:
    case Codec::kZlib:
      return EncodeDeflate(codec, level, in, out);
    case Codec::kBrotli:
      return EncodeBrotli(level, in, out);
    case Codec::kZstd:
      return EncodeZstd(level, in, out, head);
    case Codec::kLz4Raw:
      return EncodeLz4Raw(level, in, out);
    case Codec::kLz4Hadoop:
      return EncodeLz4Hadoop(level, in, out);
  }
  return Invalid("no such codec: {}", static_cast<int>(codec));
}

Result<std::string> CompressToString(Codec codec, std::optional<int> level, std::string_view in) {
  std::string out(MaxCompressedSize(codec, in.size()), '\0');
  ARROW_ASSIGN_OR_RAISE(size_t size, Compress(codec, level, BytesOf(in), BytesOf(out)));
  out.resize(size);
  return out;
}

}  // namespace calve
