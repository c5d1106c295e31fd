// The footer as text and tables. A schema element takes a line, in the manner of Parquet's message syntax:
//
//   element = indent repetition type name [ "(" annotation ")" ] [ "=" field_id ]

#include "calve/base/status.h"
#include "calve/parquet/leaf_type.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/statistics.h"
#include "calve/parquet_reader.h"

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <cstring>
#include <utility>

namespace calve {

namespace parquet {
namespace {

constexpr size_t kLongestBound = 64;

// ---- The schema.

std::string_view UnitName(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillis:
      return "ms";
    case TimeUnit::kMicros:
      return "us";
    case TimeUnit::kNanos:
      return "ns";
  }
  return "";
}

std::string AnnotationText(const LogicalType& type) {
  using Kind = LogicalType::Kind;
  switch (type.kind) {
    case Kind::kNone:
      return "";
    case Kind::kString:
      return "STRING";
    case Kind::kMap:
      return "MAP";
    case Kind::kList:
      return "LIST";
    case Kind::kEnum:
      return "ENUM";
    case Kind::kDecimal:
      return fmt::format("DECIMAL({}, {})", type.precision, type.scale);
    case Kind::kDate:
      return "DATE";
    case Kind::kTime:
      return fmt::format("TIME({}{})", UnitName(type.unit), type.is_adjusted_to_utc ? ", UTC" : "");
    case Kind::kTimestamp:
      return fmt::format("TIMESTAMP({}{})", UnitName(type.unit), type.is_adjusted_to_utc ? ", UTC" : "");
    case Kind::kInteger:
      return fmt::format("{}INT{}", type.is_signed ? "" : "U", type.bit_width);
    case Kind::kUnknown:
      return "UNKNOWN";
    case Kind::kJson:
      return "JSON";
    case Kind::kBson:
      return "BSON";
    case Kind::kUuid:
      return "UUID";
    case Kind::kFloat16:
      return "FLOAT16";
    case Kind::kVariant:
      return "VARIANT";
    case Kind::kGeometry:
      return fmt::format("GEOMETRY({})", type.crs);
    case Kind::kGeography:
      return fmt::format("GEOGRAPHY({})", type.crs);
  }
  return "";
}

std::string_view RepetitionName(const SchemaElement& element) {
  switch (element.repetition.value_or(Repetition::kRequired)) {
    case Repetition::kRequired:
      return "required";
    case Repetition::kOptional:
      return "optional";
    case Repetition::kRepeated:
      return "repeated";
  }
  return "";
}

std::string TypeText(const SchemaElement& element) {
  if (!element.type) return "group";
  if (*element.type != PhysicalType::kFixedLenByteArray) return std::string(ToString(*element.type));
  return fmt::format("FIXED_LEN_BYTE_ARRAY({})", element.type_length);
}

std::string ElementLine(const SchemaElement& element, size_t depth) {
  const std::string annotation = AnnotationText(AnnotationOf(element));
  std::string line =
      fmt::format("{:{}}{} {} {}", "", depth * 2, RepetitionName(element), TypeText(element), element.name);
  if (!annotation.empty()) line += fmt::format(" ({})", annotation);
  if (element.field_id) line += fmt::format(" = {}", *element.field_id);
  return line + "\n";
}

// The reader has checked that the list adds up to one tree, of limited depth.
size_t AppendElement(const std::vector<SchemaElement>& elements, size_t index, size_t depth, std::string* text) {
  const SchemaElement& element = elements[index];
  text->append(ElementLine(element, depth));
  size_t next = index + 1;
  for (int32_t child = 0; !element.type && child < element.num_children && next < elements.size(); ++child) {
    next = AppendElement(elements, next, depth + 1, text);
  }
  return next;
}

std::string SchemaText(const std::vector<SchemaElement>& elements) {
  std::string text;
  for (size_t i = 1; i < elements.size();) i = AppendElement(elements, i, 0, &text);
  return text;
}

// ---- Bounds.

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

// Text is shown up to its first byte that is none; everything else in hexadecimal digits.
std::string BytesText(std::string_view bytes, bool is_text) {
  const std::string_view shown = bytes.substr(0, kLongestBound);
  return (is_text ? std::string(shown) : Hex(shown)) + (shown.size() < bytes.size() ? "..." : "");
}

std::optional<int64_t> IntegerOf(PhysicalType type, std::string_view bytes) {
  if (type == PhysicalType::kInt32 && bytes.size() == 4) {
    int32_t value;
    std::memcpy(&value, bytes.data(), 4);
    return value;
  }
  if (type == PhysicalType::kInt64 && bytes.size() == 8) {
    int64_t value;
    std::memcpy(&value, bytes.data(), 8);
    return value;
  }
  return std::nullopt;
}

std::string DecimalText(std::string_view bytes, int scale) {
  const auto value = arrow::Decimal256::FromBigEndian(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                      static_cast<int32_t>(bytes.size()));
  return value.ok() ? value->ToString(scale) : Hex(bytes);
}

std::string IntegerText(const std::shared_ptr<arrow::DataType>& type, int64_t value) {
  switch (type->id()) {
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
      return fmt::format("{}", static_cast<uint32_t>(value));
    case arrow::Type::UINT64:
      return fmt::format("{}", static_cast<uint64_t>(value));
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return arrow::Decimal128(value).ToString(static_cast<const arrow::DecimalType&>(*type).scale());
    case arrow::Type::DATE32:
    case arrow::Type::TIME32: {
      const auto scalar = arrow::MakeScalar(type, static_cast<int32_t>(value));
      return scalar.ok() ? (*scalar)->ToString() : fmt::format("{}", value);
    }
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP: {
      const auto scalar = arrow::MakeScalar(type, value);
      return scalar.ok() ? (*scalar)->ToString() : fmt::format("{}", value);
    }
    default:
      return fmt::format("{}", value);
  }
}

template <typename Float>
std::string FloatText(std::string_view bytes) {
  if (bytes.size() != sizeof(Float)) return Hex(bytes);
  Float value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return fmt::format("{}", value);
}

std::string BoundText(const SchemaElement& element, std::string_view bytes) {
  std::string unsupported;
  const auto type = LeafType(element, {}, &unsupported);
  if (!type.ok() || !unsupported.empty() || !element.type) return Hex(bytes);
  if (const auto integer = IntegerOf(*element.type, bytes)) return IntegerText(*type, *integer);
  switch (*element.type) {
    case PhysicalType::kBoolean:
      return bytes.empty() ? "" : bytes[0] != 0 ? "true" : "false";
    case PhysicalType::kFloat:
      return FloatText<float>(bytes);
    case PhysicalType::kDouble:
      return FloatText<double>(bytes);
    default:
      break;
  }
  const LogicalType annotation = AnnotationOf(element);
  if (annotation.kind == LogicalType::Kind::kDecimal) return DecimalText(bytes, annotation.scale);
  const auto id = (*type)->id();
  return BytesText(bytes, id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING);
}

// The deprecated members are ordered as signed, whatever the type: of use where that is the type's order too.
std::optional<std::string> TrustedBound(const SchemaElement& element, bool order_is_defined,
                                        const std::optional<std::string>& bound,
                                        const std::optional<std::string>& deprecated) {
  if (bound && order_is_defined) return BoundText(element, *bound);
  const BoundOrder order = BoundOrderOf(element);
  if (deprecated && (order == BoundOrder::kSigned || order == BoundOrder::kFloat))
    return BoundText(element, *deprecated);
  return std::nullopt;
}

// ---- Tables.

std::string EncodingsText(const ColumnMetadata& column) {
  std::string text;
  for (const Encoding encoding : column.encodings) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ToString(encoding));
  }
  return text;
}

