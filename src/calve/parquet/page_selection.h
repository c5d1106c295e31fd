#pragma once

#include "calve/parquet/open_file.h"
#include "calve/parquet/page_index.h"
#include "calve/parquet/predicate.h"
#include "calve/parquet/row_ranges.h"

#include <map>
#include <optional>

namespace calve::parquet {

/// The page indexes of a row group, read when they are first asked for.
class PageIndexes {
 public:
  /// `file` outlives this.
  PageIndexes(const OpenFile& file, int row_group) : file_(file), row_group_(row_group) {}

  /// Where the pages of a leaf's chunk lie; null when that is not known.
  Result<const OffsetIndex*> OffsetsOf(int leaf);
  /// The same with what is known of their values; null when nothing is.
  Result<const PageIndex*> IndexOf(int leaf);

 private:
  struct Known {
    std::optional<PageIndex> index;
    bool with_columns = false;
  };
  Result<const Known*> Load(int leaf, bool with_columns);

  const OpenFile& file_;
  const int row_group_;
  std::map<int, Known> known_;
};

/// The rows of a row group that may pass `predicate`, told by the column indexes. Counted from the row group's first.
Result<RowRanges> SelectRowsByPages(const Predicate& predicate, const OpenFile& file, int row_group,
                                    PageIndexes* indexes);

/// The pages of a chunk that have rows of `wanted`, and the rows of those pages.
struct PagesWithRows {
  PlannedPages pages;
  RowRanges rows;
};
PagesWithRows PagesOf(const OffsetIndex& index, int64_t num_rows, const RowRanges& wanted);

}  // namespace calve::parquet
