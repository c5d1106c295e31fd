// Any bytes as each of what selects pages: offset index, column index, bloom filter header.

#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/page_index.h"

#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  if (const auto offsets = calve::parquet::ParseOffsetIndex(bytes); offsets.ok()) {
    calve::parquet::ChunkPlan plan;
    plan.offset = 4;
    plan.size_bytes = 1 << 20;
    (void)CheckOffsetIndex(*offsets, plan, 4, 1000);
  }
  if (const auto columns = calve::parquet::ParseColumnIndex(bytes); columns.ok()) {
    if (columns->min_values.size() > size || columns->null_pages.size() > size) std::abort();
    (void)CheckColumnIndex(*columns, columns->null_pages.size());
  }
  size_t header_size = 0;
  if (calve::parquet::ParseBloomFilterHeader(bytes, &header_size).ok() && header_size > size) std::abort();
  return 0;
}
