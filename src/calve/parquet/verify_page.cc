#include "calve/parquet/verify_page.h"

#include "calve/parquet/level_decoder.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet/utf8.h"
#include "calve/parquet/value_decoder.h"

#include "calve/base/byte_cursor.h"
#include "calve/base/status.h"

#include <algorithm>
#include <utility>

namespace calve::parquet {
namespace {

constexpr int64_t kBlock = 2048;
constexpr int64_t kBlockBytes = 4 << 20;

/// Values as the file has them.
LeafLayout PhysicalLayout(const SchemaElement& element) {
  LeafLayout layout;
  layout.binary = element.type == PhysicalType::kByteArray;
  layout.form = layout.binary ? ValueForm::kOffsets : ValueForm::kFixed;
  layout.conversion.in_width = layout.conversion.out_width = ValueWidth(*element.type, element.type_length);
  return layout;
}

LevelHistogram HistogramOf(int max_level) {
  return LevelHistogram(max_level > 0 ? static_cast<size_t>(max_level) + 1 : 0);
}

std::string_view ViewOf(const uint8_t* bytes, int64_t size) {
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)};
}

}  // namespace

/// A data page, taken apart.
struct PageVerifier::Body {
  LevelDecoder repetition, definition;
  std::span<const uint8_t> values;
};

PageVerifier::PageVerifier(const LeafColumn& leaf, const ValueOrder& order, VerifyReport* report,
                           arrow::MemoryPool* pool, std::function<void(std::span<const std::string_view>)> take)
    : leaf_(leaf),
      order_(order),
      report_(report),
      pool_(pool),
      take_(std::move(take)),
      layout_(PhysicalLayout(leaf.element)) {}

Status PageVerifier::Report(std::string_view rule, const Status& status) {
  if (status.ok()) return status;
  if (status.IsNotImplemented()) {
    report_->NotChecked(status.message());
    return Status::OK();
  }
  if (!status.IsInvalid()) return status;
  report_->Add(rule, "a page that can be decoded", status.message());
  return Status::OK();
}

Status PageVerifier::ReadDictionary(const Page& page) {
  const DictionaryPageHeader& header = *page.header.dictionary_page;
  if (dictionary_ != nullptr || dictionary_failed_) {
    report_->Add("dictionary_page.single", "one dictionary page", "another");
    return Status::OK();
  }
  if (seen_data_page_) report_->Add("dictionary_page.first", "in front of the data pages", "behind one");
  if (header.encoding != Encoding::kPlain && header.encoding != Encoding::kPlainDictionary) {
    report_->Add("dictionary_page.encoding", ToString(header.encoding), "PLAIN or PLAIN_DICTIONARY");
  }
  auto dictionary = MakeDictionary(layout_, header.num_values, page.body, pool_);
  dictionary_failed_ = !dictionary.ok();
  if (!dictionary.ok()) return Report("dictionary_page.values", dictionary.status());
  dictionary_ = dictionary.MoveValueUnsafe();
  CheckDictionary(header);
  return Status::OK();
}

std::string_view PageVerifier::DictionaryValue(int64_t i) const {
  const int64_t width = layout_.conversion.out_width;
  if (!layout_.binary) return ViewOf(dictionary_->fixed->data() + i * width, width);
  const int32_t* ends = dictionary_->ends();
  return ViewOf(dictionary_->bytes->data() + ends[i], ends[i + 1] - ends[i]);
}

void PageVerifier::CheckDictionary(const DictionaryPageHeader& header) {
  if (!header.is_sorted || !order_.is_defined()) return;
  for (int64_t i = 1; i < dictionary_->count; ++i) {
    if (order_.Compare(DictionaryValue(i - 1), DictionaryValue(i)) <= 0) continue;
    report_->Add("dictionary_page.is_sorted", "sorted",
                 fmt::format("{} before {}", order_.Text(DictionaryValue(i - 1)), order_.Text(DictionaryValue(i))));
    return;
  }
}

Result<PageVerifier::Body> PageVerifier::Split(const Page& page) const {
  Body body;
  body.values = page.body;
  if (page.header.type == PageType::kDataPageV2) {
    ARROW_ASSIGN_OR_RAISE(body.repetition, LevelDecoder::FromV2(leaf_.max_repetition_level, page.repetition_levels));
    ARROW_ASSIGN_OR_RAISE(body.definition, LevelDecoder::FromV2(leaf_.max_definition_level, page.definition_levels));
    return body;
  }
  if (page.num_values() == 0) return body;
  const DataPageHeader& header = *page.header.data_page;
  ByteCursor bytes(page.body);
  ARROW_ASSIGN_OR_RAISE(body.repetition, LevelDecoder::FromV1(header.repetition_level_encoding,
                                                              leaf_.max_repetition_level, page.num_values(), &bytes));
  ARROW_ASSIGN_OR_RAISE(body.definition, LevelDecoder::FromV1(header.definition_level_encoding,
                                                              leaf_.max_definition_level, page.num_values(), &bytes));
  body.values = page.body.subspan(bytes.offset());
  return body;
}

Status PageVerifier::ReadData(const Page& page, VerifiedPage* out) {
  seen_data_page_ = true;
  out->facts.slot_count = page.num_values();
  out->facts.definition_histogram = HistogramOf(leaf_.max_definition_level);
  out->facts.repetition_histogram = HistogramOf(leaf_.max_repetition_level);
  report_->values += page.num_values();
  auto body = Split(page);
  if (!body.ok()) return Report("page.levels", body.status());
  const Status levels = ReadLevels(&*body, page.num_values(), out);
  if (!levels.ok()) return Report("page.levels", levels);
  out->levels_read = true;
  const Status values = ReadValues(page, body->values, &out->facts);
  out->values_read = values.ok();
  return Report("page.values", values);
}

