#include "calve/parquet/verify_index.h"

#include "calve/parquet/file_decryptor.h"
#include "calve/parquet/verify_bounds.h"

#include "calve/base/status.h"

#include <arrow/buffer.h>

#include <string>

namespace calve::parquet {
namespace {

std::span<const uint8_t> SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// Where an index lies, and what it is called.
struct IndexPlace {
  std::string_view name;
  std::optional<int64_t> offset;
  std::optional<int32_t> length;
  crypto::ModuleType module;
};

/// The bytes of an index in plaintext; null when it has none that can be read.
Result<std::shared_ptr<arrow::Buffer>> ReadBytes(arrow::io::RandomAccessFile* file, const IndexPlace& place,
                                                 ChunkDecryptor* decryptor, int64_t end, VerifyReport* report,
                                                 arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::Buffer> none;
  if (!place.offset && !place.length) return none;
  const int64_t offset = place.offset.value_or(-1), length = place.length.value_or(-1);
  if (offset < 4 || length <= 0 || length > end || offset > end - length) {
    report->Add(fmt::format("{}.place", place.name), fmt::format("{} bytes at byte {}", length, offset),
                fmt::format("a footer at byte {}", end));
    return none;
  }
  ARROW_ASSIGN_OR_RAISE(auto bytes, file->ReadAt(offset, length));
  if (bytes->size() != length) return IOError("{} bytes at byte {}, {} expected", bytes->size(), offset, length);
  if (decryptor == nullptr) return bytes;
  auto plain = decryptor->Decrypt(place.module, SpanOf(*bytes), nullptr, pool);
  if (plain.ok()) return plain;
  report->Add(fmt::format("{}.thrift", place.name), "an encrypted index", plain.status().message());
  return none;
}

template <typename Index>
void Parse(const arrow::Buffer* bytes, Result<Index> (*parse)(std::span<const uint8_t>), std::string_view name,
           std::optional<Index>* out, VerifyReport* report) {
  if (bytes == nullptr) return;
  auto parsed = parse(SpanOf(*bytes));
  if (parsed.ok()) {
    *out = parsed.MoveValueUnsafe();
  } else {
    report->Add(fmt::format("{}.thrift", name), "an index", parsed.status().message());
  }
}

/// Compares a list that is to have `entries` for each page.
bool CheckLength(std::string_view rule, size_t size, size_t pages, size_t entries, VerifyReport* report) {
  if (size == pages * entries) return true;
  report->Add(rule, fmt::format("{} entries", size), fmt::format("{} pages", pages));
  return false;
}

void VerifyHistograms(std::string_view rule, const std::vector<int64_t>& said, const std::vector<VerifiedPage>& pages,
                      LevelHistogram PageDescription::* facts, VerifyReport* report) {
  if (said.empty() || pages.empty()) return;
  const size_t levels = (pages.front().facts.*facts).size();
  // A column whose only level is 0 needs no histogram, but may have one.
  if (levels == 0 && said.size() == pages.size()) return;
  if (!CheckLength(rule, said.size(), pages.size(), levels, report)) return;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!pages[i].levels_read) continue;
    report->AtPage(pages[i].index, pages[i].offset);
    const LevelHistogram own(said.begin() + static_cast<int64_t>(i * levels),
                             said.begin() + static_cast<int64_t>((i + 1) * levels));
    if (own != pages[i].facts.*facts) {
      report->Add(rule, fmt::format("{}", fmt::join(own, " ")),
                  fmt::format("{}", fmt::join(pages[i].facts.*facts, " ")));
    }
  }
  report->AtPage(-1, -1);
}

/// Whether the bounds of pages that have some stand in the order that the index says.
void VerifyBoundaryOrder(const ColumnIndex& index, const ValueOrder& order, VerifyReport* report) {
  if (index.boundary_order == BoundaryOrder::kUnordered || !order.is_defined()) return;
  const bool ascending = index.boundary_order == BoundaryOrder::kAscending;
  std::optional<size_t> last;
  for (size_t i = 0; i < index.null_pages.size(); ++i) {
    if (index.null_pages[i]) continue;
    for (const auto* bounds : {&index.min_values, &index.max_values}) {
      if (!last ||
          (order.width() > 0 && ((*bounds)[*last].size() != order.width() || (*bounds)[i].size() != order.width()))) {
        continue;
      }
      const int comparison = order.Compare((*bounds)[*last], (*bounds)[i]);
      if (ascending ? comparison <= 0 : comparison >= 0) continue;
      report->Add("column_index.boundary_order", ascending ? "ascending" : "descending",
                  fmt::format("{} in entry {}, {} in entry {}", order.Text((*bounds)[*last]), *last,
                              order.Text((*bounds)[i]), i));
      return;
    }
    last = i;
  }
}

