#pragma once

#include "calve/ipc/byte_source.h"
#include "calve/ipc/scratch.h"

#include <cstdint>
#include <span>

namespace calve::shuffle {

/// The content of snappy's framing format. Chunks that are wanted whole are decoded straight to where they belong.
/// Their checksums are verified.
class SnappySource final : public ipc::ByteSource {
 public:
  ~SnappySource() override = default;
  /// Begins with `payload`, which the source reads while it is used.
  arrow::Status Open(std::span<const uint8_t> payload);

  arrow::Result<int64_t> Read(uint8_t* out, int64_t size) override;
  int64_t MostLeft() const override;

 private:
  struct Chunk {
    bool is_compressed = false;
    uint32_t checksum = 0;
    std::span<const uint8_t> data;
    size_t size = 0;  ///< decompressed
    int64_t position = 0;
  };
  arrow::Result<bool> NextChunk(Chunk* chunk);
  static arrow::Status Decode(const Chunk& chunk, uint8_t* out);

  std::span<const uint8_t> payload_, left_;
  ipc::Scratch scratch_;
  std::span<const uint8_t> decoded_;  ///< in scratch_, not read yet
};

}  // namespace calve::shuffle
