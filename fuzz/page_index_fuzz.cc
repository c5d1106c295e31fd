// Any bytes as an offset index, a column index and the header of a bloom filter.

#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/page_index.h"

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace calve::parquet;
  const std::span<const uint8_t> bytes(data, size);
  const auto offsets = ParseOffsetIndex(bytes);
  ChunkPlan plan;
  plan.offset = 4;
  plan.size_bytes = 1 << 20;
  constexpr int64_t kRows = 1 << 16;
  if (offsets.ok() && CheckOffsetIndex(*offsets, plan, 4, kRows).ok()) {
    int64_t end = 0;
    for (const PageLocation& page : offsets->page_locations) {
      if (page.offset < end || page.first_row_index >= kRows) std::abort();
      end = page.offset + page.compressed_page_size;
    }
    if (end > plan.offset + plan.size_bytes) std::abort();
  }
  const auto columns = ParseColumnIndex(bytes);
  if (columns.ok() && CheckColumnIndex(*columns, 3).ok() && columns->min_values.size() != 3) std::abort();
  size_t header_size = 0;
  if (ParseBloomFilterHeader(bytes, &header_size).ok() && header_size > size) std::abort();
  return 0;
}
