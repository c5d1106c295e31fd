#include "calve/parquet/read_counters.h"

namespace calve {

ParquetSelectionCounts& ParquetSelectionCounts::operator+=(const ParquetSelectionCounts& other) {
  row_groups += other.row_groups;
  row_groups_skipped_by_statistics += other.row_groups_skipped_by_statistics;
  row_groups_skipped_by_bloom_filter += other.row_groups_skipped_by_bloom_filter;
  row_groups_skipped_by_dictionary += other.row_groups_skipped_by_dictionary;
  row_groups_skipped_by_page_index += other.row_groups_skipped_by_page_index;
  row_groups_outside_rows += other.row_groups_outside_rows;
  pages += other.pages;
  pages_skipped_by_page_index += other.pages_skipped_by_page_index;
  rows_tested += other.rows_tested;
  batches_empty += other.batches_empty;
  batches_by_rows += other.batches_by_rows;
  batches_by_mask += other.batches_by_mask;
  return *this;
}

ParquetReadMetrics& ParquetReadMetrics::operator+=(const ParquetReadMetrics& other) {
  row_groups_read += other.row_groups_read;
  row_groups_skipped += other.row_groups_skipped;
  pages_read += other.pages_read;
  pages_skipped += other.pages_skipped;
  bytes_read += other.bytes_read;
  bytes_decompressed += other.bytes_decompressed;
  rows += other.rows;
  footer_cache_hits += other.footer_cache_hits;
  io_ns += other.io_ns;
  decompress_ns += other.decompress_ns;
  decode_ns += other.decode_ns;
  wait_ns += other.wait_ns;
  selection += other.selection;
  return *this;
}

namespace parquet {

ParquetReadMetrics ReadCounters::Read() const {
  ParquetReadMetrics metrics;
  metrics.row_groups_read = row_groups_read;
  metrics.row_groups_skipped = row_groups_skipped;
  metrics.pages_read = pages_read;
  metrics.pages_skipped = pages_skipped;
  metrics.bytes_read = bytes_read;
  metrics.bytes_decompressed = bytes_decompressed;
  metrics.rows = rows;
  metrics.footer_cache_hits = footer_cache_hits;
  metrics.io_ns = io_ns;
  metrics.decompress_ns = decompress_ns;
  metrics.decode_ns = decode_ns;
  metrics.wait_ns = wait_ns;
  return metrics;
}

}  // namespace parquet
}  // namespace calve
