// The head of a shuffle block, little-endian:
//
//   block  = length(u64) field_count(u64) tag(4 bytes) payload
//   length = bytes after the length field, at most INT32_MAX
#include "calve/base/byte_cursor.h"
#include "calve/base/status.h"
#include "calve/shuffle_block.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

namespace calve {
namespace {

struct NamedCodec {
  ShuffleCodec codec;
  std::string_view tag, name;
};

constexpr std::array<NamedCodec, 5> kCodecs = {
    {{ShuffleCodec::kNone, "NONE", "none"},
     {ShuffleCodec::kLz4, "LZ4_", "lz4"},
     {ShuffleCodec::kZstd, "ZSTD", "zstd"},
     {ShuffleCodec::kSnappy, "SNAP", "snappy"},
     {ShuffleCodec::kZstdOffsetsAsLengths, "\xDASTD", "zstd, offsets as lengths"}}};

const NamedCodec& Find(ShuffleCodec codec) {
  return *std::find_if(kCodecs.begin(), kCodecs.end(), [&](const NamedCodec& known) { return known.codec == codec; });
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

}  // namespace

std::string_view ToString(ShuffleCodec codec) { return Find(codec).name; }

arrow::Result<ShuffleBlockHeader> ParseShuffleBlockHeader(std::span<const uint8_t> bytes, int64_t offset) {
  ByteCursor cursor(bytes);
  const auto length = cursor.Little<uint64_t>();
  if (!cursor.ok()) {
    return Invalid("shuffle block at byte {}: partial length prefix, {} of 8 bytes", offset, bytes.size());
  }
  constexpr uint64_t kLeast = ShuffleBlockHeader::kSize - ShuffleBlockHeader::kLengthBytes;
  if (length < kLeast || length > INT32_MAX) {
    return Invalid("shuffle block at byte {}: length {} is not within {} and {}", offset, length, kLeast, INT32_MAX);
  }
  const auto field_count = cursor.Little<uint64_t>();
  const auto tag = cursor.Text(4);
  if (!cursor.ok()) {
    return Invalid("shuffle block at byte {}: head cut, {} of {} bytes", offset, bytes.size(),
                   int64_t{ShuffleBlockHeader::kSize});
  }
  const auto known =
      std::find_if(kCodecs.begin(), kCodecs.end(), [&](const NamedCodec& named) { return named.tag == tag; });
  if (known == kCodecs.end()) return Invalid("shuffle block at byte {}: unknown tag {}", offset + 16, Hex(tag));
  return ShuffleBlockHeader{static_cast<int64_t>(length), static_cast<int64_t>(field_count), known->codec};
}

void PutShuffleBlockHeader(const ShuffleBlockHeader& header, uint8_t* out) {
  const auto put = [&](uint64_t value) {
    for (int i = 0; i < 8; ++i) *out++ = static_cast<uint8_t>(value >> (8 * i));
  };
  put(static_cast<uint64_t>(header.length));
  put(static_cast<uint64_t>(header.field_count));
  std::memcpy(out, Find(header.codec).tag.data(), 4);
}

}  // namespace calve
