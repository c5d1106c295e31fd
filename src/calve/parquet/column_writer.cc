// From rows to pages. A step takes up to kRowsPerStep rows: their levels, their values, then the page. A page is sealed
// before a step that would make it too large; a step that is too large by itself is halved, down to a single row. So
// every page begins with a row.

#include "calve/parquet/column_writer.h"

#include "calve/base/status.h"
#include "calve/parquet/column_options.h"
#include "calve/parquet/content_chunker.h"
#include "calve/parquet/level_encoder.h"
#include "calve/parquet/levels_writer.h"
#include "calve/parquet/page_encoding.h"
#include "calve/parquet/page_index_builder.h"
#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/plain_gatherer.h"
#include "calve/parquet/statistics.h"
#include "calve/parquet/value_decoder.h"
#include "calve/parquet/value_encoder.h"
#include "calve/parquet/value_gatherer.h"
#include "calve/parquet/value_sample.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

namespace calve::parquet {
namespace {

/// Smaller where a row may be many values.
constexpr int64_t kRowsPerStep = 4096, kNestedRowsPerStep = 2048;
constexpr int64_t kRowsOfWord = 64;  ///< pages of flat columns are cut between words of the validity bitmap
constexpr int64_t kLargestPage = int64_t{1} << 30;  ///< leaves room below 2^31 for compression that expands
/// What a single row may take, which cannot be cut.
constexpr int64_t kLargestRow = std::numeric_limits<int32_t>::max() - (int64_t{1} << 20);

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

template <typename T>
class TypedColumnWriter : public ColumnWriter {
 public:
  TypedColumnWriter(const WrittenLeaf* leaf, const ParquetWriteOptions* options, const ColumnOptions& own,
                    const PageWriter* page_writer, arrow::MemoryPool* pool)
      : leaf_(leaf),
        page_writer_(page_writer),
        size_statistics_(options->size_statistics),
        skip_poor_compression_(options->skip_poor_compression),
        page_rows_(options->page_rows),
        page_bytes_(options->content_chunking ? kLargestPage : std::min(options->page_bytes, kLargestPage)),
        dictionary_bytes_(options->dictionary_bytes),
        rows_per_step_(leaf->column.max_repetition_level > 0 || !std::is_arithmetic_v<T> ? kNestedRowsPerStep
                                                                                         : kRowsPerStep),
        fixed_(leaf->column.element.type == PhysicalType::kFixedLenByteArray),
        pool_(pool),
        order_(BoundOrderOf(leaf->column.element)),
        levels_(leaf, pool),
        slots_(pool),
        values_(leaf, pool),
        plain_gatherer_(&leaf->column.element),
        page_bounds_(order_),
        repetition_levels_(leaf->column.max_repetition_level, pool),
        definition_levels_(leaf->column.max_definition_level, pool),
        encoder_(leaf->column.element, own, pool),
        page_encoding_(&leaf->column.element, own.encoding, page_writer->compressor(), page_writer->level(), pool),
        encoded_repetition_levels_(pool),
        encoded_definition_levels_(pool),
        chunk_bounds_(order_),
        bloom_filter_(BloomFilterOf(own, leaf->column.element, pool)),
        file_bounds_(order_) {
    if (options->content_chunking) chunker_.emplace(*options->content_chunking);
    summary_.field_id = leaf->column.element.field_id.value_or(-1);
    summary_.inside_repeated = leaf->column.max_repetition_level > 0;
  }

  Status Write(const arrow::ArrayData& field, int64_t row, int64_t count) override {
    ARROW_RETURN_NOT_OK(levels_.Bind(field));
    if (!levels_.all_null()) ARROW_RETURN_NOT_OK(BindValues(row, count));
    const int64_t rows_per_step = levels_.all_null() ? page_rows_ : rows_per_step_;
    while (count > 0) {
      int64_t step = std::min({count, rows_per_step, page_rows_ - page_.row_count});
      bool cut = false;
      if (chunker_) {
        ARROW_ASSIGN_OR_RAISE(const int64_t before, RowsBeforeCut(row, step));
        cut = before < step;
        step = before;
      }
      if (step > 0) ARROW_RETURN_NOT_OK(WriteStep(row, step));
      if (page_.row_count >= page_rows_ || (cut && page_.row_count > 0)) {
        ARROW_RETURN_NOT_OK(SealPage(/*last_of_chunk=*/false));
      }
      row += step;
      count -= step;
    }
    return Status::OK();
  }

