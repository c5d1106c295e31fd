#pragma once

#include "calve/parquet/footer.h"
#include "calve/parquet/page.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/verify_report.h"

#include <cstdint>
#include <memory>

namespace calve::parquet {

/// What all chunks of a file are verified with.
struct VerifyInput {
  arrow::io::RandomAccessFile* file = nullptr;
  const Footer* footer = nullptr;
  PageOptions pages;
  arrow::MemoryPool* pool = nullptr;
};

/// Verifies one column chunk: its pages, and everything that is said of them. `limit`: where what lies behind the chunk
/// in the file begins; the chunk's own size is not relied on. What is wrong goes to `report`; statuses are about
/// storage and memory.
Status VerifyChunk(const VerifyInput& input, const LeafColumn& leaf, int leaf_index, int row_group, int64_t limit,
                   VerifyReport* report);

}  // namespace calve::parquet
