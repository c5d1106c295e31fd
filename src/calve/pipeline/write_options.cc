#include "calve/pipeline/write_options.h"

#include "calve/base/status.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

namespace calve::pipeline {
namespace {

using iceberg::Field;
using iceberg::TableMetadata;
using iceberg::TypeId;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<ParquetCompression> CompressionOf(const TableMetadata& metadata) {
  static const std::pair<const char*, ParquetCompression> kNames[] = {
      {"zstd", ParquetCompression::kZstd},         {"snappy", ParquetCompression::kSnappy},
      {"gzip", ParquetCompression::kGzip},         {"uncompressed", ParquetCompression::kUncompressed},
      {"none", ParquetCompression::kUncompressed}, {"brotli", ParquetCompression::kBrotli},
      {"lz4", ParquetCompression::kLz4Raw},        {"lz4_raw", ParquetCompression::kLz4Raw},
  };
  const std::string codec = Lower(metadata.Property("write.parquet.compression-codec", "zstd"));
  for (const auto& [name, compression] : kNames) {
    if (codec == name) return compression;
  }
  return NotImplemented("table property write.parquet.compression-codec: codec '{}' is not supported", codec);
}

Result<int64_t> PositiveProperty(const TableMetadata& metadata, const std::string& key, int64_t otherwise) {
  ARROW_ASSIGN_OR_RAISE(const int64_t value, metadata.IntProperty(key, otherwise));
  if (value <= 0) return Invalid("table property {}: {} is not positive", key, value);
  return value;
}

Status CheckWritable(const TableMetadata& metadata) {
  const std::string format = Lower(metadata.Property("write.format.default", "parquet"));
  if (format != "parquet") {
    return NotImplemented("table property write.format.default: writing {} files is not supported", format);
  }
  if (metadata.properties.contains("encryption.key-id")) {
    return NotImplemented("table property encryption.key-id: writing encrypted tables is not supported");
  }
  return Status::OK();
}

constexpr char kBloomFilterEnabled[] = "write.parquet.bloom-filter-enabled.column.";
constexpr char kBloomFilterRate[] = "write.parquet.bloom-filter-fpp.column.";
constexpr char kBloomFilterValues[] = "write.parquet.bloom-filter-ndv.column.";

/// A column that is no list, map or struct, under its name in the table ("tags.element").
struct LeafPath {
  std::string path;  ///< in the file ("tags.list.element")
  TypeId type;
};

void CollectLeafPaths(const Field& field, const std::string& name, const std::string& path,
                      std::map<std::string, LeafPath>* out) {
  if (!field.type->is_nested()) {
    out->emplace(name, LeafPath{path, field.type->id});
    return;
  }
  const std::string middle = field.type->id == TypeId::kList  ? ".list."
                             : field.type->id == TypeId::kMap ? ".key_value."
                                                              : ".";
  for (const Field& child : field.type->fields) {
    CollectLeafPaths(child, name + "." + child.name, path + middle + child.name, out);
  }
}

Result<std::optional<double>> RateProperty(const TableMetadata& metadata, const std::string& key) {
  const auto found = metadata.properties.find(key);
  if (found == metadata.properties.end()) return std::nullopt;
  const std::string& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value < 1)) {
    return Invalid("table property {}: expected a number between 0 and 1, got '{}'", key, text);
  }
  return value;
}

Result<ParquetBloomFilterOptions> BloomFilterOf(const TableMetadata& metadata, const std::string& column) {
  ParquetBloomFilterOptions filter;
  ARROW_ASSIGN_OR_RAISE(filter.max_bytes,
                        PositiveProperty(metadata, "write.parquet.bloom-filter-max-bytes", filter.max_bytes));
  filter.max_bytes = std::clamp<int64_t>(filter.max_bytes, 32, int64_t{128} << 20);
  ARROW_ASSIGN_OR_RAISE(const auto rate, RateProperty(metadata, kBloomFilterRate + column));
  filter.fpp = rate.value_or(filter.fpp);
  if (metadata.properties.contains(kBloomFilterValues + column)) {
    ARROW_ASSIGN_OR_RAISE(filter.ndv, PositiveProperty(metadata, kBloomFilterValues + column, 1));
  }
  return filter;
}

