#pragma once

#include "calve/parquet/bloom_filter_builder.h"
#include "calve/parquet/column_options.h"
#include "calve/parquet/column_writer.h"
#include "calve/parquet/level_encoder.h"
#include "calve/parquet/levels_writer.h"
#include "calve/parquet/page_description.h"
#include "calve/parquet/page_encoding.h"
#include "calve/parquet/page_writer.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet/statistics.h"
#include "calve/parquet/value_encoder.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace calve::parquet {

/// The open page of one leaf column, the pages of its chunk that are done, and what is said of both. Rows come step by
/// step: the caller appends a step's values to `encoder()`, counts them, and then its levels. T as in ValueGatherer.
template <typename T>
class ChunkBuilder {
 public:
  /// `leaf` and `page_writer` outlive the builder.
  ChunkBuilder(const WrittenLeaf* leaf, const ParquetWriteOptions* options, const ColumnOptions& own,
               const PageWriter* page_writer, arrow::MemoryPool* pool);

  ValueEncoder<T>& encoder() { return encoder_; }
  PageDescription* page() { return &page_; }
  Bounds<T>* page_bounds() { return &page_bounds_; }
  /// True once the chunk has a value.
  bool has_values() const { return slot_count_ > null_count_ || page_.value_count > 0; }
  /// Bytes that the chunk has now.
  int64_t bytes() const { return sealed_bytes_ + LevelBytes() + encoder_.bytes(); }
  /// Bytes of the open page's levels, a step's included, estimated.
  int64_t LevelBytesWith(const LeafSlots& slots) const;

  bool has_pages() const { return !pages_.empty(); }
  /// Makes room for so many pages more.
  void ReservePages(int64_t count) {
    pages_.reserve(pages_.size() + static_cast<size_t>(count));
    data_pages_.reserve(data_pages_.size() + static_cast<size_t>(count));
  }
  /// Counts NaNs and bytes of values in the open page.
  void CountValues(std::span<const T> values);
  /// The same for the entries at `positions`.
  void CountEntries(std::span<const T> entries, std::span<const uint32_t> positions);
  /// Adds a step's levels, and with them its rows.
  Status AppendLevels(const LeafSlots& slots);
  /// Puts the open page among those that are done.
  Status SealPage(bool last_of_chunk);
  /// True when pages refer to values of the batch.
  bool borrows() const { return borrows_; }
  /// Copies whatever refers to the batch.
  Status Own(arrow::MemoryPool* pool);
  /// Ends the chunk. The next step begins another.
  Result<WrittenChunk> Finish();
  /// Of all chunks that have ended.
  ParquetColumnSummary summary() const;

 private:
  int64_t LevelBytes() const { return repetition_levels_.estimated_bytes() + definition_levels_.estimated_bytes(); }
  Result<WrittenPage> EncodePage(bool last_of_chunk);
  Status EncodePlain(EncodedValues* values);
  void WriteDeltas();
  void AddPage(WrittenPage page);
  void DescribePage();
  Status AddDictionaryPage(WrittenChunk* chunk);
  std::optional<int64_t> DistinctCount(const WrittenChunk& chunk) const;
  Status AddToBloomFilter(std::span<const uint8_t> plain, int64_t count);
  void FinishStatistics(ColumnMetadata* metadata);

  const WrittenLeaf* leaf_;
  const PageWriter* page_writer_;
  const bool size_statistics_, distinct_counts_, skip_poor_compression_, fixed_;
  const BoundOrder order_;

  // The open page.
  PageDescription page_;
  Bounds<T> page_bounds_;
  LevelEncoder repetition_levels_, definition_levels_;
  ValueEncoder<T> encoder_;
  PageEncoding page_encoding_;
  ByteBuffer encoded_repetition_levels_, encoded_definition_levels_;

  // The chunk.
  std::vector<WrittenPage> pages_;
  size_t owned_pages_ = 0;  ///< the first so many refer to no batch
  bool borrows_ = false;
  std::vector<PageDescription> data_pages_;
  int64_t dictionary_values_ = 0;  ///< of the chunk that ended last
  bool compress_ = true;           ///< unless a sample showed that it does not pay
  int64_t sealed_bytes_ = 0;
  int64_t null_page_rows_ = 0;
  WrittenPage null_page_;  ///< of `null_page_rows_` rows that are null: another of as many is the same
  int64_t slot_count_ = 0, null_count_ = 0, nan_count_ = 0;
  Bounds<T> chunk_bounds_;
  std::optional<BloomFilterBuilder> bloom_filter_;

  // The file.
  Bounds<T> file_bounds_;
  ParquetColumnSummary summary_;
};

}  // namespace calve::parquet
