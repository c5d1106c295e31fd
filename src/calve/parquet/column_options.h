#pragma once

#include "calve/parquet/schema_writer.h"
#include "calve/parquet_writer.h"

#include <optional>
#include <span>

namespace calve::parquet {

/// Leaves room below 2^31 for compression that expands.
inline constexpr int64_t kLargestPageBytes = int64_t{1} << 30;

/// Options of a file as they apply to one of its columns.
struct ColumnOptions {
  bool dictionary = true;
  int64_t dictionary_bytes = 2 << 20;
  int64_t page_bytes = 1 << 20;
  std::optional<Encoding> encoding;  ///< of pages without a dictionary; none: chosen
  std::optional<ParquetBloomFilterOptions> bloom_filter;

  static ColumnOptions Make(const ParquetWriteOptions& options, const WrittenLeaf& leaf);
};

/// Invalid names an option that is out of range, a column that is not there, or one that cannot have what is asked.
Status CheckWriteOptions(const ParquetWriteOptions& options, std::span<const WrittenLeaf> leaves);

/// The sorting columns by number. Their names have been checked.
std::vector<SortingColumn> SortingColumnsOf(const ParquetWriteOptions& options, std::span<const WrittenLeaf> leaves);

}  // namespace calve::parquet
