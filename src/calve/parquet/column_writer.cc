// From rows to pages. A step takes up to kRowsPerStep rows: their levels, their values, then the page. A page is sealed
// before a step that would make it too large; a step that is too large by itself is halved, down to a single row. So
// every page begins with a row.

#include "calve/parquet/column_writer.h"

#include "calve/base/status.h"
#include "calve/parquet/chunk_builder.h"
#include "calve/parquet/column_options.h"
#include "calve/parquet/content_chunker.h"
#include "calve/parquet/levels_writer.h"
#include "calve/parquet/plain_gatherer.h"
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
/// What a single row may take, which cannot be cut.
constexpr int64_t kLargestRow = std::numeric_limits<int32_t>::max() - (int64_t{1} << 20);

template <typename T>
class TypedColumnWriter : public ColumnWriter {
 public:
  TypedColumnWriter(const WrittenLeaf* leaf, const ParquetWriteOptions* options, const ColumnOptions& own,
                    const PageWriter* page_writer, arrow::MemoryPool* pool)
      : leaf_(leaf),
        page_writer_(page_writer),
        page_rows_(options->page_rows),
        page_bytes_(own.page_bytes),
        dictionary_bytes_(options->dictionary_bytes),
        rows_per_step_(leaf->column.max_repetition_level > 0 || !std::is_arithmetic_v<T> ? kNestedRowsPerStep
                                                                                         : kRowsPerStep),
        fixed_(leaf->column.element.type == PhysicalType::kFixedLenByteArray),
        pool_(pool),
        levels_(leaf, pool),
        slots_(pool),
        values_(leaf, pool),
        plain_gatherer_(&leaf->column.element),
        chunk_(leaf, options, own, page_writer, pool) {
    if (options->content_chunking) chunker_.emplace(*options->content_chunking);
  }

  Status Write(const arrow::ArrayData& field, int64_t row, int64_t count) override {
    ARROW_RETURN_NOT_OK(levels_.Bind(field));
    if (!levels_.all_null()) {
      ARROW_RETURN_NOT_OK(BindValues(row, count));
    } else if (!chunk_.has_pages()) {
      chunk_.ReservePages(count / page_rows_ + 1);
    }
    const int64_t rows_per_step = levels_.all_null() ? page_rows_ : rows_per_step_;
    while (count > 0) {
      int64_t step = std::min({count, rows_per_step, page_rows_ - chunk_.page()->row_count});
      bool cut = false;
      if (chunker_) {
        ARROW_ASSIGN_OR_RAISE(const int64_t before, RowsBeforeCut(row, step));
        cut = before < step;
        step = before;
      }
      if (step > 0) ARROW_RETURN_NOT_OK(WriteStep(row, step));
      if (chunk_.page()->row_count >= page_rows_ || (cut && chunk_.page()->row_count > 0)) {
        ARROW_RETURN_NOT_OK(chunk_.SealPage(/*last_of_chunk=*/false));
      }
      row += step;
      count -= step;
    }
    return Status::OK();
  }

  bool borrows() const override { return chunk_.borrows(); }
  Status EndBatch() override {
    const Status owned = chunk_.Own(pool_);
    levels_.Unbind();
    values_.Unbind();
    gathers_plain_ = false;
    return owned;
  }

  int64_t chunk_bytes() const override { return chunk_.bytes(); }
  ParquetColumnSummary summary() const override { return chunk_.summary(); }

  Result<WrittenChunk> FinishChunk() override {
    if (chunker_) chunker_->Reset();
    return chunk_.Finish();
  }

 private:
  static constexpr bool kIsBoolean = std::is_same_v<T, uint8_t>;
  static constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

  Status BindValues(int64_t row, int64_t count) {
    ARROW_RETURN_NOT_OK(leaf_->InColumn(values_.Bind(levels_.leaf_array())));
    gathers_plain_ = kIsBytes && !values_.has_entries() && plain_gatherer_.Bind(levels_.leaf_array());
    return ChooseDictionary(row, count);
  }

  /// Decides against a dictionary when a sample of the rows that begin the chunk says so.
  Status ChooseDictionary(int64_t row, int64_t count) {
    if constexpr (!kIsBoolean) {
      if (chunk_.has_values() || !chunk_.encoder().uses_dictionary() || values_.has_entries()) return Status::OK();
      ARROW_ASSIGN_OR_RAISE(const std::span<const T> sample, Sample(row, count));
      ARROW_ASSIGN_OR_RAISE(bool hopeless, DictionaryIsHopeless(sample, fixed_, dictionary_bytes_, pool_));
      if (!hopeless) {
        ARROW_ASSIGN_OR_RAISE(
            hopeless, PlainCompressesBetter(sample, fixed_, dictionary_bytes_, count, page_writer_->compressor(),
                                            page_writer_->level(), pool_));
      }
      if (hopeless) chunk_.encoder().SkipDictionary();
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
      ARROW_RETURN_NOT_OK(leaf_->InColumn(positions.status()));
      if (std::exchange(weights_generation_, values_.entries_generation()) != values_.entries_generation()) {
        entry_weights_.clear();
        for (const T& entry : values_.entries()) entry_weights_.push_back(ContentChunker::WeightOf(entry));
      }
      return chunker_->RowsBeforeCut(slots_, max_level, entry_weights_, *positions);
    }
    auto values = values_.Gather(slots_.values);
    ARROW_RETURN_NOT_OK(leaf_->InColumn(values.status()));
    return chunker_->RowsBeforeCut(slots_, max_level, *values);
  }