Status PageVerifier::ReadLevels(Body* body, int64_t count, VerifiedPage* out) {
  PageDescription& facts = out->facts;
  uint8_t levels[kBlock];
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t block = std::min(kBlock, count - done);
    if (leaf_.max_repetition_level == 0) {
      facts.row_count += block;
    } else {
      ARROW_RETURN_NOT_OK(body->repetition.Decode(block, levels));
      for (int64_t i = 0; i < block; ++i) ++facts.repetition_histogram[levels[i]];
      if (done == 0) out->begins_with_row = levels[0] == 0;
    }
    if (leaf_.max_definition_level == 0) {
      facts.value_count += block;
      continue;
    }
    ARROW_RETURN_NOT_OK(body->definition.Decode(block, levels));
    for (int64_t i = 0; i < block; ++i) ++facts.definition_histogram[levels[i]];
  }
  if (leaf_.max_repetition_level > 0) facts.row_count = facts.repetition_histogram[0];
  if (leaf_.max_definition_level > 0) facts.value_count = facts.definition_histogram.back();
  return Status::OK();
}

Status PageVerifier::ReadValues(const Page& page, std::span<const uint8_t> bytes, PageDescription* facts) {
  // Without a value there is nothing to decode, and some writers leave nothing to decode it from.
  if (facts->value_count == 0) return Status::OK();
  if (IsDictionary(page.encoding()) && dictionary_failed_) return NotImplemented("values of a damaged dictionary");
  CheckPlainSize(page, bytes.size(), *facts);
  return layout_.binary ? ReadBinary(page, bytes, facts) : ReadFixed(page, bytes, facts);
}

/// What follows the last value of a page belongs to nothing.
void PageVerifier::CheckPlainSize(const Page& page, size_t bytes, const PageDescription& facts) {
  if (page.encoding() != Encoding::kPlain || layout_.binary) return;
  const bool bits = leaf_.element.type == PhysicalType::kBoolean;
  const int64_t expected = bits ? (facts.value_count + 7) / 8 : facts.value_count * layout_.conversion.in_width;
  if (static_cast<int64_t>(bytes) > expected) {
    report_->Add("page.values_size", fmt::format("{} bytes of values", bytes),
                 fmt::format("{} values of {} bytes", facts.value_count, expected));
  }
}

Status PageVerifier::ReadFixed(const Page& page, std::span<const uint8_t> bytes, PageDescription* facts) {
  ARROW_ASSIGN_OR_RAISE(const auto decoder, MakeFixedDecoder(page.encoding(), *leaf_.element.type, layout_.conversion,
                                                             bytes, page.num_values(), dictionary_.get()));
  const int64_t width = layout_.conversion.out_width;
  const int64_t most = std::clamp(kBlockBytes / std::max<int64_t>(width, 1), int64_t{1}, kBlock);
  PoolVector<uint8_t> block(pool_);
  ARROW_RETURN_NOT_OK(block.Resize(most * width));
  std::vector<std::string_view> values(static_cast<size_t>(most));
  for (int64_t left = facts->value_count; left > 0;) {
    const int64_t count = std::min(left, most);
    ARROW_RETURN_NOT_OK(decoder->Decode(count, block.data()));
    for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = ViewOf(block.data() + i * width, width);
    Take(std::span(values).first(static_cast<size_t>(count)), facts);
    left -= count;
  }
  return Status::OK();
}

Status PageVerifier::ReadBinary(const Page& page, std::span<const uint8_t> bytes, PageDescription* facts) {
  ARROW_ASSIGN_OR_RAISE(const auto decoder,
                        MakeBinaryDecoder(page.encoding(), bytes, page.num_values(), dictionary_.get()));
  std::vector<std::string_view> values(kBlock);
  for (int64_t left = facts->value_count; left > 0;) {
    int64_t count = std::min(left, kBlock);
    while (count > 1 && decoder->BytesAtMost(count) > kBlockBytes) count /= 2;
    BinaryValues block(pool_);
    ARROW_RETURN_NOT_OK(block.Init());
    ARROW_RETURN_NOT_OK(block.data.Reserve(0));
    ARROW_RETURN_NOT_OK(decoder->Decode(count, &block));
    for (int64_t i = 0; i < count; ++i) {
      const int32_t begin = block.offsets[i];
      values[static_cast<size_t>(i)] = ViewOf(block.data.data() + begin, block.offsets[i + 1] - begin);
    }
    facts->byte_array_bytes += block.data.size();
    Take(std::span(values).first(static_cast<size_t>(count)), facts);
    left -= count;
  }
  return Status::OK();
}

void PageVerifier::Take(std::span<const std::string_view> values, PageDescription* facts) {
  for (const std::string_view value : values) {
    if (order_.IsNan(value)) {
      ++facts->nan_count;
    } else if (order_.is_defined()) {
      TakeBounds(value, facts);
    }
    if (order_.is_text() && !IsUtf8(value)) report_->Add("value.utf8", "text", order_.Text(value));
  }
  take_(values);
}

void PageVerifier::TakeBounds(std::string_view value, PageDescription* facts) const {
  if (!facts->min) {
    facts->min = facts->max = std::string(value);
  } else if (order_.Compare(value, *facts->min) < 0) {
    facts->min->assign(value);
  } else if (order_.Compare(value, *facts->max) > 0) {
    facts->max->assign(value);
  }
}

}  // namespace calve::parquet
