#pragma once

#include "calve/parquet/page_description.h"
#include "calve/parquet/page_index.h"
#include "calve/parquet/page_writer.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/size_statistics.h"
#include "calve/parquet/statistics.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace calve::parquet {

/// Compares two bounds as statistics hold them, in an order that is not kNone: negative, zero, positive.
int CompareBounds(BoundOrder order, PhysicalType type, std::string_view a, std::string_view b);

/// Sets the bounds of a page from exact ones, cut to what the column index will have of them; none where it can have
/// none. So descriptions stay small whatever the values are.
void SetPageBounds(const SchemaElement& element, std::string_view min, std::string_view max, PageDescription* page);

/// The column index of a chunk's data pages. None when the type has no order, or a page with values has no bounds that
/// would be valid: it holds nothing but NaN, or values that are very long and cannot be cut. `histograms`: of levels.
std::optional<ColumnIndex> MakeColumnIndex(const LeafColumn& column, std::span<const PageDescription> pages,
                                           bool histograms);

/// The offset index of a chunk that begins at byte `offset` of the file. `pages` are its pages as they were written, a
/// dictionary page among them, `descriptions` those of the data pages.
OffsetIndex MakeOffsetIndex(const LeafColumn& column, std::span<const WrittenPage> pages,
                            std::span<const PageDescription> descriptions, int64_t offset, bool byte_array_bytes);

/// The sum of what the pages take.
SizeStatistics MakeSizeStatistics(const LeafColumn& column, std::span<const PageDescription> pages);

}  // namespace calve::parquet
