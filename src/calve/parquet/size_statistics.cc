#include "calve/parquet/size_statistics.h"

// The numbers are the members' ids in parquet.thrift.

namespace calve::parquet {

using Field = ThriftReader::Field;

bool ReadCounts(ThriftReader& in, Field field, const char* name, std::vector<int64_t>* out) {
  return in.ReadList(field, name, [&](Field element) {
    int64_t value = 0;
    if (!in.Read(element, name, &value)) return false;
    out->push_back(value);
    return true;
  });
}

void ReadSizeStatistics(ThriftReader& in, SizeStatistics* out) {
  in.Struct("SizeStatistics", [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "unencoded_byte_array_data_bytes", &out->unencoded_byte_array_data_bytes);
      case 2:
        return ReadCounts(in, field, "repetition_level_histogram", &out->repetition_level_histogram);
      case 3:
        return ReadCounts(in, field, "definition_level_histogram", &out->definition_level_histogram);
      default:
        return false;
    }
  });
}

void WriteSizeStatistics(ThriftWriter* out, const SizeStatistics& statistics) {
  const auto histogram = [&](int16_t id, const std::vector<int64_t>& counts) {
    if (counts.empty()) return;
    out->List(id, ThriftWriter::Type::kI64, counts, [&](int64_t count) { out->I64Element(count); });
  };
  if (statistics.unencoded_byte_array_data_bytes) out->I64(1, *statistics.unencoded_byte_array_data_bytes);
  histogram(2, statistics.repetition_level_histogram);
  histogram(3, statistics.definition_level_histogram);
}

}  // namespace calve::parquet