  void EndBatch() override {
    levels_.Unbind();
    values_.Unbind();
    gathers_plain_ = false;
  }

  int64_t chunk_bytes() const override { return sealed_bytes_ + LevelBytes() + encoder_.bytes(); }

  Result<WrittenChunk> FinishChunk() override {
    if (page_.row_count > 0) ARROW_RETURN_NOT_OK(SealPage(/*last_of_chunk=*/true));
    WrittenChunk chunk;
    chunk.pages = std::exchange(pages_, {});
    chunk.data_pages = std::exchange(data_pages_, {});
    sealed_bytes_ = 0;
    null_page_rows_ = 0;
    null_page_ = {};
    ARROW_ASSIGN_OR_RAISE(EncodedDictionary dictionary, encoder_.EndChunk());
    if (dictionary.values != nullptr) {
      ARROW_RETURN_NOT_OK(AddToBloomFilter({dictionary.values->data(), static_cast<size_t>(dictionary.values->size())},
                                           dictionary.value_count));
      auto page = page_writer_->DictionaryPage(*dictionary.values, dictionary.value_count, compress_);
      ARROW_RETURN_NOT_OK(InColumn(page.status()));
      chunk.pages.insert(chunk.pages.begin(), page.MoveValueUnsafe());
    }
    chunk.metadata.type = *leaf_->column.element.type;
    chunk.metadata.path_in_schema = leaf_->column.path;
    chunk.metadata.codec = compress_ ? page_writer_->codec() : CompressionCodec::kUncompressed;
    compress_ = true;
    DescribePages(&chunk);
    FinishStatistics(&chunk.metadata);
    if (size_statistics_) {
      chunk.metadata.size_statistics =
          std::make_shared<SizeStatistics>(MakeSizeStatistics(leaf_->column, chunk.data_pages));
    }
    if (bloom_filter_) {
      ARROW_ASSIGN_OR_RAISE(chunk.bloom_filter, bloom_filter_->Finish());
    }
    page_encoding_.EndChunk();
    if (chunker_) chunker_->Reset();
    return chunk;
  }

  ParquetColumnSummary summary() const override {
    ParquetColumnSummary result = summary_;
    if (file_bounds_.has_values()) {
      result.min = file_bounds_.min();
      result.max = file_bounds_.max();
    }
    return result;
  }

 private:
  static constexpr bool kIsBoolean = std::is_same_v<T, uint8_t>;
  static constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

  Status InColumn(const Status& status) const {
    if (status.ok()) return status;
    return WithContext(status, fmt::format("column '{}'", leaf_->name()));
  }

  int64_t LevelBytes() const { return repetition_levels_.estimated_bytes() + definition_levels_.estimated_bytes(); }
  int64_t LevelBytesWithStep() const {
    return LevelBytes() + repetition_levels_.BytesOf(slots_.slot_count) + definition_levels_.BytesOf(slots_.slot_count);
  }

  Status BindValues(int64_t row, int64_t count) {
    ARROW_RETURN_NOT_OK(InColumn(values_.Bind(levels_.leaf_array())));
    gathers_plain_ = kIsBytes && !values_.has_entries() && plain_gatherer_.Bind(levels_.leaf_array());
    return ChooseDictionary(row, count);
  }

  /// Decides against a dictionary when a sample of the rows that begin the chunk says so.
  Status ChooseDictionary(int64_t row, int64_t count) {
    if constexpr (!kIsBoolean) {
      const bool begins = slot_count_ == null_count_ && page_.value_count == 0;
      if (!begins || !encoder_.uses_dictionary() || values_.has_entries()) return Status::OK();
      ARROW_ASSIGN_OR_RAISE(const std::span<const T> sample, Sample(row, count));
      ARROW_ASSIGN_OR_RAISE(const bool hopeless, DictionaryIsHopeless(sample, fixed_, dictionary_bytes_, pool_));
      if (hopeless) encoder_.SkipDictionary();
    }
    return Status::OK();
  }