std::string Dotted(const std::vector<std::string>& path) { return fmt::format("{}", fmt::join(path, ".")); }

class ChunkTable {
 public:
  Status Add(const FileMetadata& metadata, const FileSchema& schema, size_t row_group, size_t leaf) {
    const ColumnChunk& chunk = metadata.row_groups[row_group].columns[leaf];
    if (!chunk.metadata) return Status::OK();
    const ColumnMetadata& column = *chunk.metadata;
    ARROW_RETURN_NOT_OK(row_group_.Append(static_cast<int32_t>(row_group)));
    ARROW_RETURN_NOT_OK(column_.Append(Dotted(column.path_in_schema)));
    ARROW_RETURN_NOT_OK(type_.Append(TypeText(schema.leaves[leaf].element)));
    ARROW_RETURN_NOT_OK(codec_.Append(ToString(column.codec)));
    ARROW_RETURN_NOT_OK(encodings_.Append(EncodingsText(column)));
    ARROW_RETURN_NOT_OK(values_.Append(column.num_values));
    ARROW_RETURN_NOT_OK(compressed_.Append(column.total_compressed_size));
    ARROW_RETURN_NOT_OK(uncompressed_.Append(column.total_uncompressed_size));
    ARROW_RETURN_NOT_OK(dictionary_.Append(column.dictionary_page_offset.has_value()));
    ARROW_RETURN_NOT_OK(page_index_.Append(chunk.offset_index_offset.has_value()));
    ARROW_RETURN_NOT_OK(bloom_filter_.Append(column.bloom_filter_offset.has_value()));
    const bool order_is_defined = leaf < metadata.type_defined_order.size() && metadata.type_defined_order[leaf];
    return AddStatistics(schema.leaves[leaf].element, order_is_defined, column.statistics.value_or(Statistics{}));
  }

