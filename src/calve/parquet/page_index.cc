#include "calve/parquet/page_index.h"

#include "calve/parquet/file_decryptor.h"
#include "calve/parquet/size_statistics.h"
#include "calve/parquet/thrift_reader.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

// The numbers are the members' ids in parquet.thrift.

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

PageLocation ReadLocation(ThriftReader& in) {
  static constexpr char kName[] = "PageLocation";
  PageLocation out;
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "offset", &out.offset);
      case 2:
        return in.Read(field, "compressed_page_size", &out.compressed_page_size);
      case 3:
        return in.Read(field, "first_row_index", &out.first_row_index);
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "offset");
  in.Require(seen, 2, kName, "compressed_page_size");
  in.Require(seen, 3, kName, "first_row_index");
  return out;
}

template <typename T, typename List>
bool ReadListOf(ThriftReader& in, Field field, const char* name, List* out) {
  return in.ReadList(field, name, [&](Field element) {
    T value{};
    if (!in.Read(element, name, &value)) return false;
    out->push_back(std::move(value));
    return true;
  });
}

bool ReadPageCounts(ThriftReader& in, Field field, const char* name, std::optional<std::vector<int64_t>>* out) {
  std::vector<int64_t> counts;
  if (!ReadCounts(in, field, name, &counts)) return false;
  *out = std::move(counts);
  return true;
}

ColumnIndex ReadColumnIndex(ThriftReader& in) {
  static constexpr char kName[] = "ColumnIndex";
  ColumnIndex out;
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return ReadListOf<bool>(in, field, "null_pages", &out.null_pages);
      case 2:
        return ReadListOf<std::string>(in, field, "min_values", &out.min_values);
      case 3:
        return ReadListOf<std::string>(in, field, "max_values", &out.max_values);
      case 4:
        return in.Read(field, "boundary_order", &out.boundary_order);
      case 5:
        return ReadPageCounts(in, field, "null_counts", &out.null_counts);
      case 6:
        return ReadCounts(in, field, "repetition_level_histograms", &out.repetition_level_histograms);
      case 7:
        return ReadCounts(in, field, "definition_level_histograms", &out.definition_level_histograms);
      case 8:
        return ReadPageCounts(in, field, "nan_counts", &out.nan_counts);
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "null_pages");
  in.Require(seen, 2, kName, "min_values");
  in.Require(seen, 3, kName, "max_values");
  in.Require(seen, 4, kName, "boundary_order");
  return out;
}

Status CheckCounts(const std::optional<std::vector<int64_t>>& counts, const char* name, size_t pages) {
  if (!counts) return Status::OK();
  if (counts->size() != pages) return Invalid("{} {} for {} pages", counts->size(), name, pages);
  for (int64_t count : *counts) {
    if (count < 0) return Invalid("{} of {}", name, count);
  }
  return Status::OK();
}

/// The bytes of an index; null when they do not lie before the footer.
Result<std::shared_ptr<arrow::Buffer>> ReadIndex(arrow::io::RandomAccessFile* file, std::optional<int64_t> offset,
                                                 std::optional<int32_t> length, int64_t index_end) {
  if (!offset || !length || *offset <= 0 || *length <= 0 || *length > index_end || *offset > index_end - *length) {
    return std::shared_ptr<arrow::Buffer>();
  }
  ARROW_ASSIGN_OR_RAISE(auto bytes, file->ReadAt(*offset, *length));
  if (bytes->size() == *length) return bytes;
  return IOError("{} bytes at byte {} of the file, {} expected", bytes->size(), *offset, *length);
}

std::span<const uint8_t> SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// Parses an index, which is a module when its chunk is encrypted.
template <typename Index>
Result<Index> ParseIndex(Result<Index> (*parse)(std::span<const uint8_t>), const arrow::Buffer& bytes,
                         const ChunkPlan& plan, crypto::ModuleType type) {
  if (plan.decryptor == nullptr) return parse(SpanOf(bytes));
  ARROW_ASSIGN_OR_RAISE(const auto plaintext,
                        plan.decryptor->Decrypt(type, SpanOf(bytes), nullptr, arrow::default_memory_pool()));
  return parse(SpanOf(*plaintext));
}

}  // namespace

std::vector<int64_t> OffsetIndex::first_rows() const {
  std::vector<int64_t> rows;
  for (const PageLocation& location : page_locations) rows.push_back(location.first_row_index);
  return rows;
}