  Result<std::span<const T>> Sample(int64_t row, int64_t count) {
    const arrow::ArrayData& array = levels_.leaf_array();
    const bool flat = leaf_->steps.size() == 1;
    const int64_t begin = flat ? row : 0, length = flat ? count : array.length;
    const int64_t stride = length / kSampleClusters;
    if (stride < 2 * kSampleClusterSlots || array.type->id() == arrow::Type::NA) return std::span<const T>();
    slots_.ranges.Clear();
    slots_.value_bits.Clear();
    const bool has_nulls = array.null_count != 0 && array.buffers[0] != nullptr;
    for (int64_t i = 0; i < kSampleClusters; ++i) {
      const int64_t start = begin + i * stride;
      ARROW_RETURN_NOT_OK(slots_.ranges.Append({start, kSampleClusterSlots}));
      if (!has_nulls) continue;
      ARROW_RETURN_NOT_OK(
          slots_.value_bits.Append(array.buffers[0]->data(), array.offset + start, kSampleClusterSlots));
    }
    const ValueSlots sample{slots_.ranges.span(), has_nulls ? slots_.value_bits.bytes() : nullptr, 0,
                            has_nulls ? slots_.value_bits.CountSet() : kSampleClusters * kSampleClusterSlots};
    auto values = values_.Gather(sample);
    // What no row reaches may be anything.
    return values.ok() ? *values : std::span<const T>();
  }

  /// How many of the rows come before a place that content gives for a page to end.
  Result<int64_t> RowsBeforeCut(int64_t row, int64_t count) {
    ARROW_RETURN_NOT_OK(levels_.Build(row, count, &slots_));
    const int max_level = leaf_->column.max_definition_level;
    if (values_.has_entries()) {
      auto positions = values_.GatherPositions(slots_.values);
      ARROW_RETURN_NOT_OK(InColumn(positions.status()));
      if (std::exchange(weights_generation_, values_.entries_generation()) != values_.entries_generation()) {
        entry_weights_.clear();
        for (const T& entry : values_.entries()) entry_weights_.push_back(ContentChunker::WeightOf(entry));
      }
      return chunker_->RowsBeforeCut(slots_, max_level, entry_weights_, *positions);
    }
    auto values = values_.Gather(slots_.values);
    ARROW_RETURN_NOT_OK(InColumn(values.status()));
    return chunker_->RowsBeforeCut(slots_, max_level, *values);
  }

  Status WriteStep(int64_t row, int64_t count) {
    ARROW_RETURN_NOT_OK(levels_.Build(row, count, &slots_));
    if constexpr (!kIsBoolean) {
      if (values_.has_entries() && encoder_.uses_dictionary()) return WriteEntries(row, count);
    }
    if constexpr (kIsBytes) {
      if (gathers_plain_ && encoder_.writes_plain()) return WritePlain(row, count);
    }
    auto gathered = values_.Gather(slots_.values);
    ARROW_RETURN_NOT_OK(InColumn(gathered.status()));
    const std::span<const T> values = *gathered;
    return PutStep(
        row, count, [&] { return encoder_.BytesWith(values); },
        [&] {
          CountValues(values);
          return encoder_.Append(values, &page_bounds_);
        });
  }

  /// Values that need not be looked at one by one.
  Status WritePlain(int64_t row, int64_t count) {
    const int64_t bytes = plain_gatherer_.Bytes(slots_.values);
    return PutStep(
        row, count, [&] { return encoder_.BytesWith({}) + bytes; },
        [&]() -> Result<bool> {
          auto* plain = encoder_.plain_values();
          ARROW_RETURN_NOT_OK(InColumn(plain_gatherer_.Append(slots_.values, bytes, plain, &page_bounds_)));
          if (!fixed_) {
            page_.byte_array_bytes += bytes - slots_.values.count * static_cast<int64_t>(sizeof(uint32_t));
          }
          return true;
        });
  }

