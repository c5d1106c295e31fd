#include "calve/parquet/column_options.h"

#include "calve/base/status.h"
#include "calve/parquet/page_encoding.h"

#include <algorithm>
#include <map>
#include <string>

namespace calve::parquet {
namespace {

std::optional<Encoding> EncodingOf(ParquetEncoding encoding) {
  switch (encoding) {
    case ParquetEncoding::kAutomatic:
      return std::nullopt;
    case ParquetEncoding::kPlain:
      return Encoding::kPlain;
    case ParquetEncoding::kRle:
      return Encoding::kRle;
    case ParquetEncoding::kDeltaBinaryPacked:
      return Encoding::kDeltaBinaryPacked;
    case ParquetEncoding::kDeltaLengthByteArray:
      return Encoding::kDeltaLengthByteArray;
    case ParquetEncoding::kDeltaByteArray:
      return Encoding::kDeltaByteArray;
    case ParquetEncoding::kByteStreamSplit:
      return Encoding::kByteStreamSplit;
  }
  return std::nullopt;
}

Status CheckPositive(int64_t value, const char* name) {
  return value > 0 ? Status::OK() : Invalid("{} must be positive, got {}", name, value);
}

Status CheckBloomFilter(const ParquetBloomFilterOptions& filter) {
  if (!(filter.fpp > 0 && filter.fpp < 1))
    return Invalid("bloom_filter.fpp must be between 0 and 1, got {}", filter.fpp);
  if (filter.ndv) ARROW_RETURN_NOT_OK(CheckPositive(*filter.ndv, "bloom_filter.ndv"));
  constexpr int64_t kMost = int64_t{128} << 20;
  if (filter.max_bytes < 32 || filter.max_bytes > kMost) {
    return Invalid("bloom_filter.max_bytes must be between 32 and {}, got {}", kMost, filter.max_bytes);
  }
  return Status::OK();
}

Status CheckColumn(const LeafColumn& column, const ParquetColumnOptions& options) {
  const PhysicalType type = *column.element.type;
  if (options.encoding) {
    const auto encoding = EncodingOf(*options.encoding);
    if (encoding && !CanEncode(*encoding, type)) {
      return Invalid("{} values cannot be encoded as {}", ToString(type), ToString(*encoding));
    }
  }
  if (!options.bloom_filter) return Status::OK();
  if (type == PhysicalType::kBoolean) return Invalid("a BOOLEAN column has no bloom filter");
  return CheckBloomFilter(*options.bloom_filter);
}

Status CheckChunking(const ParquetContentChunking& chunking) {
  ARROW_RETURN_NOT_OK(CheckPositive(chunking.min_bytes, "content_chunking.min_bytes"));
  if (chunking.max_bytes <= chunking.min_bytes) {
    return Invalid("content_chunking.max_bytes must be more than min_bytes, got {} and {}", chunking.max_bytes,
                   chunking.min_bytes);
  }
  return Status::OK();
}

void Override(const ParquetColumnOptions& own, ColumnOptions* options) {
  if (own.encoding) {
    options->encoding = EncodingOf(*own.encoding);
    if (options->encoding) options->dictionary = false;
  }
  if (own.dictionary) options->dictionary = *own.dictionary;
  if (own.bloom_filter) options->bloom_filter = own.bloom_filter;
}

}  // namespace

ColumnOptions ColumnOptions::Make(const ParquetWriteOptions& options, const WrittenLeaf& leaf) {
  const LeafColumn& column = leaf.column;
  const PhysicalType type = *column.element.type;
  ColumnOptions result;
  result.dictionary = options.dictionary;
  result.dictionary_bytes = options.dictionary_bytes;
  result.page_bytes = options.content_chunking ? kLargestPageBytes : std::min(options.page_bytes, kLargestPageBytes);
  // What is said for all holds for the columns that it can hold for.
  result.encoding = EncodingOf(options.encoding);
  if (result.encoding && !CanEncode(*result.encoding, type)) result.encoding = std::nullopt;
  if (type != PhysicalType::kBoolean) result.bloom_filter = options.bloom_filter;
  if (!options.columns.empty()) {
    const auto own = options.columns.find(column.dotted_path());
    if (own != options.columns.end()) Override(own->second, &result);
  }
  // libparquet reads dictionaries, which is what the stored schema asks of it, from PLAIN pages only.
  if (leaf.is_dictionary && options.store_arrow_schema && !result.encoding) result.encoding = Encoding::kPlain;
  // Readers of the first version's pages may not look for booleans in RLE.
  if (type == PhysicalType::kBoolean && !options.data_page_v2 && !result.encoding) result.encoding = Encoding::kPlain;
  return result;
}

Status CheckWriteOptions(const ParquetWriteOptions& options, std::span<const WrittenLeaf> leaves) {
  ARROW_RETURN_NOT_OK(CheckPositive(options.row_group_rows, "row_group_rows"));
  ARROW_RETURN_NOT_OK(CheckPositive(options.row_group_bytes, "row_group_bytes"));
  ARROW_RETURN_NOT_OK(CheckPositive(options.page_bytes, "page_bytes"));
  ARROW_RETURN_NOT_OK(CheckPositive(options.page_rows, "page_rows"));
  if (options.bloom_filter) ARROW_RETURN_NOT_OK(CheckBloomFilter(*options.bloom_filter));
  if (options.content_chunking) ARROW_RETURN_NOT_OK(CheckChunking(*options.content_chunking));
  if (options.columns.empty() && options.sorting_columns.empty()) return Status::OK();
  std::map<std::string, const LeafColumn*> columns;
  for (const WrittenLeaf& leaf : leaves) columns.emplace(leaf.column.dotted_path(), &leaf.column);
  for (const auto& [path, own] : options.columns) {
    const auto column = columns.find(path);
    if (column == columns.end()) return Invalid("options for column '{}', which is not in the schema", path);
    ARROW_RETURN_NOT_OK(WithContext(CheckColumn(*column->second, own), fmt::format("column '{}'", path)));
  }
  for (const ParquetSortingColumn& sorting : options.sorting_columns) {
    if (!columns.contains(sorting.column)) {
      return Invalid("sorting column '{}', which is not in the schema", sorting.column);
    }
  }
  return Status::OK();
}

std::vector<SortingColumn> SortingColumnsOf(const ParquetWriteOptions& options, std::span<const WrittenLeaf> leaves) {
  std::vector<SortingColumn> result;
  if (options.sorting_columns.empty()) return result;
  std::map<std::string, int32_t> numbers;
  for (const WrittenLeaf& leaf : leaves) {
    numbers.emplace(leaf.column.dotted_path(), static_cast<int32_t>(numbers.size()));
  }
  for (const ParquetSortingColumn& sorting : options.sorting_columns) {
    result.push_back({numbers.at(sorting.column), sorting.descending, sorting.nulls_first});
  }
  return result;
}

}  // namespace calve::parquet
