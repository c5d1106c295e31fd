#pragma once

#include "calve/parquet/bloom_filter_builder.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_description.h"
#include "calve/parquet/page_writer.h"
#include "calve/parquet/schema_writer.h"
#include "calve/parquet_writer.h"

#include <arrow/array/data.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace calve::parquet {

/// A column chunk that is ready for the file.
struct WrittenChunk {
  std::vector<WrittenPage> pages;           ///< a dictionary page, if there is one, comes first
  std::vector<PageDescription> data_pages;  ///< one for each data page of `pages`
  ColumnMetadata metadata;                  ///< offsets are counted from the chunk's first byte
  std::optional<WrittenBloomFilter> bloom_filter;
};

/// Encodes one leaf column into pages, row group after row group. Different columns may be written by different
/// threads.
class ColumnWriter {
 public:
  /// `leaf`, `options` and `pages` outlive the writer.
  static std::unique_ptr<ColumnWriter> Make(const WrittenLeaf* leaf, const ParquetWriteOptions* options,
                                            const PageWriter* pages, arrow::MemoryPool* pool);
  virtual ~ColumnWriter() = default;

  /// Adds rows [row, row + count) of the array of the leaf's top-level field, which must stay until EndBatch. After a
  /// failure the writer is of no more use.
  virtual Status Write(const arrow::ArrayData& field, int64_t row, int64_t count) = 0;
  /// True when values of pages that are done still lie in the arrays. Those of FinishChunk may, too, until EndBatch.
  virtual bool borrows() const = 0;
  /// Lets go of the arrays.
  virtual Status EndBatch() = 0;
  /// Bytes that the chunk has now: pages that are done, what the open page and the dictionary hold.
  virtual int64_t chunk_bytes() const = 0;
  /// Ends the chunk; the next Write begins another.
  virtual Result<WrittenChunk> FinishChunk() = 0;
  /// Of all chunks that are finished.
  virtual ParquetColumnSummary summary() const = 0;
};

}  // namespace calve::parquet
