#include "calve/iceberg/manifest_schema.h"

#include "calve/base/status.h"

namespace calve::iceberg {
namespace {

constexpr int kDeletesSince = 2, kRowLineageSince = 3;

Field Required(const Column& column, TypePtr type) {
  return Field{column.id, std::string(column.name), true, std::move(type)};
}

Field Nullable(const Column& column, TypePtr type) {
  return Field{column.id, std::string(column.name), false, std::move(type)};
}

Field IntMap(const Column& column, int key_id, int value_id, TypeId value) {
  return Nullable(
      column, Map(Required({key_id, "key"}, Primitive(TypeId::kInt)), Required({value_id, "value"}, Primitive(value))));
}

Field IntegerList(const Column& column, int element_id, TypeId element) {
  return Nullable(column, List(Required({element_id, "element"}, Primitive(element))));
}

std::vector<Field> DataFileFields(int format_version, TypePtr partition) {
  using namespace columns;
  auto int_type = Primitive(TypeId::kInt), long_type = Primitive(TypeId::kLong);
  auto string_type = Primitive(TypeId::kString), binary_type = Primitive(TypeId::kBinary);
  std::vector<Field> fields;
  if (format_version >= kDeletesSince) fields.push_back(Required(kContent, int_type));
  fields.push_back(Required(kFilePath, string_type));
  fields.push_back(Required(kFileFormat, string_type));
  fields.push_back(Required(kPartition, std::move(partition)));
  fields.push_back(Required(kRecordCount, long_type));
  fields.push_back(Required(kFileSize, long_type));
  if (format_version < kDeletesSince) fields.push_back(Required(kBlockSize, long_type));
  fields.push_back(IntMap(kColumnSizes, 117, 118, TypeId::kLong));
  fields.push_back(IntMap(kValueCounts, 119, 120, TypeId::kLong));
  fields.push_back(IntMap(kNullValueCounts, 121, 122, TypeId::kLong));
  fields.push_back(IntMap(kNanValueCounts, 138, 139, TypeId::kLong));
  fields.push_back(IntMap(kLowerBounds, 126, 127, TypeId::kBinary));
  fields.push_back(IntMap(kUpperBounds, 129, 130, TypeId::kBinary));
  fields.push_back(Nullable(kKeyMetadata, binary_type));
  fields.push_back(IntegerList(kSplitOffsets, 133, TypeId::kLong));
  if (format_version >= kDeletesSince) fields.push_back(IntegerList(kEqualityIds, 136, TypeId::kInt));
  fields.push_back(Nullable(kSortOrderId, int_type));
  if (format_version >= kRowLineageSince) fields.push_back(Nullable(kFirstRowId, long_type));
  if (format_version >= kDeletesSince) fields.push_back(Nullable(kReferencedDataFile, string_type));
  if (format_version >= kRowLineageSince) fields.push_back(Nullable(kContentOffset, long_type));
  if (format_version >= kRowLineageSince) fields.push_back(Nullable(kContentSize, long_type));
  return fields;
}

Field PartitionSummaries() {
  using namespace columns;
  auto bool_type = Primitive(TypeId::kBoolean), binary_type = Primitive(TypeId::kBinary);
  auto summary = Struct({Required(kContainsNull, bool_type), Nullable(kContainsNan, bool_type),
                         Nullable(kSummaryLowerBound, binary_type), Nullable(kSummaryUpperBound, binary_type)});
  return Nullable(kPartitions, List(Required({508, "element"}, std::move(summary))));
}

}  // namespace

std::vector<Field> ManifestEntryFields(int format_version, TypePtr partition) {
  using namespace columns;
  auto long_type = Primitive(TypeId::kLong);
  std::vector<Field> fields{Required(kStatus, Primitive(TypeId::kInt)), Nullable(kSnapshotId, long_type)};
  if (format_version >= kDeletesSince) {
    fields.push_back(Nullable(kSequenceNumber, long_type));
    fields.push_back(Nullable(kFileSequenceNumber, long_type));
  }
  fields.push_back(Required(kDataFile, Struct(DataFileFields(format_version, std::move(partition)))));
  return fields;
}

std::vector<Field> ManifestFileFields(int format_version) {
  using namespace columns;
  auto int_type = Primitive(TypeId::kInt), long_type = Primitive(TypeId::kLong);
  bool v1 = format_version < kDeletesSince;
  auto count = [&](const Column& column, const TypePtr& type) {
    return v1 ? Nullable(column, type) : Required(column, type);
  };
  std::vector<Field> fields{Required(kManifestPath, Primitive(TypeId::kString)), Required(kManifestLength, long_type),
                            Required(kPartitionSpecId, int_type)};
  if (!v1) {
    fields.push_back(Required(kManifestContent, int_type));
    fields.push_back(Required(kManifestSequenceNumber, long_type));
    fields.push_back(Required(kMinSequenceNumber, long_type));
  }
  fields.push_back(Required(kAddedSnapshotId, long_type));
  for (const auto& column : {kAddedFiles, kExistingFiles, kDeletedFiles}) fields.push_back(count(column, int_type));
  if (v1) fields.push_back(PartitionSummaries());
  for (const auto& column : {kAddedRows, kExistingRows, kDeletedRows}) fields.push_back(count(column, long_type));
  if (!v1) fields.push_back(PartitionSummaries());
  fields.push_back(Nullable(kManifestKeyMetadata, Primitive(TypeId::kBinary)));
  if (format_version >= kRowLineageSince) fields.push_back(Nullable(kManifestFirstRowId, long_type));
  return fields;
}

Result<std::string> AvroCodecOf(const std::string& iceberg_name) {
  if (iceberg_name.empty() || iceberg_name == "gzip") return "deflate";
  if (iceberg_name == "zstd") return "zstandard";
  if (iceberg_name == "snappy") return "snappy";
  if (iceberg_name == "uncompressed") return "null";
  return Invalid("write.avro.compression-codec: unknown codec '{}' (gzip, zstd, snappy or uncompressed)", iceberg_name);
}

}  // namespace calve::iceberg