/// Filters of columns that the schema has no more, or that cannot have one, are passed over, as by other writers.
Status SetBloomFilters(const TableMetadata& metadata, ParquetWriteOptions* options) {
  std::map<std::string, LeafPath> leaves;
  const std::string prefix = kBloomFilterEnabled;
  for (auto property = metadata.properties.lower_bound(prefix);
       property != metadata.properties.end() && property->first.starts_with(prefix); ++property) {
    ARROW_ASSIGN_OR_RAISE(const bool enabled, metadata.BoolProperty(property->first, false));
    if (!enabled) continue;
    if (leaves.empty()) {
      ARROW_ASSIGN_OR_RAISE(const auto columns, FileColumns(metadata.schema()));
      for (const Field& field : columns) CollectLeafPaths(field, field.name, field.name, &leaves);
    }
    const std::string column = property->first.substr(prefix.size());
    const auto leaf = leaves.find(column);
    if (leaf == leaves.end() || leaf->second.type == TypeId::kBoolean) continue;
    ARROW_ASSIGN_OR_RAISE(options->columns[leaf->second.path].bloom_filter, BloomFilterOf(metadata, column));
  }
  return Status::OK();
}

Result<std::optional<Field>> FileColumn(const Field& field, const std::string& path) {
  switch (field.type->id) {
    case TypeId::kUnknown:
      return std::nullopt;
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return NotImplemented("column '{}': writing type {} is not supported", path, field.type->ToString());
    default:
      break;
  }
  if (!field.type->is_nested()) return field;
  std::vector<Field> children;
  for (const Field& child : field.type->fields) {
    ARROW_ASSIGN_OR_RAISE(auto kept, FileColumn(child, path + "." + child.name));
    if (kept) children.push_back(std::move(*kept));
  }
  Field result = field;
  if (field.type->id == TypeId::kStruct) {
    if (children.empty()) return NotImplemented("column '{}': writing a struct without fields is not supported", path);
    result.type = iceberg::Struct(std::move(children));
  } else if (children.size() != field.type->fields.size()) {
    return NotImplemented("column '{}': writing type {} is not supported", path, field.type->ToString());
  } else if (field.type->id == TypeId::kList) {
    result.type = iceberg::List(std::move(children[0]));
  } else {
    result.type = iceberg::Map(std::move(children[0]), std::move(children[1]));
  }
  return result;
}

}  // namespace

Result<ParquetWriteOptions> WriteOptionsOf(const TableMetadata& metadata) {
  ARROW_RETURN_NOT_OK(CheckWritable(metadata));
  ParquetWriteOptions options;
  ARROW_ASSIGN_OR_RAISE(options.compression, CompressionOf(metadata));
  if (metadata.properties.contains("write.parquet.compression-level")) {
    ARROW_ASSIGN_OR_RAISE(const int64_t level, metadata.IntProperty("write.parquet.compression-level", 0));
    options.compression_level = static_cast<int>(std::clamp<int64_t>(level, -1000, 1000));
  }
  ARROW_ASSIGN_OR_RAISE(options.row_group_bytes,
                        PositiveProperty(metadata, "write.parquet.row-group-size-bytes", options.row_group_bytes));
  ARROW_ASSIGN_OR_RAISE(options.page_bytes,
                        PositiveProperty(metadata, "write.parquet.page-size-bytes", options.page_bytes));
  ARROW_ASSIGN_OR_RAISE(options.page_rows,
                        PositiveProperty(metadata, "write.parquet.page-row-limit", options.page_rows));
  ARROW_ASSIGN_OR_RAISE(options.dictionary_bytes,
                        PositiveProperty(metadata, "write.parquet.dict-size-bytes", options.dictionary_bytes));
  const std::string version = Lower(metadata.Property("write.parquet.page-version", "v1"));
  if (version != "v1" && version != "v2") {
    return NotImplemented("table property write.parquet.page-version: '{}' is not supported", version);
  }
  options.data_page_v2 = version == "v2";
  // The first version's pages are for readers that may know no more than its encodings.
  if (!options.data_page_v2) options.encoding = ParquetEncoding::kPlain;
  // The table's schema says what the columns are.
  options.store_arrow_schema = false;
  ARROW_RETURN_NOT_OK(SetBloomFilters(metadata, &options));
  return options;
}

Result<int64_t> TargetFileSizeOf(const TableMetadata& metadata) {
  return PositiveProperty(metadata, "write.target-file-size-bytes", int64_t{512} << 20);
}

Result<std::vector<Field>> FileColumns(const iceberg::Schema& schema) {
  std::vector<Field> result;
  for (const Field& field : schema.fields) {
    ARROW_ASSIGN_OR_RAISE(auto kept, FileColumn(field, field.name));
    if (kept) result.push_back(std::move(*kept));
  }
  return result;
}

}  // namespace calve::pipeline
