#pragma once

#include "calve/ipc/byte_arena.h"
#include "calve/ipc/column_rows.h"
#include "calve/ipc/message_writer.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <vector>

namespace calve::ipc {

/// A buffer of `values` 32-bit offsets, `position` bytes into the arena.
struct OffsetsPlace {
  int64_t position = 0, values = 0;
};

/// Writes the entries of dictionary columns that the rows use.
class DictionarySink {
 public:
  virtual ~DictionarySink() = default;
  /// Numbers the entries that `sources` (dictionary arrays) use, and writes each row's number, `index_width` bytes, to
  /// `out`. Rows that are null get 0. Invalid when the numbers do not fit.
  virtual arrow::Status Renumber(int64_t id, const arrow::DictionaryType& type, Sources sources, uint8_t* out) = 0;
};

/// Builds the bodies of record batches, buffer after buffer, from rows of arrays: chosen rows are gathered straight
/// into the arena. Offsets begin at 0, a validity bitmap of valid rows only is left out (its buffer is empty), views
/// get one data buffer with what their rows use, and of run-end encoded arrays equal neighbouring runs of one source
/// stay one.
///
/// The layout is that of the IPC format, "Recordbatch message": nodes and buffers in pre-order.
class BodyEncoder {
 public:
  BodyEncoder(ByteArena* arena, DictionarySink* dictionaries) : arena_(arena), dictionaries_(dictionaries) {}

  /// Begins a body of `rows` rows at the arena's end. Dictionary columns get ids in pre-order, from
  /// `first_dictionary_id`.
  void Begin(int64_t rows, int64_t first_dictionary_id);
  /// Adds a column: `rows` rows in `sources`, all of `type`.
  arrow::Status Add(const arrow::DataType& type, Sources sources, int64_t rows);
  /// Ends it: its content, valid until the next Begin.
  const BatchContent& End();

  /// Of all bodies since the last call of ClearOffsets.
  const std::vector<OffsetsPlace>& offsets() const { return offsets_; }
  void ClearOffsets() { offsets_.clear(); }

 private:
  arrow::Status AddBool(Sources sources, int64_t rows);
  arrow::Status AddFixed(int64_t width, Sources sources, int64_t rows);
  template <typename Offset>
  arrow::Status AddBinary(Sources sources, int64_t rows);
  arrow::Status AddViews(Sources sources, int64_t rows);
  template <typename Offset>
  arrow::Status AddList(const arrow::DataType& type, Sources sources, int64_t rows);
  template <typename Offset>
  arrow::Status AddListView(const arrow::DataType& type, Sources sources, int64_t rows);
  arrow::Status AddFixedList(const arrow::DataType& type, Sources sources, int64_t rows);
  arrow::Status AddStruct(const arrow::DataType& type, Sources sources, int64_t rows);
  arrow::Status AddUnion(const arrow::DataType& type, Sources sources, int64_t rows);
  arrow::Status AddDenseChildren(const arrow::DataType& type, Sources sources, int64_t rows);
  arrow::Status AddDictionary(const arrow::DataType& type, Sources sources, int64_t rows);
  arrow::Status AddRunEnds(const arrow::DataType& type, Sources sources, int64_t rows);

  arrow::Status AddNode(Sources sources, int64_t rows);  ///< with its validity buffer
  arrow::Result<uint8_t*> StartBuffer(int64_t size);
  arrow::Status EndBuffer();
  arrow::Result<int64_t> GatherBits(Sources sources, int64_t rows, size_t buffer, uint8_t* out);
  template <typename Offset>
  arrow::Result<int64_t> WriteOffsets(Sources sources, int64_t rows);

  ByteArena* arena_;
  DictionarySink* dictionaries_;
  int64_t body_start_ = 0, buffer_start_ = 0, next_dictionary_id_ = 0;
  BatchContent content_;
  std::vector<OffsetsPlace> offsets_;
};

/// How many dictionaries there are in `type`, at any depth.
int64_t CountDictionaries(const arrow::DataType& type);

}  // namespace calve::ipc