  /// Values of an Arrow dictionary, of which each is looked up once.
  Status WriteEntries(int64_t row, int64_t count) {
    auto gathered = values_.GatherPositions(slots_.values);
    ARROW_RETURN_NOT_OK(InColumn(gathered.status()));
    const std::span<const uint32_t> positions = *gathered;
    const std::span<const T> entries = values_.entries();
    return PutStep(
        row, count, [&] { return encoder_.BytesWithEntries(entries, positions); },
        [&]() -> Result<bool> {
          ARROW_ASSIGN_OR_RAISE(bool appended,
                                encoder_.AppendEntries(entries, positions, values_.entries_generation()));
          if (appended) {
            CountEntries(entries, positions);
            return true;
          }
          ARROW_ASSIGN_OR_RAISE(const std::span<const T> values, values_.Gather(slots_.values));
          CountValues(values);
          return encoder_.Append(values, &page_bounds_);
        });
  }

  /// Adds a step to the page, once it is cut so that it fits. `bytes_with()`: what the page's values take with the
  /// step's; `append()`: false when the page has to end before them.
  template <typename BytesWith, typename Append>
  Status PutStep(int64_t row, int64_t count, const BytesWith& bytes_with, const Append& append) {
    int64_t bytes = LevelBytesWithStep() + bytes_with();
    if (bytes > page_bytes_ && page_.row_count > 0) {
      ARROW_RETURN_NOT_OK(SealPage(/*last_of_chunk=*/false));
      bytes = LevelBytesWithStep() + bytes_with();
    }
    if (bytes > page_bytes_ && count > 1) {
      const int64_t half = count / 2 > kRowsOfWord ? count / 2 / kRowsOfWord * kRowsOfWord : count / 2;
      ARROW_RETURN_NOT_OK(WriteStep(row, half));
      return WriteStep(row + half, count - half);
    }
    if (bytes > kLargestRow) {
      return Invalid("column '{}': a row of {} bytes does not fit into a page, which holds at most {}", leaf_->name(),
                     bytes, kLargestRow);
    }
    const int64_t nans = page_.nan_count, byte_array_bytes = page_.byte_array_bytes;
    ARROW_ASSIGN_OR_RAISE(bool appended, append());
    if (!appended) {
      page_.nan_count = nans;
      page_.byte_array_bytes = byte_array_bytes;
      if (page_.row_count > 0) ARROW_RETURN_NOT_OK(SealPage(/*last_of_chunk=*/false));
      return WriteStep(row, count);
    }
    return AppendLevels();
  }

  void CountValues(std::span<const T> values) {
    page_.nan_count += CountNans(order_, values);
    if (!fixed_) page_.byte_array_bytes += ByteArrayBytes(values);
  }

  /// The same for the entries at `positions`.
  void CountEntries(std::span<const T> entries, std::span<const uint32_t> positions) {
    if constexpr (kIsBytes) {
      for (uint32_t position : positions) {
        page_.byte_array_bytes += fixed_ ? 0 : static_cast<int64_t>(entries[position].size());
      }
    }
    if (order_ != BoundOrder::kFloat && order_ != BoundOrder::kFloat16) return;
    for (uint32_t position : positions) page_.nan_count += CountNans(order_, entries.subspan(position, 1));
  }

  Status AppendLevels() {
    page_.row_count += slots_.row_count;
    page_.slot_count += slots_.slot_count;
    page_.value_count += slots_.values.count;
    AddHistogram(slots_.definition_histogram, &page_.definition_histogram);
    AddHistogram(slots_.repetition_histogram, &page_.repetition_histogram);
    if (!slots_.flat) {
      ARROW_RETURN_NOT_OK(repetition_levels_.Append(slots_.repetition_planes));
      return definition_levels_.Append(slots_.definition_planes);
    }
    if (slots_.all_null) ARROW_RETURN_NOT_OK(repetition_levels_.AppendRun(0, slots_.slot_count));
    if (slots_.validity == nullptr) return definition_levels_.AppendRun(slots_.all_null ? 0 : 1, slots_.slot_count);
    return definition_levels_.AppendBits(slots_.validity, slots_.validity_offset, slots_.slot_count);
  }

