#pragma once

#include "calve/parquet/metadata.h"

namespace calve::parquet {

class ThriftReader;

/// Reads a Statistics structure that `in` stands at.
void ReadStatistics(ThriftReader& in, Statistics* out);

/// As ParsePageHeader of metadata.h; `*cut_short` says whether a failure is that the bytes ended, so that a caller with
/// more of them may try again.
Result<PageHeader> ParsePageHeader(std::span<const uint8_t> bytes, size_t* header_size, bool* cut_short);

}  // namespace calve::parquet
