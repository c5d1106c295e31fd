#include "calve/parquet/page_index_builder.h"

#include <algorithm>
#include <cstring>

namespace calve::parquet {
namespace {

/// Bounds of values that cannot be cut are kept whole up to this length.
constexpr size_t kLongestWholeBound = 4096;

template <typename T>
int CompareAs(std::string_view a, std::string_view b) {
  T left, right;
  std::memcpy(&left, a.data(), sizeof(T));
  std::memcpy(&right, b.data(), sizeof(T));
  return left < right ? -1 : right < left ? 1 : 0;
}

int CompareHalves(std::string_view a, std::string_view b) {
  const auto rank = [](std::string_view value) {
    uint16_t bits;
    std::memcpy(&bits, value.data(), sizeof(bits));
    const int magnitude = bits & 0x7FFF;
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  };
  return rank(a) - rank(b);
}

int CompareDecimals(std::string_view a, std::string_view b) {
  const auto first_a = static_cast<signed char>(a.front()), first_b = static_cast<signed char>(b.front());
  return first_a != first_b ? first_a - first_b : a.compare(b);
}

/// Bounds of a page for the index, where they can be had.
bool PageBounds(const SchemaElement& element, std::string_view exact_min, std::string_view exact_max, std::string* min,
                std::string* max) {
  Statistics cut;
  SetBounds(element, exact_min, exact_max, &cut);
  const auto whole = [](std::optional<std::string> bound, std::string_view exact, std::string* out) {
    if (!bound && exact.size() > kLongestWholeBound) return false;
    *out = bound ? std::move(*bound) : std::string(exact);
    return true;
  };
  return whole(std::move(cut.min_value), exact_min, min) && whole(std::move(cut.max_value), exact_max, max);
}

BoundaryOrder OrderOf(const LeafColumn& column, BoundOrder order, const ColumnIndex& index) {
  bool ascending = true, descending = true;
  std::optional<size_t> before;
  for (size_t page = 0; page < index.null_pages.size(); ++page) {
    if (index.null_pages[page]) continue;
    if (before) {
      const PhysicalType type = *column.element.type;
      const int min = CompareBounds(order, type, index.min_values[*before], index.min_values[page]);
      const int max = CompareBounds(order, type, index.max_values[*before], index.max_values[page]);
      ascending = ascending && min <= 0 && max <= 0;
      descending = descending && min >= 0 && max >= 0;
    }
    before = page;
  }
  return ascending ? BoundaryOrder::kAscending : descending ? BoundaryOrder::kDescending : BoundaryOrder::kUnordered;
}

/// Calls `add(level, slots)` for the definition levels of a page, of which there are more than one.
template <typename Add>
void ForEachDefinitionLevel(const LeafColumn& column, const PageDescription& page, Add&& add) {
  if (column.max_definition_level == 1) {
    add(0, page.null_count());
    add(1, page.value_count);
    return;
  }
  for (size_t level = 0; level < page.definition_histogram.size(); ++level)
    add(level, page.definition_histogram[level]);
}

void AppendHistograms(const LeafColumn& column, const PageDescription& page, ColumnIndex* index) {
  ForEachDefinitionLevel(column, page,
                         [&](size_t, int64_t slots) { index->definition_level_histograms.push_back(slots); });
  index->repetition_level_histograms.insert(index->repetition_level_histograms.end(), page.repetition_histogram.begin(),
                                            page.repetition_histogram.end());
}

}  // namespace

int CompareBounds(BoundOrder order, PhysicalType type, std::string_view a, std::string_view b) {
  switch (order) {
    case BoundOrder::kUnsigned:
      return type == PhysicalType::kInt32 ? CompareAs<uint32_t>(a, b) : CompareAs<uint64_t>(a, b);
    case BoundOrder::kSigned:
      if (type == PhysicalType::kBoolean) return CompareAs<uint8_t>(a, b);
      return type == PhysicalType::kInt32 ? CompareAs<int32_t>(a, b) : CompareAs<int64_t>(a, b);
    case BoundOrder::kFloat:
      return type == PhysicalType::kFloat ? CompareAs<float>(a, b) : CompareAs<double>(a, b);
    case BoundOrder::kFloat16:
      return CompareHalves(a, b);
    case BoundOrder::kDecimal:
      return CompareDecimals(a, b);
    default:
      return a.compare(b);
  }
}

void SetPageBounds(const SchemaElement& element, std::string_view min, std::string_view max, PageDescription* page) {
  std::string cut_min, cut_max;
  if (!PageBounds(element, min, max, &cut_min, &cut_max)) return;
  page->min = std::move(cut_min);
  page->max = std::move(cut_max);
}

std::optional<ColumnIndex> MakeColumnIndex(const LeafColumn& column, std::span<const PageDescription> pages,
                                           bool histograms) {
  const BoundOrder order = BoundOrderOf(column.element);
  if (order == BoundOrder::kNone || pages.empty()) return std::nullopt;
  ColumnIndex index;
  index.null_counts.emplace();
  if (order == BoundOrder::kFloat || order == BoundOrder::kFloat16) index.nan_counts.emplace();
  index.min_values.reserve(pages.size());
  index.max_values.reserve(pages.size());
  index.null_counts->reserve(pages.size());
  for (const PageDescription& page : pages) {
    std::string min, max;
    if (page.value_count > 0) {
      if (!page.min || !page.max || !PageBounds(column.element, *page.min, *page.max, &min, &max)) return std::nullopt;
    }
    index.null_pages.push_back(page.value_count == 0);
    index.min_values.push_back(std::move(min));
    index.max_values.push_back(std::move(max));
    index.null_counts->push_back(page.null_count());
    if (index.nan_counts) index.nan_counts->push_back(page.nan_count);
    if (!histograms) continue;
    AppendHistograms(column, page, &index);
  }
  index.boundary_order = OrderOf(column, order, index);
  return index;
}

OffsetIndex MakeOffsetIndex(const LeafColumn& column, std::span<const WrittenPage> pages,
                            std::span<const PageDescription> descriptions, int64_t offset, bool byte_array_bytes) {
  OffsetIndex index;
  index.page_locations.reserve(pages.size());
  int64_t row = 0;
  auto description = descriptions.begin();
  for (const WrittenPage& page : pages) {
    if (page.type != PageType::kDictionaryPage) {
      index.page_locations.push_back({offset, static_cast<int32_t>(page.bytes()), row});
      if (byte_array_bytes && column.element.type == PhysicalType::kByteArray) {
        index.unencoded_byte_array_data_bytes.push_back(description->byte_array_bytes);
      }
      row += description->row_count;
      ++description;
    }
    offset += page.bytes();
  }
  return index;
}

SizeStatistics MakeSizeStatistics(const LeafColumn& column, std::span<const PageDescription> pages) {
  SizeStatistics result;
  if (column.element.type == PhysicalType::kByteArray) result.unencoded_byte_array_data_bytes = 0;
  const auto histogram_of = [](int max_level) {
    return std::vector<int64_t>(max_level == 0 ? 0 : static_cast<size_t>(max_level) + 1);
  };
  result.definition_level_histogram = histogram_of(column.max_definition_level);
  result.repetition_level_histogram = histogram_of(column.max_repetition_level);
  for (const PageDescription& page : pages) {
    if (result.unencoded_byte_array_data_bytes) *result.unencoded_byte_array_data_bytes += page.byte_array_bytes;
    ForEachDefinitionLevel(column, page,
                           [&](size_t level, int64_t slots) { result.definition_level_histogram[level] += slots; });
    for (size_t level = 0; level < page.repetition_histogram.size(); ++level) {
      result.repetition_level_histogram[level] += page.repetition_histogram[level];
    }
  }
  return result;
}

}  // namespace calve::parquet
