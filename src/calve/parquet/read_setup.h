#pragma once

#include "calve/array/read_memory.h"
#include "calve/parquet/column_reader.h"
#include "calve/parquet/open_file.h"
#include "calve/parquet/page.h"

#include <cstdint>
#include <memory>

namespace calve::parquet {

/// How a batch reader reads its columns, and what they share. Outlives its field decoders.
struct ReadSetup {
  const OpenFile* file = nullptr;
  const FileSchema* schema = nullptr;  ///< of what is read: chunks and nodes name its leaves
  arrow::MemoryPool* pool = nullptr;
  BatchLimits limits;
  PageOptions pages;
  int64_t batch_rows = 0;
  int64_t window_bytes = 0;  ///< how much of each column to read at a time
};

/// A setup for `schema`, its pages with a budget of their own.
ReadSetup SetupOf(const OpenFile& file, const FileSchema& schema, const BatchLimits& limits, arrow::MemoryPool* pool,
                  ReadCounters* counters);

/// Bytes of arrays that may wait for a reader.
int64_t AheadBytes(const Context& context);
/// Row groups that a reader may have open at once, each with so many streams: enough for every thread to find one, and
/// always the next group, so that no thread is idle while the last rows of a group are decoded.
size_t MostOpenGroups(const Context& context, size_t streams);
/// What open row groups may weigh together: bytes that they hold while they are read.
int64_t MostOpenBytes(const Context& context);

}  // namespace calve::parquet
