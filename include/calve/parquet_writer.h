#pragma once

#include "calve/context.h"

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace calve {

enum class ParquetCompression { kUncompressed, kSnappy, kGzip, kZstd, kLz4Raw, kBrotli };

/// How values are encoded in pages without a dictionary.
enum class ParquetEncoding {
  kAutomatic,  ///< what a sample of each column chunk comes out smallest with; see docs/format/write-options.md
  kPlain,
  kRle,                   ///< booleans
  kDeltaBinaryPacked,     ///< INT32, INT64
  kDeltaLengthByteArray,  ///< BYTE_ARRAY
  kDeltaByteArray,        ///< BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY
  kByteStreamSplit        ///< all types but booleans and BYTE_ARRAY
};

/// A bloom filter for each column chunk.
struct ParquetBloomFilterOptions {
  double fpp = 0.01;  ///< the share of other values that pass it wrongly
  /// Distinct values of a column chunk, which set the size that the filter has while it is built; none: `max_bytes`.
  /// At the end it is folded to what the values need.
  std::optional<int64_t> ndv;
  int64_t max_bytes = 1 << 20;
};

/// What is different for one column; what is not set is as for all.
struct ParquetColumnOptions {
  std::optional<bool> dictionary;
  /// Naming one leaves the dictionary out, unless `dictionary` says otherwise.
  std::optional<ParquetEncoding> encoding;
  std::optional<ParquetBloomFilterOptions> bloom_filter;
};

/// A column that the rows of each row group are sorted by. The file says so; nothing is sorted or checked.
struct ParquetSortingColumn {
  std::string column;  ///< dotted path of a leaf column
  bool descending = false, nulls_first = false;
};

/// Lets content decide where pages end, so that files with much in common have pages in common.
struct ParquetContentChunking {
  int64_t min_bytes = 256 << 10, max_bytes = 1 << 20;  ///< of a page's values and levels before encoding
  int norm_level = 0;  ///< larger: sizes closer to the middle, and fewer pages in common
};

struct ParquetEncryption;

struct ParquetWriteOptions {
  ParquetCompression compression = ParquetCompression::kZstd;
  std::optional<int> compression_level;  ///< none: the codec's default (zstd 3)
  int64_t row_group_rows = 1 << 20;
  int64_t row_group_bytes = int64_t{128} << 20;  ///< encoded bytes, estimated; a row group ends when it is reached
  int64_t page_bytes = 1 << 20;
  int64_t page_rows = 20000;
  /// A chunk whose dictionary grows over it falls back to PLAIN. One whose values come eight times each and more, on
  /// average, may be up to sixteen times as large.
  int64_t dictionary_bytes = 2 << 20;
  bool dictionary = true;
  ParquetEncoding encoding = ParquetEncoding::kAutomatic;
  std::optional<ParquetBloomFilterOptions> bloom_filter;  ///< of every column that can have one: not booleans
  std::map<std::string, ParquetColumnOptions> columns;    ///< by dotted path of a leaf column ("a.list.element")
  bool data_page_v2 = false;
  bool page_index = true;       ///< column and offset indexes
  bool page_checksums = true;   ///< CRC-32
  bool size_statistics = true;  ///< level histograms and bytes of byte arrays, of chunks and pages
  /// As "ARROW:schema", from which readers restore Arrow's own types. Left out of schemas of 256 fields and more that
  /// Parquet's own says as much of.
  bool store_arrow_schema = true;
  /// Adds distinct_count to the statistics of chunks whose pages all use the dictionary, which has each value once;
  /// not of reals.
  bool distinct_counts = false;
  std::vector<ParquetSortingColumn> sorting_columns;
  std::optional<ParquetContentChunking> content_chunking;
  /// Leaves a column chunk uncompressed when a sample of its first page does not become a twentieth smaller.
  bool skip_poor_compression = false;
  std::shared_ptr<const ParquetEncryption> encryption;  ///< null: none
  std::map<std::string, std::string> key_value_metadata;
};

/// What was written of one leaf column, over the whole file. Bounds are PLAIN-encoded as Parquet's statistics are
/// (without a length prefix), by the column's logical order, NaNs left out; absent when there is no value.
struct ParquetColumnSummary {
  int leaf_index = 0;
  int field_id = -1;        ///< -1: none
  int64_t value_count = 0;  ///< nulls and empty lists included
  int64_t null_count = 0, nan_count = 0;
  int64_t compressed_bytes = 0, uncompressed_bytes = 0;
  std::optional<std::string> min, max;  ///< exact
  bool inside_repeated = false;
};

struct ParquetFileSummary {
  int64_t rows = 0, bytes = 0;
  std::vector<int64_t> row_group_offsets;  ///< byte offset of the first page of each row group
  std::vector<ParquetColumnSummary> columns;
};

/// Writes record batches to one Parquet file. Not thread-safe.
class ParquetWriter {
 public:
  /// `sink` outlives the writer and is not closed by it. Invalid names a field whose type Parquet cannot hold. Field
  /// ids come from the metadata key "PARQUET:field_id".
  static arrow::Result<std::unique_ptr<ParquetWriter>> Make(arrow::io::OutputStream* sink,
                                                            const std::shared_ptr<arrow::Schema>& schema,
                                                            const ParquetWriteOptions& options = {},
                                                            const Context& context = {});
  virtual ~ParquetWriter() = default;

  /// Batches must have the writer's schema (names may differ); sliced arrays are fine. A null in a required field is
  /// Invalid.
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Bytes that the file would have if it were closed now, estimated.
  virtual int64_t estimated_bytes() const = 0;
  /// Writes what is buffered and the footer. Without it the bytes in the sink are no Parquet file.
  virtual arrow::Result<ParquetFileSummary> Close() = 0;
};

}  // namespace calve
