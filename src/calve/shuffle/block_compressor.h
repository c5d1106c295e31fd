#pragma once

#include "calve/ipc/byte_arena.h"
#include "calve/shuffle_block.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace calve::shuffle {

/// Compresses payloads, its context kept from one to the next.
class BlockCompressor {
 public:
  virtual ~BlockCompressor() = default;
  /// Appends the coded form of `payload` to `out`. `cuts`, in ascending order: where other kinds of bytes begin, which
  /// are better coded apart.
  virtual arrow::Status Compress(std::span<const uint8_t> payload, std::span<const int64_t> cuts,
                                 ipc::ByteArena* out) = 0;
};

/// Null for ShuffleCodec::kNone. Invalid when the codec has no such level.
arrow::Result<std::unique_ptr<BlockCompressor>> MakeBlockCompressor(ShuffleCodec codec, std::optional<int> level);

}  // namespace calve::shuffle