Result<OffsetIndex> ParseOffsetIndex(std::span<const uint8_t> bytes) {
  static constexpr char kName[] = "OffsetIndex";
  ThriftReader in(bytes);
  OffsetIndex out;
  auto seen = in.Struct(kName, [&](Field field) {
    if (field.id == 2) {
      return ReadCounts(in, field, "unencoded_byte_array_data_bytes", &out.unencoded_byte_array_data_bytes);
    }
    if (field.id != 1) return false;
    return in.ReadList(field, "page_locations", [&](Field element) {
      return in.ReadStruct(element, "page_locations", [&] { out.page_locations.push_back(ReadLocation(in)); });
    });
  });
  in.Require(seen, 1, kName, "page_locations");
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

Result<ColumnIndex> ParseColumnIndex(std::span<const uint8_t> bytes) {
  ThriftReader in(bytes);
  ColumnIndex out = ReadColumnIndex(in);
  ARROW_RETURN_NOT_OK(in.status());
  return out;
}

Status CheckOffsetIndex(const OffsetIndex& index, const ChunkPlan& plan, int64_t data_page_offset, int64_t num_rows) {
  const auto& pages = index.page_locations;
  if (pages.empty()) return Invalid("an offset index without pages");
  // Old writers let the footer's offset be that of the dictionary page.
  if (pages.front().offset < data_page_offset) {
    return Invalid("the first page is at byte {}, the footer says {}", pages.front().offset, data_page_offset);
  }
  if (pages.front().first_row_index != 0) {
    return Invalid("the first page begins at row {}", pages.front().first_row_index);
  }
  const int64_t chunk_end = plan.offset + plan.size_bytes;
  for (size_t i = 0; i < pages.size(); ++i) {
    const bool last = i + 1 == pages.size();
    const int64_t end = last ? chunk_end : pages[i + 1].offset;
    const int64_t end_row = last ? num_rows : pages[i + 1].first_row_index;
    if (pages[i].compressed_page_size <= 0 || pages[i].offset > end - pages[i].compressed_page_size) {
      return Invalid("page {} of {} bytes at byte {} does not end before byte {}", i, pages[i].compressed_page_size,
                     pages[i].offset, end);
    }
    if (pages[i].first_row_index >= end_row) {
      return Invalid("page {} begins at row {}, the next one at row {}", i, pages[i].first_row_index, end_row);
    }
  }
  return Status::OK();
}

Status CheckColumnIndex(const ColumnIndex& index, size_t pages) {
  if (index.null_pages.size() != pages || index.min_values.size() != pages || index.max_values.size() != pages) {
    return Invalid("{} null pages, {} minima and {} maxima for {} pages", index.null_pages.size(),
                   index.min_values.size(), index.max_values.size(), pages);
  }
  ARROW_RETURN_NOT_OK(CheckCounts(index.null_counts, "null counts", pages));
  return CheckCounts(index.nan_counts, "NaN counts", pages);
}

Result<std::optional<PageIndex>> ReadPageIndex(arrow::io::RandomAccessFile* file, const ColumnChunk& chunk,
                                               const ChunkPlan& plan, int64_t num_rows, int64_t index_end,
                                               bool with_columns) {
  std::optional<PageIndex> result;
  ARROW_ASSIGN_OR_RAISE(const auto offset_bytes,
                        ReadIndex(file, chunk.offset_index_offset, chunk.offset_index_length, index_end));
  if (offset_bytes == nullptr) return result;
  auto offsets = ParseIndex(ParseOffsetIndex, *offset_bytes, plan, crypto::ModuleType::kOffsetIndex);
  if (!offsets.ok() || !CheckOffsetIndex(*offsets, plan, chunk.metadata->data_page_offset, num_rows).ok()) {
    return result;
  }
  result.emplace().offsets = offsets.MoveValueUnsafe();
  if (!with_columns) return result;
  ARROW_ASSIGN_OR_RAISE(const auto column_bytes,
                        ReadIndex(file, chunk.column_index_offset, chunk.column_index_length, index_end));
  if (column_bytes == nullptr) return result;
  auto columns = ParseIndex(ParseColumnIndex, *column_bytes, plan, crypto::ModuleType::kColumnIndex);
  if (columns.ok() && CheckColumnIndex(*columns, result->offsets.page_locations.size()).ok()) {
    result->columns = columns.MoveValueUnsafe();
  }
  return result;
}

}  // namespace calve::parquet
