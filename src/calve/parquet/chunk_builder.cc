#include "calve/parquet/chunk_builder.h"

#include "calve/base/status.h"
#include "calve/parquet/page_index_builder.h"
#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/value_decoder.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace calve::parquet {
namespace {

/// Adds a page to what the footer says of a chunk's encodings.
void CountEncoding(const WrittenPage& page, ColumnMetadata* metadata) {
  auto& encodings = metadata->encodings;
  if (std::find(encodings.begin(), encodings.end(), page.encoding) == encodings.end()) {
    encodings.push_back(page.encoding);
  }
  for (PageEncodingStats& stats : metadata->encoding_stats) {
    if (stats.page_type == page.type && stats.encoding == page.encoding) {
      ++stats.count;
      return;
    }
  }
  metadata->encoding_stats.push_back({page.type, page.encoding, 1});
}

/// Fills what follows from a chunk's pages.
void DescribePages(WrittenChunk* chunk) {
  ColumnMetadata& metadata = chunk->metadata;
  metadata.encodings = {Encoding::kRle};  // of levels
  for (const WrittenPage& page : chunk->pages) {
    CountEncoding(page, &metadata);
    metadata.total_compressed_size += page.bytes();
    metadata.total_uncompressed_size += page.uncompressed_bytes;
  }
  if (chunk->pages.front().type == PageType::kDictionaryPage) {
    metadata.dictionary_page_offset = 0;
    metadata.data_page_offset = chunk->pages.front().bytes();
  }
}

void AddHistogram(const LevelHistogram& more, LevelHistogram* histogram) {
  if (histogram->size() < more.size()) histogram->resize(more.size());
  for (size_t level = 0; level < more.size(); ++level) (*histogram)[level] += more[level];
}

template <typename T>
int64_t ByteArrayBytes(std::span<const T> values) {
  return 0;
}
template <>
int64_t ByteArrayBytes(std::span<const std::string_view> values) {
  return PlainBytes(values, /*fixed=*/true);
}

/// The filter that a column is to have.
std::optional<BloomFilterBuilder> BloomFilterOf(const ColumnOptions& options, const SchemaElement& element,
                                                arrow::MemoryPool* pool) {
  if (!options.bloom_filter) return std::nullopt;
  const ParquetBloomFilterOptions& filter = *options.bloom_filter;
  const int64_t most = BloomFilterBytes(std::numeric_limits<int64_t>::max(), filter.fpp, filter.max_bytes);
  const int64_t bytes = filter.ndv ? BloomFilterBytes(*filter.ndv, filter.fpp, filter.max_bytes) : most;
  return BloomFilterBuilder(bytes, filter.fpp, ValueWidth(*element.type, element.type_length), pool);
}

}  // namespace

template <typename T>
ChunkBuilder<T>::ChunkBuilder(const WrittenLeaf* leaf, const ParquetWriteOptions* options, const ColumnOptions& own,
                              const PageWriter* page_writer, arrow::MemoryPool* pool)
    : leaf_(leaf),
      page_writer_(page_writer),
      size_statistics_(options->size_statistics),
      distinct_counts_(options->distinct_counts),
      skip_poor_compression_(options->skip_poor_compression),
      fixed_(leaf->column.element.type == PhysicalType::kFixedLenByteArray),
      order_(BoundOrderOf(leaf->column.element)),
      page_bounds_(order_),
      repetition_levels_(leaf->column.max_repetition_level, pool),
      definition_levels_(leaf->column.max_definition_level, pool),
      encoder_(leaf->column.element, own, pool),
      page_encoding_(&leaf->column.element, own.encoding, options->data_page_v2, page_writer->compressor(),
                     page_writer->level(), pool),
      encoded_repetition_levels_(pool),
      encoded_definition_levels_(pool),
      chunk_bounds_(order_),
      bloom_filter_(BloomFilterOf(own, leaf->column.element, pool)),
      file_bounds_(order_) {
  WriteDeltas();
  summary_.field_id = leaf->column.element.field_id.value_or(-1);
  summary_.inside_repeated = leaf->column.max_repetition_level > 0;
}

template <typename T>
int64_t ChunkBuilder<T>::LevelBytesWith(const LeafSlots& slots) const {
  return LevelBytes() + repetition_levels_.BytesOf(slots.slot_count) + definition_levels_.BytesOf(slots.slot_count);
}

template <typename T>
Result<WrittenChunk> ChunkBuilder<T>::Finish() {
  if (page_.row_count > 0) ARROW_RETURN_NOT_OK(SealPage(/*last_of_chunk=*/true));
  WrittenChunk chunk;
  chunk.pages = std::exchange(pages_, {});
  chunk.data_pages = std::exchange(data_pages_, {});
  owned_pages_ = 0;
  borrows_ = false;
  sealed_bytes_ = 0;
  null_page_rows_ = 0;
  null_page_ = {};
  ARROW_RETURN_NOT_OK(AddDictionaryPage(&chunk));
  chunk.metadata.type = *leaf_->column.element.type;
  chunk.metadata.path_in_schema = leaf_->column.path;
  chunk.metadata.codec = compress_ ? page_writer_->codec() : CompressionCodec::kUncompressed;
  compress_ = true;
  DescribePages(&chunk);
  FinishStatistics(&chunk.metadata);
  if (distinct_counts_) chunk.metadata.statistics->distinct_count = DistinctCount(chunk);
  if (size_statistics_) {
    chunk.metadata.size_statistics =
        std::make_shared<SizeStatistics>(MakeSizeStatistics(leaf_->column, chunk.data_pages));
  }
  if (bloom_filter_) {
    ARROW_ASSIGN_OR_RAISE(chunk.bloom_filter, bloom_filter_->Finish());
  }
  page_encoding_.EndChunk();
  WriteDeltas();
  return chunk;
}