  Result<std::shared_ptr<arrow::RecordBatch>> Finish() {
    const auto rows = row_group_.length();
    arrow::FieldVector fields;
    arrow::ArrayVector columns;
    const auto add = [&](const char* name, arrow::ArrayBuilder* builder) -> Status {
      columns.emplace_back();
      ARROW_RETURN_NOT_OK(builder->Finish(&columns.back()));
      fields.push_back(arrow::field(name, columns.back()->type()));
      return Status::OK();
    };
    ARROW_RETURN_NOT_OK(add("row_group", &row_group_));
    ARROW_RETURN_NOT_OK(add("column", &column_));
    ARROW_RETURN_NOT_OK(add("type", &type_));
    ARROW_RETURN_NOT_OK(add("codec", &codec_));
    ARROW_RETURN_NOT_OK(add("encodings", &encodings_));
    ARROW_RETURN_NOT_OK(add("values", &values_));
    ARROW_RETURN_NOT_OK(add("nulls", &nulls_));
    ARROW_RETURN_NOT_OK(add("compressed_bytes", &compressed_));
    ARROW_RETURN_NOT_OK(add("uncompressed_bytes", &uncompressed_));
    ARROW_RETURN_NOT_OK(add("min", &min_));
    ARROW_RETURN_NOT_OK(add("max", &max_));
    ARROW_RETURN_NOT_OK(add("dictionary", &dictionary_));
    ARROW_RETURN_NOT_OK(add("page_index", &page_index_));
    ARROW_RETURN_NOT_OK(add("bloom_filter", &bloom_filter_));
    return arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows, std::move(columns));
  }

 private:
  Status AddStatistics(const SchemaElement& element, bool order_is_defined, const Statistics& statistics) {
    const auto append = [](arrow::StringBuilder* builder, const std::optional<std::string>& text) {
      return text ? builder->Append(*text) : builder->AppendNull();
    };
    ARROW_RETURN_NOT_OK(append(&min_, TrustedBound(element, order_is_defined, statistics.min_value, statistics.min)));
    ARROW_RETURN_NOT_OK(append(&max_, TrustedBound(element, order_is_defined, statistics.max_value, statistics.max)));
    return statistics.null_count ? nulls_.Append(*statistics.null_count) : nulls_.AppendNull();
  }

  arrow::Int32Builder row_group_;
  arrow::StringBuilder column_, type_, codec_, encodings_, min_, max_;
  arrow::Int64Builder values_, nulls_, compressed_, uncompressed_;
  arrow::BooleanBuilder dictionary_, page_index_, bloom_filter_;
};

