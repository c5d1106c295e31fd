// Both indexes as parquet.thrift lays them out.

#include "calve/parquet/page_index.h"
#include "calve/parquet/thrift_writer.h"

namespace calve::parquet {
namespace {

using Type = ThriftWriter::Type;

void WriteCounts(ThriftWriter* out, int16_t id, const std::vector<int64_t>& counts) {
  out->List(id, Type::kI64, counts, [&](int64_t count) { out->I64Element(count); });
}

void WriteValues(ThriftWriter* out, int16_t id, const std::vector<std::string>& values) {
  out->List(id, Type::kBinary, values, [&](const std::string& value) { out->BinaryElement(value); });
}

}  // namespace

std::string Serialize(const OffsetIndex& index) {
  ThriftWriter out;
  out.List(1, Type::kStruct, index.page_locations, [&](const PageLocation& location) {
    out.StructElement([&] {
      out.I64(1, location.offset);
      out.I32(2, location.compressed_page_size);
      out.I64(3, location.first_row_index);
    });
  });
  if (!index.unencoded_byte_array_data_bytes.empty()) WriteCounts(&out, 2, index.unencoded_byte_array_data_bytes);
  return out.Finish();
}

std::string Serialize(const ColumnIndex& index) {
  ThriftWriter out;
  out.List(1, Type::kTrue, index.null_pages, [&](bool is_null) { out.BoolElement(is_null); });
  WriteValues(&out, 2, index.min_values);
  WriteValues(&out, 3, index.max_values);
  out.I32(4, static_cast<int32_t>(index.boundary_order));
  if (index.null_counts) WriteCounts(&out, 5, *index.null_counts);
  if (!index.repetition_level_histograms.empty()) WriteCounts(&out, 6, index.repetition_level_histograms);
  if (!index.definition_level_histograms.empty()) WriteCounts(&out, 7, index.definition_level_histograms);
  if (index.nan_counts) WriteCounts(&out, 8, *index.nan_counts);
  return out.Finish();
}

}  // namespace calve::parquet