template <typename T>
Status ChunkBuilder<T>::Own(arrow::MemoryPool* pool) {
  borrows_ = false;
  for (; owned_pages_ < pages_.size(); ++owned_pages_) ARROW_RETURN_NOT_OK(pages_[owned_pages_].OwnBody(pool));
  for (Bounds<T>* bounds : {&page_bounds_, &chunk_bounds_, &file_bounds_}) bounds->Own();
  return encoder_.Own();
}

/// Values that are to become DELTA_BYTE_ARRAY do so at once, unless a bloom filter needs them as well.
template <typename T>
void ChunkBuilder<T>::WriteDeltas() {
  if constexpr (std::is_same_v<T, std::string_view>) {
    encoder_.WriteDeltas(!bloom_filter_ && page_encoding_.known() == Encoding::kDeltaByteArray);
  }
}

/// Where all values are ids. Reals are none: zeros and NaNs have several entries.
template <typename T>
std::optional<int64_t> ChunkBuilder<T>::DistinctCount(const WrittenChunk& chunk) const {
  const bool has_dictionary = chunk.pages.front().type == PageType::kDictionaryPage;
  if (!has_dictionary || order_ == BoundOrder::kFloat || order_ == BoundOrder::kFloat16) return std::nullopt;
  for (size_t i = 0; i < chunk.data_pages.size(); ++i) {
    const bool is_ids = chunk.pages[i + 1].encoding == Encoding::kRleDictionary;
    if (chunk.data_pages[i].value_count > 0 && !is_ids) return std::nullopt;
  }
  return dictionary_values_;
}

template <typename T>
Status ChunkBuilder<T>::AddDictionaryPage(WrittenChunk* chunk) {
  ARROW_ASSIGN_OR_RAISE(EncodedDictionary dictionary, encoder_.EndChunk());
  dictionary_values_ = dictionary.value_count;
  if (dictionary.values == nullptr) return Status::OK();
  const std::span<const uint8_t> values(dictionary.values->data(), static_cast<size_t>(dictionary.values->size()));
  ARROW_RETURN_NOT_OK(AddToBloomFilter(values, dictionary.value_count));
  auto page = page_writer_->DictionaryPage(*dictionary.values, dictionary.value_count, compress_);
  ARROW_RETURN_NOT_OK(leaf_->InColumn(page.status()));
  chunk->pages.insert(chunk->pages.begin(), page.MoveValueUnsafe());
  return Status::OK();
}

template <typename T>
ParquetColumnSummary ChunkBuilder<T>::summary() const {
  ParquetColumnSummary result = summary_;
  if (file_bounds_.has_values()) {
    result.min = file_bounds_.min();
    result.max = file_bounds_.max();
  }
  return result;
}

template <typename T>
void ChunkBuilder<T>::CountValues(std::span<const T> values) {
  page_.nan_count += CountNans(order_, values);
  if (!fixed_) page_.byte_array_bytes += ByteArrayBytes(values);
}

template <typename T>
void ChunkBuilder<T>::CountEntries(std::span<const T> entries, std::span<const uint32_t> positions) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    for (uint32_t position : positions) {
      page_.byte_array_bytes += fixed_ ? 0 : static_cast<int64_t>(entries[position].size());
    }
  }
  if (order_ != BoundOrder::kFloat && order_ != BoundOrder::kFloat16) return;
  for (uint32_t position : positions) page_.nan_count += CountNans(order_, entries.subspan(position, 1));
}

template <typename T>
Status ChunkBuilder<T>::AppendLevels(const LeafSlots& slots) {
  page_.row_count += slots.row_count;
  page_.slot_count += slots.slot_count;
  page_.value_count += slots.values.count;
  AddHistogram(slots.definition_histogram, &page_.definition_histogram);
  AddHistogram(slots.repetition_histogram, &page_.repetition_histogram);
  if (!slots.flat) {
    ARROW_RETURN_NOT_OK(repetition_levels_.Append(slots.repetition_planes));
    return definition_levels_.Append(slots.definition_planes);
  }
  if (slots.all_null) ARROW_RETURN_NOT_OK(repetition_levels_.AppendRun(0, slots.slot_count));
  if (slots.validity == nullptr) return definition_levels_.AppendRun(slots.all_null ? 0 : 1, slots.slot_count);
  return definition_levels_.AppendBits(slots.validity, slots.validity_offset, slots.slot_count);
}

