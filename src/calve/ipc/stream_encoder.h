#pragma once

#include "calve/ipc/body_encoder.h"
#include "calve/ipc/byte_arena.h"
#include "calve/ipc/dictionary_encoder.h"

#include <arrow/record_batch.h>
#include <arrow/result.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace calve::ipc {

/// Rows of a batch, in order.
struct BatchRows {
  const arrow::RecordBatch* batch = nullptr;
  const uint32_t* rows = nullptr;  ///< null: consecutive rows, from `first`
  int64_t count = 0;
  int64_t first = 0;  ///< added to every row
};

/// Encodes rows of batches as whole IPC streams: schema, dictionaries, one record batch, end marker. Metadata V5,
/// 64-byte alignment. Schema metadata, and that of fields, is left out.
class StreamEncoder {
 public:
  struct Options {
    bool keep_dictionaries = true;  ///< of top-level columns, where that is smaller; false: never
  };
  /// Bytes before each stream that belong to whoever encodes.
  static constexpr int64_t kFront = kAlignment;

  static arrow::Result<std::unique_ptr<StreamEncoder>> Make(std::shared_ptr<arrow::Schema> schema, Options options,
                                                            arrow::MemoryPool* pool);

  /// One stream. The bytes (kFront bytes before them included, which are not written) hold until the next call.
  /// CapacityError where the rows are too many for one batch.
  arrow::Result<std::span<uint8_t>> Encode(std::span<const BatchRows> rows);

  /// The buffers of 32-bit offsets of the last stream, from its first byte; of its record batch only.
  std::span<const OffsetsPlace> offsets() const { return offsets_; }
  /// Where in the last stream, from its first byte, large buffers begin and end: bytes of other kinds. None where it
  /// has dictionaries.
  std::span<const int64_t> cuts() const { return cuts_; }
  /// Whether the last stream has dictionaries.
  bool has_dictionaries() const { return form_->dictionaries > 0; }
  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }

  /// Memory held between calls.
  int64_t held_bytes() const { return stream_.capacity() + aside_.capacity(); }
  /// Gives memory back.
  void Release();

 private:
  /// The schema that blocks have whose columns `plain` are written as values.
  struct Form {
    std::shared_ptr<arrow::Schema> schema;
    std::vector<uint8_t> schema_message;
    std::unique_ptr<BatchMessageTemplate> batch;
    int64_t dictionaries = 0;
  };

  StreamEncoder(std::shared_ptr<arrow::Schema> schema, Options options, arrow::MemoryPool* pool);
  arrow::Result<Form*> FormOf(const std::vector<bool>& plain);
  void CollectSources(std::span<const BatchRows> rows);
  arrow::Result<std::vector<bool>> DecodeColumns();
  arrow::Result<bool> IsBetterPlain(const arrow::DictionaryType& type, Sources sources);
  arrow::Status DecodeColumn(int column);
  arrow::Status EncodeBatch(const Form& form, int64_t rows, ByteArena* arena, BodyEncoder* body);
  arrow::Status EncodeAside(const Form& form, int64_t rows);
  arrow::Status EncodeDictionary(const UsedDictionary& used);
  Sources SourcesOf(int column) const;
  void CutAtBuffers(const BatchContent& content, int64_t body_at);

  std::shared_ptr<arrow::Schema> schema_;
  Options options_;
  arrow::MemoryPool* pool_;
  ByteArena stream_, aside_;
  DictionaryEncoder dictionaries_;
  BodyEncoder stream_body_, aside_body_;
  std::map<std::vector<bool>, Form> forms_;
  Form* form_ = nullptr;
  size_t batches_ = 0;
  std::vector<ColumnRows> sources_;                         ///< batches_ a column
  std::vector<std::shared_ptr<arrow::ArrayData>> decoded_;  ///< columns written as values
  std::vector<OffsetsPlace> offsets_;
  std::vector<int64_t> cuts_;
};

}  // namespace calve::ipc