int64_t CompressedBytes(const RowGroup& row_group) {
  int64_t bytes = 0;
  for (const ColumnChunk& chunk : row_group.columns)
    bytes += chunk.metadata ? chunk.metadata->total_compressed_size : 0;
  return bytes;
}

int64_t FirstOffset(const RowGroup& row_group) {
  if (row_group.columns.empty() || !row_group.columns.front().metadata) return 0;
  const ColumnMetadata& first = *row_group.columns.front().metadata;
  return std::min(first.data_page_offset, first.dictionary_page_offset.value_or(first.data_page_offset));
}

std::string SortText(const RowGroup& row_group, const FileSchema& schema) {
  std::string text;
  for (const SortingColumn& column : row_group.sorting_columns) {
    const auto leaf = static_cast<size_t>(column.column_idx);
    const bool known = column.column_idx >= 0 && leaf < schema.leaves.size();
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", known ? Dotted(schema.leaves[leaf].path) : "?",
                        column.descending ? " desc" : "");
  }
  return text;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupTable(const FileMetadata& metadata, const FileSchema& schema) {
  arrow::Int32Builder ordinal;
  arrow::Int64Builder rows, compressed, uncompressed, offset;
  arrow::StringBuilder sorted_by;
  for (const RowGroup& row_group : metadata.row_groups) {
    ARROW_RETURN_NOT_OK(ordinal.Append(static_cast<int32_t>(ordinal.length())));
    ARROW_RETURN_NOT_OK(rows.Append(row_group.num_rows));
    ARROW_RETURN_NOT_OK(compressed.Append(CompressedBytes(row_group)));
    ARROW_RETURN_NOT_OK(uncompressed.Append(row_group.total_byte_size));
    ARROW_RETURN_NOT_OK(offset.Append(FirstOffset(row_group)));
    const std::string order = SortText(row_group, schema);
    ARROW_RETURN_NOT_OK(order.empty() ? sorted_by.AppendNull() : sorted_by.Append(order));
  }
  const auto count = static_cast<int64_t>(metadata.row_groups.size());
  arrow::ArrayVector columns(6);
  ARROW_RETURN_NOT_OK(ordinal.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(rows.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(compressed.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(uncompressed.Finish(&columns[3]));
  ARROW_RETURN_NOT_OK(offset.Finish(&columns[4]));
  ARROW_RETURN_NOT_OK(sorted_by.Finish(&columns[5]));
  auto row_group_schema = arrow::schema(
      {arrow::field("row_group", arrow::int32()), arrow::field("rows", arrow::int64()),
       arrow::field("compressed_bytes", arrow::int64()), arrow::field("uncompressed_bytes", arrow::int64()),
       arrow::field("offset", arrow::int64()), arrow::field("sorted_by", arrow::utf8())});
  return arrow::RecordBatch::Make(std::move(row_group_schema), count, std::move(columns));
}

}  // namespace
}  // namespace parquet

Result<ParquetDescription> Describe(const ParquetReader& reader) {
  const parquet::FileMetadata& metadata = reader.metadata();
  const parquet::FileSchema& schema = reader.file_schema();
  ParquetDescription description;
  description.created_by = metadata.created_by.value_or("");
  for (const parquet::KeyValue& entry : metadata.key_value_metadata) {
    description.key_value_metadata.emplace_back(entry.key, entry.value.value_or(""));
  }
  description.schema = parquet::SchemaText(metadata.schema);
  ARROW_ASSIGN_OR_RAISE(description.row_groups, parquet::RowGroupTable(metadata, schema));
  parquet::ChunkTable chunks;
  for (size_t row_group = 0; row_group < metadata.row_groups.size(); ++row_group) {
    for (size_t leaf = 0; leaf < schema.leaves.size(); ++leaf) {
      ARROW_RETURN_NOT_OK(WithContext(chunks.Add(metadata, schema, row_group, leaf), reader.name()));
    }
  }
  ARROW_ASSIGN_OR_RAISE(description.column_chunks, chunks.Finish());
  return description;
}

}  // namespace calve
