#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/read_plan.h"

#include <arrow/type_fwd.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace arrow::io {
class RandomAccessFile;
}

namespace calve::parquet {

/// Where a data page lies ("PageLocation").
struct PageLocation {
  int64_t offset = 0;                ///< of its header, in the file
  int32_t compressed_page_size = 0;  ///< header included
  int64_t first_row_index = 0;       ///< in the row group
};

/// Where the data pages of a column chunk lie ("OffsetIndex").
struct OffsetIndex {
  std::vector<PageLocation> page_locations;
  std::vector<int64_t> unencoded_byte_array_data_bytes;  ///< one a page; empty: left out

  std::vector<int64_t> first_rows() const;
};

enum class BoundaryOrder { kUnordered = 0, kAscending = 1, kDescending = 2 };

/// What is known of the values of each data page of a column chunk ("ColumnIndex"). The lists are as long as there are
/// pages.
struct ColumnIndex {
  std::vector<bool> null_pages;
  std::vector<std::string> min_values, max_values;  ///< PLAIN, without a length before them
  BoundaryOrder boundary_order = BoundaryOrder::kUnordered;
  std::optional<std::vector<int64_t>> null_counts, nan_counts;
  /// As SizeStatistics has them, of one page after the other; empty: left out.
  std::vector<int64_t> repetition_level_histograms, definition_level_histograms;
};

std::string Serialize(const OffsetIndex& index);
std::string Serialize(const ColumnIndex& index);
/// Parse an index's thrift, bounded as ParseFileMetadata.
Result<OffsetIndex> ParseOffsetIndex(std::span<const uint8_t> bytes);
Result<ColumnIndex> ParseColumnIndex(std::span<const uint8_t> bytes);

/// Invalid when the pages are not those of the chunk: none, not in the order of bytes and rows, outside the chunk or
/// before its data pages, not beginning at row 0.
Status CheckOffsetIndex(const OffsetIndex& index, const ChunkPlan& plan, int64_t data_page_offset, int64_t num_rows);
/// Invalid when a list is not of `pages` entries, or a count is negative.
Status CheckColumnIndex(const ColumnIndex& index, size_t pages);

/// The page index of a column chunk.
struct PageIndex {
  OffsetIndex offsets;
  std::optional<ColumnIndex> columns;
};

/// Reads the indexes of a chunk, the ColumnIndex only when `with_columns`; nothing when it has none that can be used.
///
/// An index that cannot be parsed or fails its check is not used: the pages hold everything, and are then all read. An
/// index that passes and still is not the chunk's is found out when a page is read by it, and is an error then (see
/// PageReader): rows were skipped by it already. `index_end` is where the footer begins.
Result<std::optional<PageIndex>> ReadPageIndex(arrow::io::RandomAccessFile* file, const ColumnChunk& chunk,
                                               const ChunkPlan& plan, int64_t num_rows, int64_t index_end,
                                               bool with_columns);

}  // namespace calve::parquet
