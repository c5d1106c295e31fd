// The footer and page headers as parquet.thrift lays them out: each function writes one structure's members, by id.

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/size_statistics.h"
#include "calve/parquet/thrift_writer.h"

#include <algorithm>

namespace calve::parquet {
namespace {

using Type = ThriftWriter::Type;

template <typename Enum>
int32_t Number(Enum value) {
  return static_cast<int32_t>(value);
}

void WriteUnit(ThriftWriter* out, int16_t id, TimeUnit unit) {
  out->Struct(id, [&] { out->Struct(static_cast<int16_t>(Number(unit) + 1), [] {}); });
}

void WriteLogicalTypeMembers(ThriftWriter* out, const LogicalType& type) {
  using Kind = LogicalType::Kind;
  switch (type.kind) {
    case Kind::kDecimal:
      out->I32(1, type.scale);
      out->I32(2, type.precision);
      break;
    case Kind::kTime:
    case Kind::kTimestamp:
      out->Bool(1, type.is_adjusted_to_utc);
      WriteUnit(out, 2, type.unit);
      break;
    case Kind::kInteger:
      out->I8(1, static_cast<int8_t>(type.bit_width));
      out->Bool(2, type.is_signed);
      break;
    case Kind::kVariant:
      out->I8(1, 1);  // the version of its specification
      break;
    case Kind::kGeometry:
      if (!type.crs.empty()) out->Binary(1, type.crs);
      break;
    case Kind::kGeography:
      if (!type.crs.empty()) out->Binary(1, type.crs);
      out->I32(2, type.algorithm);
      break;
    default:
      break;
  }
}

void WriteSchemaElement(ThriftWriter* out, const SchemaElement& element) {
  if (element.type) out->I32(1, Number(*element.type));
  if (element.type == PhysicalType::kFixedLenByteArray) out->I32(2, element.type_length);
  if (element.repetition) out->I32(3, Number(*element.repetition));
  out->Binary(4, element.name);
  if (!element.type) out->I32(5, element.num_children);
  if (element.converted_type) out->I32(6, Number(*element.converted_type));
  if (element.converted_type == ConvertedType::kDecimal) {
    out->I32(7, element.scale);
    out->I32(8, element.precision);
  }
  if (element.field_id) out->I32(9, *element.field_id);
  if (element.logical_type.kind != LogicalType::Kind::kNone) {
    // The union's member ids are the kinds' numbers.
    out->Struct(10, [&] {
      out->Struct(static_cast<int16_t>(Number(element.logical_type.kind)),
                  [&] { WriteLogicalTypeMembers(out, element.logical_type); });
    });
  }
}

void WriteStatistics(ThriftWriter* out, int16_t id, const std::optional<Statistics>& statistics) {
  if (!statistics) return;
  const Statistics& s = *statistics;
  out->Struct(id, [&] {
    if (s.max) out->Binary(1, *s.max);
    if (s.min) out->Binary(2, *s.min);
    if (s.null_count) out->I64(3, *s.null_count);
    if (s.distinct_count) out->I64(4, *s.distinct_count);
    if (s.max_value) out->Binary(5, *s.max_value);
    if (s.min_value) out->Binary(6, *s.min_value);
    if (s.is_max_value_exact) out->Bool(7, *s.is_max_value_exact);
    if (s.is_min_value_exact) out->Bool(8, *s.is_min_value_exact);
    if (s.nan_count) out->I64(9, *s.nan_count);
  });
}

void WriteKeyValues(ThriftWriter* out, int16_t id, const std::vector<KeyValue>& pairs) {
  if (pairs.empty()) return;
  out->List(id, Type::kStruct, pairs, [&](const KeyValue& pair) {
    out->StructElement([&] {
      out->Binary(1, pair.key);
      if (pair.value) out->Binary(2, *pair.value);
    });
  });
}

void WriteColumnMetadata(ThriftWriter* out, const ColumnMetadata& column) {
  out->I32(1, Number(column.type));
  out->List(2, Type::kI32, column.encodings, [&](Encoding encoding) { out->I32Element(Number(encoding)); });
  out->List(3, Type::kBinary, column.path_in_schema, [&](const std::string& name) { out->BinaryElement(name); });
  out->I32(4, Number(column.codec));
  out->I64(5, column.num_values);
  out->I64(6, column.total_uncompressed_size);
  out->I64(7, column.total_compressed_size);
  WriteKeyValues(out, 8, column.key_value_metadata);
  out->I64(9, column.data_page_offset);
  if (column.index_page_offset) out->I64(10, *column.index_page_offset);
  if (column.dictionary_page_offset) out->I64(11, *column.dictionary_page_offset);
  WriteStatistics(out, 12, column.statistics);
  if (!column.encoding_stats.empty()) {
    out->List(13, Type::kStruct, column.encoding_stats, [&](const PageEncodingStats& stats) {
      out->StructElement([&] {
        out->I32(1, Number(stats.page_type));
        out->I32(2, Number(stats.encoding));
        out->I32(3, stats.count);
      });
    });
  }
  if (column.bloom_filter_offset) out->I64(14, *column.bloom_filter_offset);
  if (column.bloom_filter_length) out->I32(15, *column.bloom_filter_length);
  if (column.size_statistics) out->Struct(16, [&] { WriteSizeStatistics(out, *column.size_statistics); });
}

void WriteColumnChunk(ThriftWriter* out, const ColumnChunk& chunk) {
  if (chunk.file_path) out->Binary(1, *chunk.file_path);
  out->I64(2, chunk.file_offset);
  if (chunk.metadata) out->Struct(3, [&] { WriteColumnMetadata(out, *chunk.metadata); });
  if (chunk.offset_index_offset) out->I64(4, *chunk.offset_index_offset);
  if (chunk.offset_index_length) out->I32(5, *chunk.offset_index_length);
  if (chunk.column_index_offset) out->I64(6, *chunk.column_index_offset);
  if (chunk.column_index_length) out->I32(7, *chunk.column_index_length);
  if (chunk.crypto == nullptr) return;
  out->Struct(8, [&] { WriteColumnCryptoMetadata(out, *chunk.crypto); });
  if (!chunk.crypto->encrypted_column_metadata.empty()) out->Binary(9, chunk.crypto->encrypted_column_metadata);
}

void WriteRowGroup(ThriftWriter* out, const RowGroup& group) {
  out->List(1, Type::kStruct, group.columns,
            [&](const ColumnChunk& chunk) { out->StructElement([&] { WriteColumnChunk(out, chunk); }); });
  out->I64(2, group.total_byte_size);
  out->I64(3, group.num_rows);
  if (!group.sorting_columns.empty()) {
    out->List(4, Type::kStruct, group.sorting_columns, [&](const SortingColumn& column) {
      out->StructElement([&] {
        out->I32(1, column.column_idx);
        out->Bool(2, column.descending);
        out->Bool(3, column.nulls_first);
      });
    });
  }
  if (group.file_offset) out->I64(5, *group.file_offset);
  if (group.total_compressed_size) out->I64(6, *group.total_compressed_size);
  if (group.ordinal) out->I16(7, *group.ordinal);
}

void WriteColumnOrders(ThriftWriter* out, const std::vector<bool>& type_defined) {
  if (std::find(type_defined.begin(), type_defined.end(), true) == type_defined.end()) return;
  constexpr int16_t kTypeDefinedOrder = 1, kInt96TimestampOrder = 3;
  out->List(7, Type::kStruct, type_defined, [&](bool is_type_defined) {
    out->StructElement([&] { out->Struct(is_type_defined ? kTypeDefinedOrder : kInt96TimestampOrder, [] {}); });
  });
}

void WriteDataPageHeader(ThriftWriter* out, const DataPageHeader& header) {
  out->I32(1, header.num_values);
  out->I32(2, Number(header.encoding));
  out->I32(3, Number(header.definition_level_encoding));
  out->I32(4, Number(header.repetition_level_encoding));
  WriteStatistics(out, 5, header.statistics);
}

void WriteDataPageHeaderV2(ThriftWriter* out, const DataPageHeaderV2& header) {
  out->I32(1, header.num_values);
  out->I32(2, header.num_nulls);
  out->I32(3, header.num_rows);
  out->I32(4, Number(header.encoding));
  out->I32(5, header.definition_levels_byte_length);
  out->I32(6, header.repetition_levels_byte_length);
  out->Bool(7, header.is_compressed);
  WriteStatistics(out, 8, header.statistics);
}

void WriteDictionaryPageHeader(ThriftWriter* out, const DictionaryPageHeader& header) {
  out->I32(1, header.num_values);
  out->I32(2, Number(header.encoding));
  out->Bool(3, header.is_sorted);
}

void WriteFileMetadata(ThriftWriter* out, const FileMetadata& metadata) {
  out->I32(1, metadata.version);
  out->List(2, Type::kStruct, metadata.schema,
            [&](const SchemaElement& element) { out->StructElement([&] { WriteSchemaElement(out, element); }); });
  out->I64(3, metadata.num_rows);
  out->List(4, Type::kStruct, metadata.row_groups,
            [&](const RowGroup& group) { out->StructElement([&] { WriteRowGroup(out, group); }); });
  WriteKeyValues(out, 5, metadata.key_value_metadata);
  if (metadata.created_by) out->Binary(6, *metadata.created_by);
  WriteColumnOrders(out, metadata.type_defined_order);
}

}  // namespace

std::string Serialize(const FileMetadata& metadata) {
  ThriftWriter out(4096);
  WriteFileMetadata(&out, metadata);
  return out.Finish();
}

std::string Serialize(const FileMetadata& metadata, const FileCryptoMetadata& file) {
  ThriftWriter out;
  WriteFileMetadata(&out, metadata);
  out.Struct(8, [&] { WriteEncryptionAlgorithm(&out, file.algorithm); });
  if (!file.key_metadata.empty()) out.Binary(9, file.key_metadata);
  return out.Finish();
}

std::string Serialize(const ColumnMetadata& column) {
  ThriftWriter out;
  WriteColumnMetadata(&out, column);
  return out.Finish();
}

std::string Serialize(const PageHeader& header) {
  ThriftWriter out;
  out.I32(1, Number(header.type));
  out.I32(2, header.uncompressed_page_size);
  out.I32(3, header.compressed_page_size);
  if (header.crc) out.I32(4, *header.crc);
  if (header.data_page) out.Struct(5, [&] { WriteDataPageHeader(&out, *header.data_page); });
  if (header.dictionary_page) out.Struct(7, [&] { WriteDictionaryPageHeader(&out, *header.dictionary_page); });
  if (header.data_page_v2) out.Struct(8, [&] { WriteDataPageHeaderV2(&out, *header.data_page_v2); });
  return out.Finish();
}

}  // namespace calve::parquet
