#include "calve/parquet/column_reader.h"

#include "calve/parquet/dictionary_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/simd/level_bits.h"

#include <arrow/util/bitmap_ops.h>

namespace calve::parquet {
namespace {

constexpr int64_t kReservedBytes = 1 << 20;

}  // namespace

ColumnReader::ColumnReader(const LeafColumn& leaf, PageReader pages, const BatchLimits& limits, arrow::MemoryPool* pool)
    : leaf_(leaf),
      layout_(LayoutOf(leaf)),
      pages_(std::move(pages)),
      limits_(limits),
      held_(layout_, pool),
      pool_(pool) {
  if (layout_.keeps_definition) definition_.resize(kLevels);
  if (layout_.keeps_repetition) {
    repetition_.resize(kLevels);
    inside_rows_.resize(kLevels / 64);
  }
}

Result<int64_t> ColumnReader::Fill(int64_t rows) {
  ARROW_RETURN_NOT_OK(layout_.keeps_definition ? FillNested(rows) : FillFlat(rows));
  if (complete_rows_ == 0) return Invalid("the column chunk ends before its rows do");
  return std::min(complete_rows_, rows);
}

Result<LeafBatch> ColumnReader::Take(int64_t rows) {
  complete_rows_ -= rows;
  return held_.Take(rows);
}

Status ColumnReader::Skip(int64_t rows) { return layout_.keeps_definition ? SkipNested(rows) : SkipFlat(rows); }

Status ColumnReader::SkipFlat(int64_t rows) {
  while (rows > 0) {
    if (page_left_ == 0) {
      ARROW_ASSIGN_OR_RAISE(const int64_t passed, pages_.SkipRows(rows, /*flat=*/true));
      rows -= passed;
      if (rows == 0) break;
      ARROW_ASSIGN_OR_RAISE(const bool more, NextPage());
      if (!more) return Invalid("the column chunk ends before its rows do");
    }
    const int64_t count = std::min(rows, page_left_);
    int64_t values = count;
    if (leaf_.max_definition_level > 0) {
      ValidityBuilder validity(pool_);
      ARROW_RETURN_NOT_OK(WithContext(definition_decoder_.DecodeValidity(count, &validity), page_place_));
      values -= validity.null_count();
    }
    ARROW_RETURN_NOT_OK(WithContext(values_.Skip(values), page_place_));
    page_left_ -= count;
    rows -= count;
  }
  return Status::OK();
}

Status ColumnReader::SkipNested(int64_t rows) {
  // Entries up to where the row after those begins.
  int64_t begun = 0;
  for (;;) {
    if (level_ == levels_end_) {
      if (page_left_ == 0) {
        if (begun == 0) {
          ARROW_ASSIGN_OR_RAISE(const int64_t passed, pages_.SkipRows(rows, !layout_.keeps_repetition));
          rows -= passed;
          if (rows == 0) return Status::OK();
        }
        ARROW_ASSIGN_OR_RAISE(const bool more, NextPage());
        if (!more) return begun == rows ? Status::OK() : Invalid("the column chunk ends before its rows do");
      }
      ARROW_RETURN_NOT_OK(WithContext(DecodeLevels(begun > 0), page_place_));
    }
    int64_t values = 0;
    bool done = false;
    for (; level_ < levels_end_; ++level_) {
      const bool begins = !layout_.keeps_repetition || repetition_[level_] == 0;
      done = begins && begun == rows;
      if (done) break;
      begun += begins ? 1 : 0;
      values += definition_[level_] == layout_.max_definition_level ? 1 : 0;
    }
    ARROW_RETURN_NOT_OK(WithContext(values_.Skip(values), page_place_));
    if (done || (begun == rows && !layout_.keeps_repetition)) return Status::OK();
  }
}

Status ColumnReader::CheckEnd() {
  if (held_.rows_begun() == 0 && level_ == levels_end_ && page_left_ == 0) {
    ARROW_ASSIGN_OR_RAISE(const bool more, NextPage());
    if (!more) return Status::OK();
  }
  return Invalid("the column chunk has more rows than the row group");
}

Status ColumnReader::FillFlat(int64_t rows) {
  const int64_t most = kReservedBytes / std::max<int64_t>(layout_.slot_width(), sizeof(int32_t));
  ARROW_RETURN_NOT_OK(held_.ReserveSlots(std::min(rows - held_.slots(), most)));
  while (complete_rows_ < rows) {
    if (page_left_ == 0) {
      ARROW_ASSIGN_OR_RAISE(const bool more, NextPage());
      if (!more) return Status::OK();
    }
    if (complete_rows_ > 0 && !held_.Continues(values_)) return Status::OK();
    auto count = WithinLimits(std::min(rows - complete_rows_, page_left_));
    if (count.ok() && *count == 0) return Status::OK();
    Status status = count.ok() ? AppendFlat(*count) : count.status();
    if (!status.ok()) return WithContext(status, page_place_);
  }
  return Status::OK();
}

Status ColumnReader::FillNested(int64_t rows) {
  if (held_.levels_count() == 0) {
    const int64_t entries = std::min(rows, kReservedBytes / static_cast<int64_t>(sizeof(int64_t)));
    ARROW_RETURN_NOT_OK(held_.ReserveBatch(entries));
  }
  while (complete_rows_ < rows) {
    if (level_ == levels_end_) {
      if (page_left_ == 0) {
        ARROW_ASSIGN_OR_RAISE(const bool more, NextPage());
        if (!more) {
          complete_rows_ = held_.rows_begun();
          return Status::OK();
        }
      }
      ARROW_RETURN_NOT_OK(WithContext(DecodeLevels(held_.rows_begun() > 0), page_place_));
    }
    // A row is complete where the next one begins.
    if (!layout_.keeps_repetition || repetition_[level_] == 0) complete_rows_ = held_.rows_begun();
    const bool between_rows = complete_rows_ > 0 && complete_rows_ == held_.rows_begun();
    if (between_rows && !held_.Continues(values_)) return Status::OK();
    const int64_t takeable = CountTakeable(rows);
    if (takeable == 0) return Status::OK();
    auto count = WithinLimits(takeable);
    if (count.ok() && *count == 0) return Status::OK();
    Status status = count.ok() ? AppendNested(*count) : count.status();
    if (!status.ok()) return WithContext(status, page_place_);
    if (!layout_.keeps_repetition) complete_rows_ = held_.rows_begun();
  }
  return Status::OK();
}

Result<bool> ColumnReader::NextPage() {
  while (page_left_ == 0) {
    ARROW_ASSIGN_OR_RAISE(const Page* page, pages_.Next());
    if (page == nullptr) return false;
    page_place_ = page->place();
    const bool is_dictionary = page->header.type == PageType::kDictionaryPage;
    Status status = is_dictionary ? ReadDictionary(*page) : BeginPage(*page);
    if (!status.ok()) return WithContext(status, page_place_);
  }
  return true;
}

Status ColumnReader::ReadDictionary(const Page& page) {
  if (dictionary_ != nullptr) return Invalid("a second dictionary page");
  if (seen_data_page_) return Invalid("a dictionary page behind a data page");
  const DictionaryPageHeader& header = *page.header.dictionary_page;
  if (header.encoding != Encoding::kPlain && header.encoding != Encoding::kPlainDictionary) {
    return NotImplemented("dictionary of encoding {}", ToString(header.encoding));
  }
  if (leaf_.element.type == PhysicalType::kBoolean) return Invalid("a dictionary of booleans");
  return MakeDictionary(layout_, header.num_values, page.body, pool_).Value(&dictionary_);
}

Status ColumnReader::BeginPage(const Page& page) {
  seen_data_page_ = true;
  const int64_t num_values = page.num_values();
  std::span<const uint8_t> values = page.body;
  if (page.header.type == PageType::kDataPageV2) {
    ARROW_ASSIGN_OR_RAISE(repetition_decoder_,
                          LevelDecoder::FromV2(leaf_.max_repetition_level, page.repetition_levels));
    ARROW_ASSIGN_OR_RAISE(definition_decoder_,
                          LevelDecoder::FromV2(leaf_.max_definition_level, page.definition_levels));
  } else if (num_values > 0) {
    const DataPageHeader& header = *page.header.data_page;
    ByteCursor body(page.body);
    ARROW_ASSIGN_OR_RAISE(repetition_decoder_, LevelDecoder::FromV1(header.repetition_level_encoding,
                                                                    leaf_.max_repetition_level, num_values, &body));
    ARROW_ASSIGN_OR_RAISE(definition_decoder_, LevelDecoder::FromV1(header.definition_level_encoding,
                                                                    leaf_.max_definition_level, num_values, &body));
    values = page.body.subspan(body.offset());
  }
  if (num_values == 0) return Status::OK();
  page_left_ = num_values;
  return BeginValues(page, values);
}

Status ColumnReader::BeginValues(const Page& page, std::span<const uint8_t> bytes) {
  const Encoding encoding = page.encoding();
  values_ = PageValues{};
  values_.memory = page.body_memory;
  if (IsDictionary(encoding)) values_.dictionary = dictionary_;
  if (layout_.form == ValueForm::kIndices && values_.dictionary != nullptr) {
    values_.indices.emplace(bytes, dictionary_->count);
  } else if (layout_.binary) {
    ARROW_ASSIGN_OR_RAISE(values_.binary, MakeBinaryDecoder(encoding, bytes, page.num_values(), dictionary_.get()));
  } else {
    ARROW_ASSIGN_OR_RAISE(values_.fixed, MakeFixedDecoder(encoding, *leaf_.element.type, layout_.conversion, bytes,
                                                          page.num_values(), dictionary_.get()));
  }
  return Status::OK();
}

Status ColumnReader::DecodeLevels(bool inside_row) {
  level_ = levels_end_ = 0;
  const int64_t count = std::min(page_left_, kLevels);
  if (layout_.keeps_repetition) ARROW_RETURN_NOT_OK(repetition_decoder_.Decode(count, repetition_.data()));
  ARROW_RETURN_NOT_OK(definition_decoder_.Decode(count, definition_.data()));
  if (layout_.keeps_repetition && !inside_row && repetition_[0] != 0) {
    return Invalid("a row begins with repetition level {}", repetition_[0]);
  }
  if (layout_.keeps_repetition) {
    simd::BitsAtLeast(repetition_.data(), static_cast<size_t>(count), 1, inside_rows_.data());
  }
  levels_end_ = count;
  page_left_ -= count;
  return Status::OK();
}

int64_t ColumnReader::CountRows(int64_t begin, int64_t end) const {
  if (!layout_.keeps_repetition) return end - begin;
  const auto* inside = reinterpret_cast<const uint8_t*>(inside_rows_.data());
  return end - begin - arrow::internal::CountSetBits(inside, begin, end - begin);
}

/// Decoded levels that belong to the first `rows` rows.
int64_t ColumnReader::CountTakeable(int64_t rows) const {
  const int64_t begun = held_.rows_begun(), left = levels_end_ - level_;
  if (!layout_.keeps_repetition) return std::min(left, rows - begun);
  if (begun + CountRows(level_, levels_end_) <= rows) return left;
  int64_t more = rows - begun;
  for (int64_t i = level_; i < levels_end_; ++i) {
    if (repetition_[i] == 0 && more-- == 0) return i - level_;
  }
  return left;
}

int64_t ColumnReader::BytesAtMost(int64_t count) const {
  constexpr int64_t kTooMany = std::numeric_limits<int64_t>::max();
  if (HoldsBytes()) return values_.binary->BytesAtMost(count);
  return CheckedMultiply(count, std::max(layout_.slot_width(), layout_.conversion.out_width)).value_or(kTooMany);
}

/// Whether the values of the page are byte arrays that are copied.
bool ColumnReader::HoldsBytes() const { return values_.binary != nullptr && layout_.form != ValueForm::kViews; }

Result<int64_t> ColumnReader::WithinLimits(int64_t count) const {
  const int64_t held = held_.value_bytes();
  const int64_t entries = std::max(held_.levels_count(), held_.slots());
  if (complete_rows_ > 0 && (held >= limits_.soft_bytes || entries >= limits_.levels)) return 0;
  if (entries + count > std::numeric_limits<int32_t>::max()) return NotImplemented("a row of more than 2^31 values");
  // Once a row has outgrown the soft limit, go on in steps of that size up to the hard one.
  const int64_t hard_room = HoldsBytes() ? limits_.hard_bytes - held : std::numeric_limits<int64_t>::max();
  const int64_t soft_room = complete_rows_ > 0 ? limits_.soft_bytes - held : limits_.soft_bytes;
  const int64_t room = std::min(soft_room, hard_room);
  while (count > 1 && BytesAtMost(count) > room) count /= 2;
  const int64_t bytes = BytesAtMost(count);
  if (bytes <= room) return count;
  if (complete_rows_ > 0) return 0;
  if (bytes <= hard_room) return count;
  return NotImplemented("a row of more than {} bytes of byte arrays", limits_.hard_bytes);
}

Status ColumnReader::AppendFlat(int64_t count) {
  if (leaf_.max_definition_level > 0) {
    ARROW_RETURN_NOT_OK(definition_decoder_.DecodeValidity(count, &held_.validity()));
  } else {
    ARROW_RETURN_NOT_OK(held_.validity().AppendRun(true, count));
  }
  ARROW_RETURN_NOT_OK(held_.AppendSlots(count, &values_));
  held_.BeginRows(count);
  complete_rows_ += count;
  page_left_ -= count;
  return Status::OK();
}

Status ColumnReader::AppendNested(int64_t count) {
  const uint8_t* definition = definition_.data() + level_;
  const uint8_t* repetition = layout_.keeps_repetition ? repetition_.data() + level_ : nullptr;
  uint64_t exists[kLevels / 64], present[kLevels / 64], valid[kLevels / 64];
  const auto entries = static_cast<size_t>(count);
  simd::BitsAtLeast(definition, entries, static_cast<uint8_t>(layout_.exists_level), exists);
  simd::BitsAtLeast(definition, entries, static_cast<uint8_t>(layout_.max_definition_level), present);
  const auto slots = static_cast<int64_t>(simd::CompressBits(present, exists, entries, valid));
  ARROW_RETURN_NOT_OK(held_.validity().AppendBits(reinterpret_cast<const uint8_t*>(valid), 0, slots));
  ARROW_RETURN_NOT_OK(held_.AppendSlots(slots, &values_));
  ARROW_RETURN_NOT_OK(held_.AppendLevels(definition, repetition, count));
  held_.BeginRows(CountRows(level_, level_ + count));
  level_ += count;
  return Status::OK();
}

}  // namespace calve::parquet
