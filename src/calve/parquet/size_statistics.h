#pragma once

#include "calve/parquet/thrift_reader.h"
#include "calve/parquet/thrift_writer.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace calve::parquet {

/// What a chunk takes once it is in memory ("SizeStatistics").
struct SizeStatistics {
  /// BYTE_ARRAY: bytes of all values, without their lengths.
  std::optional<int64_t> unencoded_byte_array_data_bytes;
  /// How often each level is there, of all from 0 to the largest; empty: left out.
  std::vector<int64_t> repetition_level_histogram, definition_level_histogram;
};

/// Reads a list of counts. False when it is none.
bool ReadCounts(ThriftReader& in, ThriftReader::Field field, const char* name, std::vector<int64_t>* out);

/// Reads the structure that `in` stands at.
void ReadSizeStatistics(ThriftReader& in, SizeStatistics* out);
/// Writes its members.
void WriteSizeStatistics(ThriftWriter* out, const SizeStatistics& statistics);

}  // namespace calve::parquet
