#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace calve {

using arrow::Result;
using arrow::Status;

/// Block compression formats, as the file formats above name them.
enum class Codec {
  kUncompressed,
  kSnappy,   ///< raw snappy
  kGzip,     ///< RFC 1952, one or more members
  kDeflate,  ///< raw RFC 1951 (Avro's "deflate"); up to 4 bytes of a zlib checksum may follow
  kZlib,     ///< RFC 1950, also accepted where a writer put it for gzip
  kBrotli,
  kZstd,       ///< one or more frames
  kLz4Raw,     ///< one LZ4 block
  kLz4Hadoop,  ///< Parquet's deprecated LZ4: Hadoop framing, with fallbacks to a frame and to a raw block
};

std::string_view ToString(Codec codec);

/// Decompresses `in` into exactly `out.size()` bytes. Invalid when the data is malformed, or comes out longer or
/// shorter. Never reads or writes outside the spans. No bytes decompress to no bytes, whatever the codec. Contexts are
/// reused per thread.
Status Decompress(Codec codec, std::span<const uint8_t> in, std::span<uint8_t> out);

/// Decompresses data whose decompressed size is not known, up to `max_size` bytes; Invalid beyond.
Result<std::string> DecompressAll(Codec codec, std::span<const uint8_t> in, size_t max_size);

/// The largest size that `size` bytes may compress to.
size_t MaxCompressedSize(Codec codec, size_t size);
/// Compresses into `out`, which has MaxCompressedSize bytes; returns the size used. `level` none: the codec's default.
/// The first `head` bytes may be of another kind than the rest: where there is much of both, zstd gives them a code of
/// their own.
Result<size_t> Compress(Codec codec, std::optional<int> level, std::span<const uint8_t> in, std::span<uint8_t> out,
                        size_t head = 0);
/// The same, as a string.
Result<std::string> CompressToString(Codec codec, std::optional<int> level, std::string_view in);

}  // namespace calve
