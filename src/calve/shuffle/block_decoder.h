#pragma once

#include "calve/ipc/stream_decoder.h"
#include "calve/shuffle/lz4_source.h"
#include "calve/shuffle/snappy_source.h"
#include "calve/shuffle/zstd_source.h"
#include "calve/shuffle_block.h"

#include <arrow/result.h>

#include <memory>
#include <span>

namespace calve::shuffle {

/// Decodes the payloads of blocks: the codec, and the IPC stream in it. Keeps its memory from block to block. Not
/// thread-safe.
class BlockDecoder {
 public:
  /// `pool` outlives all batches.
  BlockDecoder(arrow::MemoryPool* pool, bool trusted, bool align_values = true)
      : decoder_(pool), trusted_(trusted), align_values_(align_values) {}

  /// `owner`: keeps `payload` in memory, so that it may be decoded in place; null: it is gone afterwards.
  arrow::Status Decode(ShuffleCodec codec, std::span<const uint8_t> payload,
                       const std::shared_ptr<arrow::Buffer>& owner, ipc::Decoded* out);
  /// An uncompressed payload from elsewhere.
  arrow::Status Decode(ipc::ByteSource* source, ipc::Decoded* out);

 private:
  ipc::StreamDecoder decoder_;
  const bool trusted_, align_values_;
  Lz4Source lz4_;
  ZstdSource zstd_;
  SnappySource snappy_;
};

}  // namespace calve::shuffle
