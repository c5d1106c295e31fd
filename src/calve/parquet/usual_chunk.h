#pragma once

#include <cstddef>
#include <cstdint>

namespace calve::parquet {

/// Passes over a ColumnChunk that is laid out as writers lay it out: members in the order of their ids, no more of them
/// than there are, none longer than a page of a book. Such chunks are nearly all of a wide file's footer, and this
/// takes a fraction of ThriftSkimmer's time.
///
/// Returns where the chunk ends; null when it is another one, which then may be sound or not. What it passes, the
/// parsers take. `*structure_bytes` gets what the structures would take in memory.
const uint8_t* PassUsualChunk(const uint8_t* at, const uint8_t* end, size_t* structure_bytes);

}  // namespace calve::parquet
