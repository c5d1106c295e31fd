#pragma once

#include "calve/ipc/byte_source.h"
#include "calve/ipc/scratch.h"

#include <cstdint>
#include <span>

namespace calve::shuffle {

/// The content of LZ4 frames. Blocks are decoded one by one: to scratch memory where less than a whole block is asked
/// for, else straight to where they belong. Frames with checksums, dependent blocks or a content size go through the
/// library's own streaming.
class Lz4Source final : public ipc::ByteSource {
 public:
  ~Lz4Source() override = default;
  /// Begins with `payload`, which the source reads while it is used.
  arrow::Status Open(std::span<const uint8_t> payload);

  arrow::Result<int64_t> Read(uint8_t* out, int64_t size) override;
  const uint8_t* Borrow(int64_t size) override;
  int64_t MostLeft() const override;

 private:
  arrow::Status ReadFrameHeader();
  /// Whether there was a block.
  arrow::Result<bool> NextBlock(uint8_t* out, int64_t capacity, int64_t* decoded);
  arrow::Result<bool> StreamOn(uint8_t* out, int64_t capacity, int64_t* decoded);
  arrow::Result<bool> FillScratch();

  std::span<const uint8_t> payload_, left_;
  int64_t largest_block_ = 0;
  bool in_frame_ = false, by_library_ = false, at_end_ = false;
  ipc::Scratch scratch_;
  std::span<const uint8_t> decoded_;  ///< in scratch_, not read yet
};

}  // namespace calve::shuffle
