#pragma once

#include "calve/parquet/page_index.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/value_order.h"
#include "calve/parquet/verify_page.h"
#include "calve/parquet/verify_report.h"

#include <arrow/io/interfaces.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace calve::parquet {

/// The indexes of a chunk as they stand in the file, as far as they can be parsed.
struct StoredIndexes {
  std::optional<OffsetIndex> offsets;
  std::optional<ColumnIndex> columns;
};

/// Reads the indexes of a chunk. What cannot be read goes to the report; statuses are about storage.
Result<StoredIndexes> ReadStoredIndexes(arrow::io::RandomAccessFile* file, const ColumnChunk& chunk,
                                        ChunkDecryptor* decryptor, int64_t end, VerifyReport* report,
                                        arrow::MemoryPool* pool);

/// Compares an offset index with all data pages of its chunk.
void VerifyOffsetIndex(const OffsetIndex& index, const LeafColumn& leaf, const std::vector<VerifiedPage>& pages,
                       VerifyReport* report);
/// The same of a column index. Bounds count only when `type_defined_order`.
void VerifyColumnIndex(const ColumnIndex& index, const ValueOrder& order, bool type_defined_order,
                       const std::vector<VerifiedPage>& pages, VerifyReport* report);

}  // namespace calve::parquet
