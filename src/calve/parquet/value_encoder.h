#pragma once

#include "calve/parquet/column_options.h"
#include "calve/parquet/delta_byte_array_encoder.h"
#include "calve/parquet/dictionary_encoder.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_pieces.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet/statistics.h"

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace calve::parquet {

/// The values of a data page, as the file has them.
struct EncodedValues {
  Encoding encoding = Encoding::kPlain;
  std::vector<PagePiece> pieces;
};

/// A chunk's dictionary; no values: the chunk has none.
struct EncodedDictionary {
  int64_t value_count = 0;
  std::shared_ptr<arrow::Buffer> values;  ///< PLAIN
};

/// Encodes the values of one column, page after page: with a dictionary as long as that pays, PLAIN otherwise.
///
/// A chunk begins with a dictionary unless it is switched off. Its first page that has values decides: when the
/// dictionary does not pay, or is full before, the page is encoded as PLAIN, and so is the chunk. A dictionary that is
/// full later stays for the pages that use it, and the pages after them are PLAIN. One whose values come eight
/// times each, on average, may grow to sixteen times the size. Long byte arrays are not copied while they stay where
/// they are. T as in ValueGatherer, without booleans.
template <typename T>
class ValueEncoder {
 public:
  ValueEncoder(const SchemaElement& element, const ColumnOptions& options, arrow::MemoryPool* pool);

  /// Bytes of the open page's values, estimated, with `values` added, as far as they count for the size of a page.
  Result<int64_t> BytesWith(std::span<const T> values);
  /// Bytes that the open page's values and the dictionary will take.
  int64_t bytes() const;

  /// Adds values to the open page, and some to `bounds`. BYTE_ARRAY values stay where they are until Own(). False, with
  /// nothing added: the page must end when it has values, and what BytesWith says is another.
  Result<bool> Append(std::span<const T> values, Bounds<T>* bounds);
  /// True while values become ids of the dictionary; then entries may be appended, too.
  bool uses_dictionary() const { return state_ != State::kPlain; }
  /// True while values are written in PLAIN: then they may be appended to `plain_values()` as well, and to the bounds,
  /// by the caller.
  bool writes_plain() const { return state_ == State::kPlain && ids_.empty() && !deltas_; }
  ByteBuffer* plain_values() { return plain_.own(); }
  int64_t plain_bytes() const { return plain_.size(); }
  /// Whether values without a dictionary become DELTA_BYTE_ARRAY at once; while the open page has none. They are PLAIN
  /// otherwise.
  void WriteDeltas(bool deltas) { deltas_ = kIsBytes && deltas; }
  /// No dictionary for this chunk; before its first value.
  void SkipDictionary() { state_ = State::kPlain; }
  /// The same as Append for the values entries[positions[i]], each entry looked up once. `generation` tells one set of
  /// entries from another.
  Result<bool> AppendEntries(std::span<const T> entries, std::span<const uint32_t> positions, int64_t generation);
  int64_t BytesWithEntries(std::span<const T> entries, std::span<const uint32_t> positions) const;
  /// The open page, which is valid until ClearPage. Adds the page's values to `bounds`, unless Append did so.
  Result<EncodedValues> EncodePage(bool last_of_chunk, Bounds<T>* bounds);
  /// The values of a page that EncodePage gave in PLAIN, in one piece.
  Result<std::span<const uint8_t>> PlainInOnePiece();
  void ClearPage();
  /// Copies values that are still where they were when they were appended.
  Status Own();
  /// The dictionary that pages of the chunk use. Begins another chunk.
  Result<EncodedDictionary> EndChunk();

 private:
  enum class State { kUndecided, kDictionary, kPlain };
  static constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;
  static constexpr uint32_t kNoId = ~uint32_t{0};
  int64_t IdBytes(int64_t more) const;
  Result<bool> Identify(std::span<const T> entries, std::span<const uint32_t> positions);
  bool Pays(bool last_of_chunk) const;
  /// Makes room in a dictionary that is full when it is worth it.
  bool MayGrow();
  Status Abandon(Bounds<T>* bounds);
  Status AppendWithoutDictionary(std::span<const T> values, Bounds<T>* bounds);
  int64_t PlainPageBytes() const { return deltas_ ? delta_page_.bytes() : plain_.size(); }
  void ResetDictionary();
  /// Adds the values that the page's ids stand for, each once.
  Status UpdateBounds(Bounds<T>* bounds);

  const bool fixed_, may_use_dictionary_;
  const int64_t dictionary_bytes_, page_bytes_;  ///< largest, as a rule
  State state_;
  bool has_dictionary_pages_ = false;
  DictionaryEncoder<T> dictionary_;
  int64_t chunk_ids_ = 0;           ///< values of the chunk that are ids
  PoolVector<uint32_t> ids_;        ///< of the open page, when it uses the dictionary
  int64_t ids_in_bounds_ = 0;       ///< the first so many of `ids_` stand for values that the bounds have seen
  PoolVector<uint32_t> entry_ids_;  ///< of the entries that were appended last; kNoId: not looked up
  int64_t entries_generation_ = -1;
  PoolVector<uint8_t> used_;  ///< one a dictionary value: 1 when the page uses it
  int64_t plain_bytes_ = 0;   ///< what the values of `ids_` would take
  bool deltas_ = false;       ///< the open page is DELTA_BYTE_ARRAY when it does not, else PLAIN
  PiecedBytes plain_;
  DeltaByteArrayPage delta_page_;
  ByteBuffer encoded_ids_;
};

/// The same for booleans: PLAIN, RLE, or for each page the smaller of the two.
template <>
class ValueEncoder<uint8_t> {
 public:
  ValueEncoder(const SchemaElement& element, const ColumnOptions& options, arrow::MemoryPool* pool)
      : wanted_(options.encoding), bits_(pool), runs_(pool) {}

  Result<int64_t> BytesWith(std::span<const uint8_t> values) const { return BitBytesWith(values); }
  int64_t BitBytesWith(std::span<const uint8_t> values) const {
    return (count_ + static_cast<int64_t>(values.size()) + 7) / 8;
  }
  int64_t bytes() const { return BitBytesWith({}); }
  Result<bool> Append(std::span<const uint8_t> values, Bounds<uint8_t>* bounds);
  bool uses_dictionary() const { return false; }
  Result<EncodedValues> EncodePage(bool last_of_chunk, Bounds<uint8_t>* bounds);
  void ClearPage();
  Status Own() { return Status::OK(); }
  Result<EncodedDictionary> EndChunk();

 private:
  const std::optional<Encoding> wanted_;
  int64_t count_ = 0;
  ByteBuffer bits_, runs_;
};

}  // namespace calve::parquet
