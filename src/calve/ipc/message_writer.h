#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace calve::ipc {

/// Of Arrow's Message.fbs, as they lie in the flatbuffer.
struct FieldNode {
  int64_t length = 0, null_count = 0;
};
struct BufferPlace {
  int64_t offset = 0, length = 0;  ///< from the start of the body; without padding
};

/// What a message of a batch says.
struct BatchContent {
  int64_t rows = 0;
  int64_t body_size = 0;  ///< with padding
  std::vector<FieldNode> nodes;
  std::vector<BufferPlace> buffers;
  std::vector<int64_t> variadic_counts;

  void Clear();
};

/// The metadata of record batches, or of dictionary batches, of one shape: made once, then only its numbers change.
class BatchMessageTemplate {
 public:
  /// For contents with as many nodes, buffers and variadic counts. `dictionary_id`: a dictionary batch.
  BatchMessageTemplate(size_t nodes, size_t buffers, size_t variadic_counts, std::optional<int64_t> dictionary_id);

  bool Fits(const BatchContent& content) const;
  /// Bytes of the message in front of its body: continuation, length, flatbuffer, padding. A multiple of 64.
  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  /// Writes size() bytes. `content` fits.
  void Write(const BatchContent& content, uint8_t* out) const;

 private:
  size_t nodes_, buffers_, variadic_counts_;
  size_t rows_at_ = 0, body_size_at_ = 0, nodes_at_ = 0, buffers_at_ = 0, variadic_at_ = 0;
  std::vector<uint8_t> bytes_;
};

/// The end-of-stream marker.
inline constexpr uint8_t kEndOfStream[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};

}  // namespace calve::ipc
