// A chunk is walked from the offset that the footer gives, page by page, to where its sizes or its counts say that it
// ends; what the footer says is compared with what came up on the way.

#include "calve/parquet/verify_chunk.h"

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/page_source.h"
#include "calve/parquet/size_statistics.h"
#include "calve/parquet/thrift_reader.h"
#include "calve/parquet/verify_bloom.h"
#include "calve/parquet/verify_bounds.h"
#include "calve/parquet/verify_index.h"
#include "calve/parquet/verify_page.h"

#include "calve/base/status.h"
#include "calve/hash/hash.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

/// libparquet says DATA_PAGE of v2 pages in encoding_stats, where readers only look for what dictionaries there are.
PageType AnyVersion(PageType type) { return type == PageType::kDataPageV2 ? PageType::kDataPage : type; }

bool IsDataPage(PageType type) { return type == PageType::kDataPage || type == PageType::kDataPageV2; }

std::string Names(const std::set<Encoding>& encodings) {
  std::string text = encodings.empty() ? "none" : "";
  for (const Encoding encoding : encodings) text += fmt::format("{}{}", text.empty() ? "" : " ", ToString(encoding));
  return text;
}

/// The SizeStatistics in a ColumnChunk's bytes, which readers pass over; none when there are none.
std::optional<SizeStatistics> ParseSizeStatistics(std::span<const uint8_t> chunk) {
  std::optional<SizeStatistics> out;
  ThriftReader in(chunk);
  in.Struct("ColumnChunk", [&](Field field) {
    if (field.id != 3) return false;
    return in.ReadStruct(field, "meta_data", [&] {
      in.Struct("ColumnMetaData", [&](Field member) {
        if (member.id != 16) return false;
        return in.ReadStruct(member, "size_statistics", [&] { ReadSizeStatistics(in, &out.emplace()); });
      });
    });
  });
  if (!in.ok()) out.reset();
  return out;
}