  Status WriteStep(int64_t row, int64_t count) {
    ARROW_RETURN_NOT_OK(levels_.Build(row, count, &slots_));
    if constexpr (!kIsBoolean) {
      if (values_.has_entries() && chunk_.encoder().uses_dictionary()) return WriteEntries(row, count);
    }
    if constexpr (kIsBytes) {
      if (gathers_plain_ && chunk_.encoder().writes_plain()) {
        const int64_t bytes = plain_gatherer_.Bytes(slots_.values);
        if (fixed_ || bytes < slots_.values.count * kLongValueBytes) return WritePlain(row, count, bytes);
      }
    }
    auto gathered = values_.Gather(slots_.values);
    ARROW_RETURN_NOT_OK(leaf_->InColumn(gathered.status()));
    const std::span<const T> values = *gathered;
    return PutStep(
        row, count, [&] { return chunk_.encoder().BytesWith(values); },
        [&] {
          chunk_.CountValues(values);
          return chunk_.encoder().Append(values, chunk_.page_bounds());
        });
  }

  /// Values that need not be looked at one by one.
  Status WritePlain(int64_t row, int64_t count, int64_t bytes) {
    return PutStep(
        row, count, [&]() -> Result<int64_t> { return chunk_.encoder().plain_bytes() + bytes; },
        [&]() -> Result<bool> {
          // The page before may have decided on an encoding.
          if (!chunk_.encoder().writes_plain()) return false;
          auto* plain = chunk_.encoder().plain_values();
          ARROW_RETURN_NOT_OK(
              leaf_->InColumn(plain_gatherer_.Append(slots_.values, bytes, plain, chunk_.page_bounds())));
          if (!fixed_) {
            chunk_.page()->byte_array_bytes += bytes - slots_.values.count * static_cast<int64_t>(sizeof(uint32_t));
          }
          return true;
        });
  }

  /// Values of an Arrow dictionary, of which each is looked up once.
  Status WriteEntries(int64_t row, int64_t count) {
    auto gathered = values_.GatherPositions(slots_.values);
    ARROW_RETURN_NOT_OK(leaf_->InColumn(gathered.status()));
    const std::span<const uint32_t> positions = *gathered;
    const std::span<const T> entries = values_.entries();
    return PutStep(
        row, count, [&]() -> Result<int64_t> { return chunk_.encoder().BytesWithEntries(entries, positions); },
        [&]() -> Result<bool> {
          ARROW_ASSIGN_OR_RAISE(bool appended,
                                chunk_.encoder().AppendEntries(entries, positions, values_.entries_generation()));
          if (appended) {
            chunk_.CountEntries(entries, positions);
            return true;
          }
          ARROW_ASSIGN_OR_RAISE(const std::span<const T> values, values_.Gather(slots_.values));
          chunk_.CountValues(values);
          return chunk_.encoder().Append(values, chunk_.page_bounds());
        });
  }

  /// Adds a step to the page, once it is cut so that it fits. `bytes_with()`: what the page's values take with the
  /// step's; `append()`: false when the page has to end before them.
  template <typename BytesWith, typename Append>
  Status PutStep(int64_t row, int64_t count, const BytesWith& bytes_with, const Append& append) {
    ARROW_ASSIGN_OR_RAISE(int64_t bytes, bytes_with());
    bytes += chunk_.LevelBytesWith(slots_);
    if (bytes > page_bytes_ && chunk_.page()->row_count > 0) {
      ARROW_RETURN_NOT_OK(chunk_.SealPage(/*last_of_chunk=*/false));
      ARROW_ASSIGN_OR_RAISE(bytes, bytes_with());
      bytes += chunk_.LevelBytesWith(slots_);
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
    const int64_t nans = chunk_.page()->nan_count, byte_array_bytes = chunk_.page()->byte_array_bytes;
    ARROW_ASSIGN_OR_RAISE(bool appended, append());
    if (!appended) {
      chunk_.page()->nan_count = nans;
      chunk_.page()->byte_array_bytes = byte_array_bytes;
      if (chunk_.page()->row_count > 0) ARROW_RETURN_NOT_OK(chunk_.SealPage(/*last_of_chunk=*/false));
      return WriteStep(row, count);
    }
    return chunk_.AppendLevels(slots_);
  }

  const WrittenLeaf* leaf_;
  const PageWriter* page_writer_;
  const int64_t page_rows_, page_bytes_, dictionary_bytes_, rows_per_step_;
  const bool fixed_;
  arrow::MemoryPool* const pool_;

  // The step.
  LevelsWriter levels_;
  LeafSlots slots_;
  ValueGatherer<T> values_;
  PlainGatherer plain_gatherer_;
  bool gathers_plain_ = false;
  std::optional<ContentChunker> chunker_;
  std::vector<ContentChunker::Weight> entry_weights_;  ///< of a dictionary's values
  int64_t weights_generation_ = -1;

  ChunkBuilder<T> chunk_;
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