template <typename T>
Status ChunkBuilder<T>::SealPage(bool last_of_chunk) {
  const bool only_nulls = page_.value_count == 0 && definition_levels_.is_run_of(0);
  if (only_nulls && page_.row_count == null_page_rows_) {
    definition_levels_.Clear();
    repetition_levels_.Clear();
    AddPage(null_page_);
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(WrittenPage page, EncodePage(last_of_chunk));
  // The first page of a chunk may yet decide whether the others are compressed.
  if (only_nulls && (!pages_.empty() || !skip_poor_compression_)) {
    null_page_rows_ = page_.row_count;
    null_page_ = page;
  }
  AddPage(std::move(page));
  return Status::OK();
}

template <typename T>
void ChunkBuilder<T>::AddPage(WrittenPage page) {
  DescribePage();
  sealed_bytes_ += page.bytes();
  borrows_ |= !page.borrowed.empty();
  pages_.push_back(std::move(page));
}

template <typename T>
Result<WrittenPage> ChunkBuilder<T>::EncodePage(bool last_of_chunk) {
  DataPageContent content;
  content.row_count = page_.row_count;
  content.slot_count = page_.slot_count;
  content.value_count = page_.value_count;
  content.has_repetition_levels = leaf_->column.max_repetition_level > 0;
  content.has_definition_levels = leaf_->column.max_definition_level > 0;
  encoded_repetition_levels_.Clear();
  encoded_definition_levels_.Clear();
  ARROW_RETURN_NOT_OK(repetition_levels_.Flush(&encoded_repetition_levels_));
  ARROW_RETURN_NOT_OK(definition_levels_.Flush(&encoded_definition_levels_));
  content.repetition_levels = encoded_repetition_levels_.span();
  content.definition_levels = encoded_definition_levels_.span();
  ARROW_ASSIGN_OR_RAISE(EncodedValues values, encoder_.EncodePage(last_of_chunk, &page_bounds_));
  if (values.encoding == Encoding::kPlain && !std::is_same_v<T, uint8_t>) {
    ARROW_RETURN_NOT_OK(EncodePlain(&values));
  }
  content.encoding = values.encoding;
  content.values = values.pieces;
  if (skip_poor_compression_ && pages_.empty()) {
    ARROW_ASSIGN_OR_RAISE(compress_, page_writer_->IsCompressible(content.values));
  }
  content.compress = compress_;
  auto page = page_writer_->DataPage(content);
  ARROW_RETURN_NOT_OK(leaf_->InColumn(page.status()));
  encoder_.ClearPage();
  WriteDeltas();
  return page;
}

/// Gives values that are in PLAIN the encoding that they are to have.
template <typename T>
Status ChunkBuilder<T>::EncodePlain(EncodedValues* values) {
  if constexpr (!std::is_same_v<T, uint8_t>) {
    if (!bloom_filter_ && page_encoding_.known() == Encoding::kPlain) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(std::span<const uint8_t> bytes, encoder_.PlainInOnePiece());
    ARROW_RETURN_NOT_OK(AddToBloomFilter(bytes, page_.value_count));
    ARROW_ASSIGN_OR_RAISE(bytes, page_encoding_.Encode(bytes, page_.value_count));
    values->encoding = page_encoding_.encoding();
    values->pieces = {PagePiece{bytes, false}};
  }
  return Status::OK();
}

template <typename T>
Status ChunkBuilder<T>::AddToBloomFilter(std::span<const uint8_t> plain, int64_t count) {
  return bloom_filter_ ? bloom_filter_->Add(plain, count) : Status::OK();
}

template <typename T>
void ChunkBuilder<T>::DescribePage() {
  slot_count_ += page_.slot_count;
  null_count_ += page_.null_count();
  nan_count_ += page_.nan_count;
  if (page_bounds_.has_values()) {
    SetPageBounds(leaf_->column.element, page_bounds_.min(), page_bounds_.max(), &page_);
    chunk_bounds_.Update(page_bounds_);
    page_bounds_.Reset();
  }
  data_pages_.push_back(std::exchange(page_, {}));
}

template <typename T>
void ChunkBuilder<T>::FinishStatistics(ColumnMetadata* metadata) {
  metadata->num_values = slot_count_;
  Statistics& statistics = metadata->statistics.emplace();
  statistics.null_count = null_count_;
  if (order_ == BoundOrder::kFloat || order_ == BoundOrder::kFloat16) statistics.nan_count = nan_count_;
  if (chunk_bounds_.has_values()) {
    SetBounds(leaf_->column.element, chunk_bounds_.min(), chunk_bounds_.max(), &statistics);
  }
  summary_.value_count += slot_count_;
  summary_.null_count += null_count_;
  summary_.nan_count += nan_count_;
  file_bounds_.Update(chunk_bounds_);
  chunk_bounds_.Reset();
  slot_count_ = null_count_ = nan_count_ = 0;
}

template class ChunkBuilder<uint8_t>;
template class ChunkBuilder<int32_t>;
template class ChunkBuilder<int64_t>;
template class ChunkBuilder<float>;
template class ChunkBuilder<double>;
template class ChunkBuilder<std::string_view>;

}  // namespace calve::parquet