void AddCounts(const LevelHistogram& from, LevelHistogram* to) {
  to->resize(std::max(to->size(), from.size()));
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

class ChunkVerifier {
 public:
  ChunkVerifier(const VerifyInput& input, const LeafColumn& leaf, int leaf_index, int row_group, int64_t limit,
                VerifyReport* report)
      : input_(input),
        footer_(*input.footer),
        leaf_(leaf),
        leaf_index_(leaf_index),
        row_group_(row_group),
        limit_(limit),
        report_(report),
        order_(leaf.element),
        decoder_(leaf, order_, report, input.pool, [this](auto values) { bloom_.Take(values); }) {}

  Status Run() {
    auto chunk = footer_.Chunk(row_group_, leaf_index_);
    if (!chunk.ok()) {
      report_->Add("chunk.thrift", "a column chunk", chunk.status().message());
      return Status::OK();
    }
    chunk_ = chunk.MoveValueUnsafe();
    if (!CanBeChecked()) return Status::OK();
    const ColumnMetadata& metadata = *chunk_.metadata;
    ChunkDecryptor* decryptor = chunk_.crypto == nullptr ? nullptr : chunk_.crypto->decryptor.get();
    report_->Compare("chunk.type", ToString(metadata.type), ToString(*leaf_.element.type));
    const std::string path = fmt::format("{}", fmt::join(metadata.path_in_schema, "."));
    if (!metadata.path_in_schema.empty()) report_->Compare("chunk.path_in_schema", path, leaf_.dotted_path());
    ARROW_ASSIGN_OR_RAISE(const StoredIndexes indexes,
                          ReadStoredIndexes(input_.file, chunk_, decryptor, footer_.begin(), report_, input_.pool));
    ARROW_RETURN_NOT_OK(bloom_.Open(input_.file, metadata, footer_.begin(), decryptor, report_, input_.pool));
    ARROW_RETURN_NOT_OK(WalkPages());
    report_->AtPage(-1, -1);
    if (!complete_) return Status::OK();
    Summarize();
    CheckTotals();
    CheckDictionaryOffset();
    CheckEncodings();
    CheckSizeStatistics();
    if (indexes.offsets) VerifyOffsetIndex(*indexes.offsets, leaf_, pages_, report_);
    const bool ordered = footer_.index().type_defined_order(leaf_index_);
    if (indexes.columns) VerifyColumnIndex(*indexes.columns, order_, ordered, pages_, report_);
    if (values_read_) {
      if (metadata.statistics) {
        BoundsVerifier("statistics", order_, facts_, report_)
            .CheckStatistics(*metadata.statistics, ordered, OtherOrder());
      }
      bloom_.Finish(report_);
    }
    return Status::OK();
  }

 private:
  bool CanBeChecked() {
    if (chunk_.crypto != nullptr && !chunk_.crypto->failure.ok()) {
      report_->NotChecked(chunk_.crypto->failure.message());
      return false;
    }
    if (chunk_.file_path && !chunk_.file_path->empty()) {
      report_->NotChecked(fmt::format("the chunk is in another file ('{}')", *chunk_.file_path));
      return false;
    }
    if (!chunk_.metadata) report_->Add("chunk.meta_data", "nothing", "every chunk has metadata");
    return chunk_.metadata.has_value();
  }

  /// Whether the file says that the column's values compare in another way than their type's.
  bool OtherOrder() const {
    return footer_.index().has_column_orders() && !footer_.index().type_defined_order(leaf_index_);
  }

  int64_t Start() const {
    const ColumnMetadata& metadata = *chunk_.metadata;
    const int64_t dictionary = metadata.dictionary_page_offset.value_or(0);
    return dictionary > 0 && dictionary < metadata.data_page_offset ? dictionary : metadata.data_page_offset;
  }

  ChunkPlan Plan() const {
    ChunkPlan plan;
    plan.offset = Start();
    plan.size_bytes = limit_ - plan.offset;
    // Counts are compared here, and do not keep a page from being seen.
    plan.num_values = std::numeric_limits<int64_t>::max();
    plan.codec = chunk_.metadata->codec;
    if (chunk_.crypto != nullptr) plan.decryptor = chunk_.crypto->decryptor;
    plan.dictionary_first = chunk_.metadata->dictionary_page_offset.has_value();
    plan.is_repeated = leaf_.max_repetition_level > 0;
    return plan;
  }

  /// Whether the chunk goes on at `position`: until its bytes are used up, and for as long as values are missing.
  bool GoesOn(const PageSource& source) const {
    if (source.remaining() == 0) return false;
    const int64_t end = Start() + chunk_.metadata->total_compressed_size;
    return source.position() < end || seen_values_ < chunk_.metadata->num_values;
  }

  Status WalkPages() {
    const ChunkPlan plan = Plan();
    if (plan.offset < 4 || plan.size_bytes < 0 || plan.offset >= footer_.begin()) {
      report_->Add("chunk.data_page_offset", plan.offset, fmt::format("pages lie before byte {}", footer_.begin()));
      return Status::OK();
    }
    constexpr int64_t kWindowBytes = 1 << 20;
    ChunkBytes bytes(input_.file, plan.offset, plan.size_bytes, kWindowBytes, input_.pages.pool);
    PageSource source(std::move(bytes), plan);
    end_ = plan.offset;
    while (GoesOn(source)) {
      RawPage raw;
      const int64_t at = source.position();
      const bool behind =
          at >= Start() + chunk_.metadata->total_compressed_size || seen_values_ >= chunk_.metadata->num_values;
      auto more = source.ReadHeader(&raw);
      if (!more.ok()) {
        if (!more.status().IsInvalid()) return more.status();
        // What lies behind its bytes, or its values, need not be a page.
        if (behind) break;
        report_->AtPage(next_page_, at);
        report_->Add("page.header", "a page", more.status().message());
        return Status::OK();
      }
      raw.index = next_page_++;
      report_->AtPage(raw.index, raw.offset);
      const int64_t header_bytes = source.position() - raw.offset;
      ARROW_RETURN_NOT_OK(source.ReadBody(&raw));
      end_ = source.position();
      ARROW_RETURN_NOT_OK(VerifyPage(std::move(raw), header_bytes, plan));
    }
    complete_ = true;
    return Status::OK();
  }

  Status VerifyPage(RawPage raw, int64_t header_bytes, const ChunkPlan& plan) {
    ++report_->pages;
    const PageHeader& header = raw.header;
    uncompressed_bytes_ += header_bytes + header.uncompressed_page_size;
    ++page_counts_[{header.type, EncodingOf(header)}];
    encodings_.insert(EncodingOf(header));
    CheckCrc(raw);
    VerifiedPage page;
    page.header = header;
    page.offset = raw.offset;
    page.index = raw.index;
    page.bytes = header_bytes + header.compressed_page_size;
    const bool is_data = IsDataPage(header.type);
    if (is_data) {
      page.facts.slot_count = raw.num_values();
      seen_values_ += raw.num_values();
    }
    auto opened = OpenPage(std::move(raw), plan, input_.pages);
    if (!opened.ok()) {
      if (!is_data) dictionary_lost_ = true;
      ARROW_RETURN_NOT_OK(ReportPage("page.body", opened.status()));
    } else if (is_data) {
      ARROW_RETURN_NOT_OK(dictionary_lost_ && UsesDictionary(header) ? Status::OK()
                                                                     : decoder_.ReadData(*opened, &page));
      CheckHeader(page);
    } else {
      dictionary_at_ = opened->offset;
      ARROW_RETURN_NOT_OK(decoder_.ReadDictionary(*opened));
    }
    if (is_data) pages_.push_back(std::move(page));
    return Status::OK();
  }

  static Encoding EncodingOf(const PageHeader& header) {
    if (header.data_page) return header.data_page->encoding;
    if (header.data_page_v2) return header.data_page_v2->encoding;
    return header.dictionary_page ? header.dictionary_page->encoding : Encoding::kPlain;
  }

  static bool UsesDictionary(const PageHeader& header) {
    const Encoding encoding = EncodingOf(header);
    return encoding == Encoding::kPlainDictionary || encoding == Encoding::kRleDictionary;
  }

  Status ReportPage(std::string_view rule, const Status& status) {
    if (status.IsNotImplemented()) {
      report_->NotChecked(status.message());
      return Status::OK();
    }
    if (!status.IsInvalid()) return status;
    report_->Add(rule, "a page that can be opened", status.message());
    return Status::OK();
  }

  void CheckCrc(const RawPage& raw) {
    if (!raw.header.crc) return;
    const uint32_t said = static_cast<uint32_t>(*raw.header.crc), is = Crc32(raw.bytes);
    if (said != is) report_->Add("page.crc", fmt::format("{:08x}", said), fmt::format("{:08x}", is));
  }

  /// What the header of a data page says, against the page.
  void CheckHeader(const VerifiedPage& page) {
    if (!page.levels_read) return;
    const auto& v2 = page.header.data_page_v2;
    if (v2) {
      report_->Compare("page.num_rows", v2->num_rows, page.facts.row_count);
      report_->Compare("page.num_nulls", v2->num_nulls, page.facts.null_count());
    }
    if (!page.begins_with_row && (v2 || pages_.empty())) {
      report_->Add("page.begins_row", "a page that begins with a row", "it goes on with one");
    }
    const auto& statistics = v2 ? v2->statistics : page.header.data_page->statistics;
    if (statistics && page.values_read) {
      BoundsVerifier("page_statistics", order_, page.facts, report_)
          .CheckStatistics(*statistics, footer_.index().type_defined_order(leaf_index_), OtherOrder());
    }
  }

  /// What all pages hold together.
  void Summarize() {
    for (const VerifiedPage& page : pages_) {
      levels_read_ = levels_read_ && page.levels_read;
      values_read_ = values_read_ && page.values_read;
      const PageDescription& facts = page.facts;
      facts_.row_count += facts.row_count;
      facts_.slot_count += facts.slot_count;
      facts_.value_count += facts.value_count;
      facts_.nan_count += facts.nan_count;
      facts_.byte_array_bytes += facts.byte_array_bytes;
      AddCounts(facts.definition_histogram, &facts_.definition_histogram);
      AddCounts(facts.repetition_histogram, &facts_.repetition_histogram);
      if (!facts.min) continue;
      if (!facts_.min || order_.Compare(*facts.min, *facts_.min) < 0) facts_.min = facts.min;
      if (!facts_.max || order_.Compare(*facts.max, *facts_.max) > 0) facts_.max = facts.max;
    }
  }

  void CheckTotals() {
    const ColumnMetadata& metadata = *chunk_.metadata;
    report_->Compare("chunk.num_values", metadata.num_values, facts_.slot_count);
    if (levels_read_) report_->Compare("row_group.num_rows", footer_.row_group(row_group_).num_rows, facts_.row_count);
    // See OmitsDictionaryHeader().
    if (!footer_.omits_dictionary_header()) {
      report_->Compare("chunk.total_compressed_size", metadata.total_compressed_size, end_ - Start());
      report_->Compare("chunk.total_uncompressed_size", metadata.total_uncompressed_size, uncompressed_bytes_);
    }
  }

  void CheckDictionaryOffset() {
    const ColumnMetadata& metadata = *chunk_.metadata;
    if (dictionary_at_ >= 0 && metadata.dictionary_page_offset) {
      report_->Compare("chunk.dictionary_page_offset", *metadata.dictionary_page_offset, dictionary_at_);
    } else if (dictionary_at_ < 0 && !dictionary_lost_ && metadata.dictionary_page_offset.value_or(0) > 0) {
      report_->Add("chunk.dictionary_page_offset", *metadata.dictionary_page_offset, "no dictionary page");
    }
    // Old writers let it be that of the dictionary page.
    if (!pages_.empty() && metadata.data_page_offset != dictionary_at_) {
      report_->Compare("chunk.data_page_offset", metadata.data_page_offset, pages_.front().offset);
    }
  }

  void CheckEncodings() {
    const ColumnMetadata& metadata = *chunk_.metadata;
    const std::set<Encoding> said(metadata.encodings.begin(), metadata.encodings.end());
    for (const auto& [page, count] : page_counts_) {
      // Writers say PLAIN_DICTIONARY and RLE_DICTIONARY, or PLAIN, of the same dictionary page.
      if (page.first == PageType::kDictionaryPage || said.count(page.second) > 0) continue;
      report_->Add("chunk.encodings", Names(said), ToString(page.second));
    }
    if (metadata.encoding_stats.empty()) return;
    std::map<std::pair<PageType, Encoding>, int64_t> counts, found;
    for (const PageEncodingStats& stats : metadata.encoding_stats) {
      counts[{AnyVersion(stats.page_type), stats.encoding}] += stats.count;
    }
    for (const auto& [page, count] : page_counts_) {
      found[{AnyVersion(page.first), page.second}] += count;
      counts.try_emplace({AnyVersion(page.first), page.second}, 0);
    }
    for (const auto& [page, count] : counts) {
      const int64_t is = found[page];
      if (count == is) continue;
      report_->Add("chunk.encoding_stats",
                   fmt::format("{} pages of type {} in {}", count, static_cast<int>(page.first), ToString(page.second)),
                   is);
    }
  }

  void CheckSizeStatistics() {
    if (chunk_.crypto != nullptr) return;
    const auto said = ParseSizeStatistics(footer_.index().column_chunk(row_group_, leaf_index_));
    if (!said) return;
    if (values_read_ && said->unencoded_byte_array_data_bytes) {
      if (leaf_.element.type == PhysicalType::kByteArray) {
        report_->Compare("size_statistics.unencoded_byte_array_data_bytes", *said->unencoded_byte_array_data_bytes,
                         facts_.byte_array_bytes);
      } else {
        report_->Add("size_statistics.unencoded_byte_array_data_bytes", *said->unencoded_byte_array_data_bytes,
                     fmt::format("a column of {}", ToString(*leaf_.element.type)));
      }
    }
    if (!levels_read_) return;
    CheckHistogram("size_statistics.repetition_level_histogram", said->repetition_level_histogram,
                   facts_.repetition_histogram);
    CheckHistogram("size_statistics.definition_level_histogram", said->definition_level_histogram,
                   facts_.definition_histogram);
  }

  void CheckHistogram(std::string_view rule, const LevelHistogram& said, const LevelHistogram& is) {
    // A column whose only level is 0 needs none, but may have one.
    const bool trivial = is.empty() && said.size() == 1 && said.front() == facts_.slot_count;
    if (said.empty() || trivial || said == is) return;
    report_->Add(rule, fmt::format("{}", fmt::join(said, " ")), fmt::format("{}", fmt::join(is, " ")));
  }

  const VerifyInput& input_;
  const Footer& footer_;
  const LeafColumn& leaf_;
  const int leaf_index_, row_group_;
  const int64_t limit_;
  VerifyReport* report_;
  const ValueOrder order_;
  BloomVerifier bloom_;
  PageVerifier decoder_;
  ColumnChunk chunk_;

  std::vector<VerifiedPage> pages_;  ///< data pages
  std::map<std::pair<PageType, Encoding>, int64_t> page_counts_;
  std::set<Encoding> encodings_;
  int64_t next_page_ = 0, seen_values_ = 0, uncompressed_bytes_ = 0;
  int64_t end_ = 0;             ///< of the last page
  int64_t dictionary_at_ = -1;  ///< -1: none was seen
  bool dictionary_lost_ = false;
  bool complete_ = false;  ///< all pages were seen
  bool levels_read_ = true, values_read_ = true;
  PageDescription facts_;
};

}  // namespace

Status VerifyChunk(const VerifyInput& input, const LeafColumn& leaf, int leaf_index, int row_group, int64_t limit,
                   VerifyReport* report) {
  return ChunkVerifier(input, leaf, leaf_index, row_group, limit, report).Run();
}

}  // namespace calve::parquet