  Status SealPage(bool last_of_chunk) {
    const bool only_nulls = page_.value_count == 0 && definition_levels_.is_run_of(0);
    if (only_nulls && page_.row_count == null_page_rows_) {
      definition_levels_.Clear();
      repetition_levels_.Clear();
      AddPage(null_page_);
      return Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(WrittenPage page, EncodePage(last_of_chunk));
    // The first page of a chunk may yet decide what becomes of the others.
    if (only_nulls && !pages_.empty()) {
      null_page_rows_ = page_.row_count;
      null_page_ = page;
    }
    AddPage(std::move(page));
    return Status::OK();
  }

  /// Puts the open page among those that are done.
  void AddPage(WrittenPage page) {
    DescribePage();
    sealed_bytes_ += page.bytes();
    pages_.push_back(std::move(page));
  }

  Result<WrittenPage> EncodePage(bool last_of_chunk) {
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
      ARROW_RETURN_NOT_OK(AddToBloomFilter(values.bytes, page_.value_count));
      ARROW_ASSIGN_OR_RAISE(values.bytes, page_encoding_.Encode(values.bytes, page_.value_count));
      values.encoding = page_encoding_.encoding();
    }
    content.encoding = values.encoding;
    content.values = values.bytes;
    if (skip_poor_compression_ && pages_.empty()) {
      ARROW_ASSIGN_OR_RAISE(compress_, page_writer_->IsCompressible(content.values));
    }
    content.compress = compress_;
    auto page = page_writer_->DataPage(content);
    ARROW_RETURN_NOT_OK(InColumn(page.status()));
    encoder_.ClearPage();
    return page;
  }

  Status AddToBloomFilter(std::span<const uint8_t> plain, int64_t count) {
    return bloom_filter_ ? bloom_filter_->Add(plain, count) : Status::OK();
  }

  void DescribePage() {
    slot_count_ += page_.slot_count;
    null_count_ += page_.null_count();
    nan_count_ += page_.nan_count;
    if (page_bounds_.has_values()) {
      page_.min = page_bounds_.min();
      page_.max = page_bounds_.max();
      CutBounds(leaf_->column.element, &page_);
      chunk_bounds_.Update(page_bounds_);
      page_bounds_.Reset();
    }
    data_pages_.push_back(std::exchange(page_, {}));
  }

  void FinishStatistics(ColumnMetadata* metadata) {
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

  const WrittenLeaf* leaf_;
  const PageWriter* page_writer_;
  const bool size_statistics_, skip_poor_compression_;
  const int64_t page_rows_, page_bytes_, dictionary_bytes_, rows_per_step_;
  const bool fixed_;
  arrow::MemoryPool* const pool_;
  const BoundOrder order_;

  // The step.
  LevelsWriter levels_;
  LeafSlots slots_;
  ValueGatherer<T> values_;
  PlainGatherer plain_gatherer_;
  bool gathers_plain_ = false;
  std::optional<ContentChunker> chunker_;
  std::vector<ContentChunker::Weight> entry_weights_;  ///< of a dictionary's values
  int64_t weights_generation_ = -1;

  // The open page.
  PageDescription page_;
  Bounds<T> page_bounds_;
  LevelEncoder repetition_levels_, definition_levels_;
  ValueEncoder<T> encoder_;
  PageEncoding page_encoding_;
  ByteBuffer encoded_repetition_levels_, encoded_definition_levels_;

  // The chunk.
  std::vector<WrittenPage> pages_;
  std::vector<PageDescription> data_pages_;
  bool compress_ = true;  ///< unless a sample showed that it does not pay
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

}  // namespace

std::unique_ptr<ColumnWriter> ColumnWriter::Make(const WrittenLeaf* leaf, const ParquetWriteOptions* options,
                                                 const PageWriter* pages, arrow::MemoryPool* pool) {
  const ColumnOptions own = ColumnOptions::Make(*options, *leaf);
  switch (*leaf->column.element.type) {
    case PhysicalType::kBoolean:
      return std::make_unique<TypedColumnWriter<uint8_t>>(leaf, options, own, pages, pool);
    case PhysicalType::kInt32:
      return std::make_unique<TypedColumnWriter<int32_t>>(leaf, options, own, pages, pool);
    case PhysicalType::kInt64:
      return std::make_unique<TypedColumnWriter<int64_t>>(leaf, options, own, pages, pool);
    case PhysicalType::kFloat:
      return std::make_unique<TypedColumnWriter<float>>(leaf, options, own, pages, pool);
    case PhysicalType::kDouble:
      return std::make_unique<TypedColumnWriter<double>>(leaf, options, own, pages, pool);
    default:
      return std::make_unique<TypedColumnWriter<std::string_view>>(leaf, options, own, pages, pool);
  }
}

}  // namespace calve::parquet