/// Compares what a column index says of one page.
void VerifyEntry(const ColumnIndex& index, size_t i, const ValueOrder& order, bool type_defined_order,
                 const VerifiedPage& page, VerifyReport* report) {
  const bool is_null = page.facts.value_count == 0;
  report->Compare("column_index.null_pages", static_cast<bool>(index.null_pages[i]), is_null);
  if (index.null_counts && index.null_counts->size() > i) {
    report->Compare("column_index.null_counts", (*index.null_counts)[i], page.facts.null_count());
    if (index.null_pages[i] && (*index.null_counts)[i] == 0 && page.facts.slot_count > 0) {
      report->Add("column_index.null_pages", "a null page", "a null count of 0 beside it");
    }
  }
  if (!page.values_read) return;
  if (index.nan_counts && index.nan_counts->size() > i) {
    report->Compare("column_index.nan_counts", (*index.nan_counts)[i], page.facts.nan_count);
  }
  if (is_null || index.null_pages[i]) {
    if (!index.min_values[i].empty() || !index.max_values[i].empty()) {
      report->Add("column_index.null_bounds", "bounds", "a null page has empty ones");
    }
    return;
  }
  if (!type_defined_order) return;
  const BoundsVerifier bounds("column_index", order, page.facts, report);
  bounds.CheckMin(index.min_values[i], false, "min_values");
  bounds.CheckMax(index.max_values[i], false, "max_values");
}

}  // namespace

Result<StoredIndexes> ReadStoredIndexes(arrow::io::RandomAccessFile* file, const ColumnChunk& chunk,
                                        ChunkDecryptor* decryptor, int64_t end, VerifyReport* report,
                                        arrow::MemoryPool* pool) {
  const IndexPlace offsets{"offset_index", chunk.offset_index_offset, chunk.offset_index_length,
                           crypto::ModuleType::kOffsetIndex};
  const IndexPlace columns{"column_index", chunk.column_index_offset, chunk.column_index_length,
                           crypto::ModuleType::kColumnIndex};
  StoredIndexes indexes;
  ARROW_ASSIGN_OR_RAISE(const auto offset_bytes, ReadBytes(file, offsets, decryptor, end, report, pool));
  ARROW_ASSIGN_OR_RAISE(const auto column_bytes, ReadBytes(file, columns, decryptor, end, report, pool));
  Parse(offset_bytes.get(), ParseOffsetIndex, offsets.name, &indexes.offsets, report);
  Parse(column_bytes.get(), ParseColumnIndex, columns.name, &indexes.columns, report);
  if (column_bytes != nullptr && !chunk.offset_index_offset) {
    report->Add("column_index.alone", "a column index", "there is no offset index, which it needs");
  }
  return indexes;
}

void VerifyOffsetIndex(const OffsetIndex& index, const LeafColumn& leaf, const std::vector<VerifiedPage>& pages,
                       VerifyReport* report) {
  const auto& locations = index.page_locations;
  if (!CheckLength("offset_index.page_locations", locations.size(), pages.size(), 1, report)) return;
  const bool with_bytes = !index.unencoded_byte_array_data_bytes.empty() &&
                          CheckLength("offset_index.unencoded_byte_array_data_bytes",
                                      index.unencoded_byte_array_data_bytes.size(), pages.size(), 1, report);
  int64_t first_row = 0;
  bool rows_known = true;
  for (size_t i = 0; i < pages.size(); ++i) {
    const VerifiedPage& page = pages[i];
    report->AtPage(page.index, page.offset);
    report->Compare("offset_index.offset", locations[i].offset, page.offset);
    report->Compare("offset_index.compressed_page_size", locations[i].compressed_page_size, page.bytes);
    if (rows_known) report->Compare("offset_index.first_row_index", locations[i].first_row_index, first_row);
    if (i > 0 && locations[i].first_row_index <= locations[i - 1].first_row_index) {
      report->Add("offset_index.rows_increase", locations[i].first_row_index,
                  fmt::format("after {}", locations[i - 1].first_row_index));
    }
    if (page.levels_read && !page.begins_with_row) {
      report->Add("offset_index.pages_begin_rows", "pages that begin with a row", "one goes on with a row");
    }
    if (with_bytes && page.values_read && leaf.element.type == PhysicalType::kByteArray) {
      report->Compare("offset_index.unencoded_byte_array_data_bytes", index.unencoded_byte_array_data_bytes[i],
                      page.facts.byte_array_bytes);
    }
    rows_known = rows_known && page.levels_read;
    first_row += page.facts.row_count;
  }
  report->AtPage(-1, -1);
}

void VerifyColumnIndex(const ColumnIndex& index, const ValueOrder& order, bool type_defined_order,
                       const std::vector<VerifiedPage>& pages, VerifyReport* report) {
  bool fits = CheckLength("column_index.pages", index.null_pages.size(), pages.size(), 1, report);
  fits = CheckLength("column_index.pages", index.min_values.size(), pages.size(), 1, report) && fits;
  fits = CheckLength("column_index.pages", index.max_values.size(), pages.size(), 1, report) && fits;
  if (index.null_counts) {
    CheckLength("column_index.null_counts", index.null_counts->size(), pages.size(), 1, report);
  }
  if (!fits) return;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!pages[i].levels_read) continue;
    report->AtPage(pages[i].index, pages[i].offset);
    VerifyEntry(index, i, order, type_defined_order, pages[i], report);
  }
  report->AtPage(-1, -1);
  if (type_defined_order) VerifyBoundaryOrder(index, order, report);
  VerifyHistograms("column_index.repetition_level_histograms", index.repetition_level_histograms, pages,
                   &PageDescription::repetition_histogram, report);
  VerifyHistograms("column_index.definition_level_histograms", index.definition_level_histograms, pages,
                   &PageDescription::definition_histogram, report);
}

}  // namespace calve::parquet
