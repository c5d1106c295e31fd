#pragma once

#include "calve/ipc/batch_layout.h"
#include "calve/ipc/body.h"
#include "calve/ipc/byte_source.h"
#include "calve/ipc/message.h"
#include "calve/ipc/schema_cache.h"
#include "calve/ipc/scratch.h"

#include <arrow/memory_pool.h>

#include <memory>
#include <vector>

namespace calve::ipc {

/// How a stream of one batch is decoded.
struct DecodeOptions {
  bool trusted = false;               ///< CheckLayout is left out
  bool dictionaries_checked = false;  ///< of the same dictionaries it is, as they were checked before
  bool offsets_as_lengths = false;    ///< 32-bit offsets are stored as UndoOffsetsAsLengths says
  bool align_values = true;           ///< of fixed width, where buffers stay where they are lent
  /// Owns what the source lends: buffers may stay there where their alignment allows it. Null: bodies are copied.
  std::shared_ptr<arrow::Buffer> owner;
};

/// A decoded batch, before it becomes an arrow::RecordBatch or an ArrowArray.
struct Decoded {
  std::shared_ptr<SkeletonPool> schema;
  BatchLayout layout;
  Body body;
  int64_t body_bytes = 0;
  bool in_place = false;

  const BatchPlan& plan() const { return schema->plan(); }
};

/// Decodes streams of one batch each: a schema, any number of dictionaries, a record batch, and an end that may be
/// missing. Keeps its memory from stream to stream. Not thread-safe.
class StreamDecoder {
 public:
  /// `pool` outlives the decoder and all batches.
  explicit StreamDecoder(arrow::MemoryPool* pool) : pool_(pool) {}

  /// Decodes the one stream that `source` holds. Errors name the byte of the stream. The layout points into the body
  /// and holds until the next call.
  Status Decode(ByteSource* source, const DecodeOptions& options, Decoded* out);

 private:
  struct Message {
    const uint8_t* borrowed = nullptr;  ///< the metadata; null: in metadata_
    int64_t offset = 0, size = 0;       ///< of the metadata in metadata_
    int64_t position = 0;               ///< in the stream
    MessageKind kind = MessageKind::kNone;
    int64_t body_size = 0, body_position = 0;
    const uint8_t* body_borrowed = nullptr;
    int64_t body_offset = 0;  ///< in bodies_, then in the batch's body
  };

  Status DecodeAll(const DecodeOptions& options, Decoded* out);
  Status ReadMessages(Decoded* out);
  Status ReadSchema(Decoded* out);
  Result<bool> ReadMetadata(Message* message);
  Status ReadHead(Message* message);
  Status TakeDictionary(Message* message);
  Status PlaceBodies(const DecodeOptions& options, Decoded* out);
  bool MayStayInPlace(const DecodeOptions& options) const;
  Status AlignBuffers(const DecodeOptions& options, Decoded* out);
  Status CopyBodies(Decoded* out);
  Status ReadBatchBody(Decoded* out, int64_t offset, int64_t total);
  Status FillAll(Decoded* out);
  Status FillDictionary(const Message& message, Decoded* out, std::vector<bool>* seen);
  Status FinishDictionaries(Decoded* out, const std::vector<bool>& seen);
  Status ReadEnd();
  Status ReadInto(Scratch* scratch, int64_t size, std::string_view what);
  std::span<const uint8_t> MetadataOf(const Message& message) const;
  std::span<const uint8_t> BodyOf(const Message& message, const Decoded& decoded) const;

  arrow::MemoryPool* pool_;
  ByteSource* source_ = nullptr;
  int64_t position_ = 0;
  Scratch metadata_, bodies_;
  std::vector<Message> dictionaries_;
  Message batch_;
  std::vector<bool> seen_;
};

}  // namespace calve::ipc
