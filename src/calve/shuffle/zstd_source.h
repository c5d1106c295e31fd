#pragma once

#include "calve/ipc/byte_source.h"
#include "calve/ipc/scratch.h"

#include <cstdint>
#include <span>

namespace calve::shuffle {

/// The content of zstd frames. What is small by its blocks' heads is decoded to scratch memory at once, the rest as a
/// stream. The context is the thread's, and one source at a time may be in use on a thread.
class ZstdSource final : public ipc::ByteSource {
 public:
  ~ZstdSource() override = default;
  /// Begins with `payload`, which the source reads while it is used.
  arrow::Status Open(std::span<const uint8_t> payload);

  arrow::Result<int64_t> Read(uint8_t* out, int64_t size) override;
  const uint8_t* Borrow(int64_t size) override;
  int64_t MostLeft() const override;

 private:
  std::span<const uint8_t> payload_;
  size_t position_ = 0;
  int64_t most_left_ = 0;
  bool is_streaming_ = false, frame_is_open_ = false;
  ipc::Scratch scratch_;
  std::span<const uint8_t> decoded_;  ///< in scratch_, not read yet
};

}  // namespace calve::shuffle
