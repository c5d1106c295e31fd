#include "calve/iceberg/manifest.h"

#include "manifest_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace calve::iceberg {
namespace {

using avro::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManifestTest : public ::testing::Test {
 protected:
  Result<std::vector<ManifestEntry>> ReadBytes(const TableMetadata& metadata, const std::string& bytes) {
    auto location = folder_ / ("m" + std::to_string(files_++));
    testing::WriteText(location, bytes);
    return ReadManifest(io_, metadata, ListEntryOf(location, bytes.size()));
  }

  ManifestWriteRequest Request(bool is_deletes = false) {
    return {folder_ / ("w" + std::to_string(files_++)), 0, is_deletes, 500, 20, "gzip"};
  }

  testing::TempFolder folder_;
  FileIO io_;
  int files_ = 0;
};

TEST_F(ManifestTest, ReadsJavasV1) {
  auto bytes = ManifestBytes("v1-manifest.avro");
  auto entries = ReadBytes(TableOfManifest(bytes), bytes).ValueOrDie();
  ASSERT_EQ(entries.size(), 3u);
  const auto& entry = entries[0];
  EXPECT_EQ(entry.status, EntryStatus::kAdded);
  EXPECT_EQ(entry.snapshot_id, 6388433407689435076);
  EXPECT_EQ(entry.sequence_number, 0);  // format v1 has none
  EXPECT_EQ(entry.file_sequence_number, 0);
  EXPECT_EQ(entry.file.content, FileContent::kData);
  EXPECT_EQ(entry.file.file_path,
            "/tmp/calve-warehouse/t/v1_snaps/data/id_bucket=0/"
            "00000-2464-df082a69-226f-4ef7-bcfc-70e3ff1b85f6-0-00002.parquet");
  EXPECT_EQ(entry.file.file_format, "PARQUET");
  EXPECT_EQ(entry.file.record_count, 12);
  EXPECT_EQ(entry.file.file_size_in_bytes, 1304);
  EXPECT_EQ(entry.file.column_sizes, (std::map<int, int64_t>{{1, 86}, {2, 93}, {3, 78}, {4, 112}}));
  EXPECT_EQ(entry.file.null_value_counts, (std::map<int, int64_t>{{1, 0}, {2, 0}, {3, 3}, {4, 0}}));
  EXPECT_EQ(entry.file.lower_bounds.at(4), "s02274");
  EXPECT_EQ(entry.file.upper_bounds.at(3), std::string("\xa7\x03\0\0", 4));
  EXPECT_THAT(entry.file.split_offsets, ElementsAre(4));
  EXPECT_EQ(entry.file.sort_order_id, 0);
  ASSERT_EQ(entry.file.partition.size(), 1u);
  EXPECT_EQ(std::get<int32_t>(entries[2].file.partition[0]), 2);
}

class JavaManifest : public ManifestTest, public ::testing::WithParamInterface<int> {
 protected:
  std::string Name(const char* what) { return fmt::format("v{}-{}.avro", GetParam(), what); }
};

TEST_P(JavaManifest, WrittenWithTheSameSchemaAndMetadata) {
  auto bytes = ManifestBytes(Name("manifest"));
  auto metadata = TableOfManifest(bytes);
  auto entries = ReadBytes(metadata, bytes).ValueOrDie();
  for (auto& entry : entries) entry.sequence_number.reset();
  auto manifest = WriteManifest(io_, metadata, Request(), entries).ValueOrDie();
  auto ours = io_.ReadAll(manifest.manifest_path).ValueOrDie();
  EXPECT_EQ(manifest.manifest_length, static_cast<int64_t>(ours.size()));
  auto expected = avro::FileReader::Make(bytes).ValueOrDie(), got = avro::FileReader::Make(ours).ValueOrDie();
  for (const auto& [key, value] : expected->metadata()) {
    ASSERT_TRUE(got->metadata().contains(key)) << key;
    auto written = got->metadata().at(key);
    if (key == "avro.schema" || key == "schema" || key == "partition-spec" || key == "iceberg.schema") {
      EXPECT_EQ(WithoutDocs(nlohmann::json::parse(written)), WithoutDocs(nlohmann::json::parse(value))) << key;
    } else {
      EXPECT_EQ(written, value) << key;
    }
  }
  EXPECT_EQ(got->Metadata("schema-id"), "0");
  EXPECT_EQ(got->Metadata("content").has_value(), GetParam() >= 2);
}

TEST_P(JavaManifest, RoundTrip) {
  auto bytes = ManifestBytes(Name("manifest"));
  auto metadata = TableOfManifest(bytes);
  auto entries = ReadBytes(metadata, bytes).ValueOrDie();
  for (const char* codec : {"", "gzip", "zstd", "snappy", "uncompressed"}) {
    auto request = Request();
    request.codec = codec;
    auto manifest = WriteManifest(io_, metadata, request, entries).ValueOrDie();
    auto again = ReadManifest(io_, metadata, manifest).ValueOrDie();
    for (auto& entry : again) entry.file_sequence_number = entries[0].file_sequence_number;
    EXPECT_EQ(Texts(again), Texts(entries));
  }
  auto request = Request();
  request.codec = "lzma";
  EXPECT_THAT(WriteManifest(io_, metadata, request, entries).status().message(), HasSubstr("unknown codec 'lzma'"));
  EXPECT_FALSE(io_.Exists(request.location).ValueOrDie());
}

TEST_P(JavaManifest, TruncatedAtEveryByte) {
  auto bytes = ManifestBytes(Name("manifest"));
  auto metadata = TableOfManifest(bytes);
  auto location = folder_ / "manifest";
  auto entries = ReadBytes(metadata, bytes).ValueOrDie();
  auto told = ListEntryOf(location, bytes.size());
  told.added_files_count = static_cast<int64_t>(entries.size());
  testing::WriteText(location, bytes);
  for (size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(location, size);
    ASSERT_TRUE(ReadManifest(io_, metadata, told).status().IsInvalid()) << size;
    auto as_long_as_told = told;  // a list that was made for the cut manifest: the counts still tell
    as_long_as_told.manifest_length = static_cast<int64_t>(size);
    ASSERT_TRUE(ReadManifest(io_, metadata, as_long_as_told).status().IsInvalid()) << size;
  }
}

TEST_P(JavaManifest, CorruptionNeverCrashes) {
  auto bytes = ManifestBytes(Name("manifest"));
  auto metadata = TableOfManifest(bytes);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (i % 2 == 0 ? 0x01 : 0xff));
    auto status = ReadBytes(metadata, bad).status();
    ASSERT_TRUE(status.ok() || status.IsInvalid() || status.IsNotImplemented()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, JavaManifest, ::testing::Values(1, 2, 3));

TableMetadata SmallTable(int format_version, std::vector<PartitionField> fields = {}) {
  TableMetadata metadata;
  metadata.format_version = format_version;
  Schema schema;
  schema.fields = {{1, "id", false, Primitive(TypeId::kLong)},
                   {2, "name", false, Primitive(TypeId::kString)},
                   {3, "f", false, Primitive(TypeId::kDouble)},
                   {4, "dec", false, Decimal(9, 2)},
                   {5, "day", false, Primitive(TypeId::kDate)},
                   {6, "u", false, Primitive(TypeId::kUuid)},
                   {7, "t", false, Primitive(TypeId::kTimestamp)},
                   {8, "bin", false, Primitive(TypeId::kBinary)},
                   {9, "fix", false, Fixed(3)},
                   {10, "bo", false, Primitive(TypeId::kBoolean)},
                   {11, "i", false, Primitive(TypeId::kInt)}};
  metadata.schemas = {schema};
  PartitionSpec spec;
  spec.fields = std::move(fields);
  metadata.partition_specs = {spec};
  return metadata;
}

PartitionField Identity(int source_id, int field_id, std::string name) {
  return {source_id, field_id, std::move(name), ParseTransform("identity").ValueOrDie()};
}

ManifestEntry Entry(EntryStatus status, std::string path, int64_t rows, std::vector<Value> partition = {}) {
  ManifestEntry entry;
  entry.status = status;
  entry.file.file_path = std::move(path);
  entry.file.file_format = "PARQUET";
  entry.file.record_count = rows;
  entry.file.file_size_in_bytes = 1000;
  entry.file.partition = std::move(partition);
  if (status != EntryStatus::kAdded) {
    entry.snapshot_id = 400;
    entry.sequence_number = 11;
    entry.file_sequence_number = 12;
  }
  return entry;
}

TEST_F(ManifestTest, NumbersAreInheritedByAddedFilesOnly) {
  auto metadata = SmallTable(2);
  auto explicit_number = Entry(EntryStatus::kAdded, "b", 2);
  explicit_number.sequence_number = 7;
  auto manifest = WriteManifest(io_, metadata, Request(),
                                {Entry(EntryStatus::kAdded, "a", 1), explicit_number,
                                 Entry(EntryStatus::kExisting, "c", 4), Entry(EntryStatus::kDeleted, "d", 8)})
                      .ValueOrDie();
  EXPECT_EQ(manifest.sequence_number, 20);
  EXPECT_EQ(manifest.min_sequence_number, 7);
  EXPECT_EQ(manifest.added_snapshot_id, 500);
  EXPECT_EQ(manifest.added_files_count, 2);
  EXPECT_EQ(manifest.existing_files_count, 1);
  EXPECT_EQ(manifest.deleted_files_count, 1);
  EXPECT_EQ(manifest.added_rows_count, 3);
  EXPECT_EQ(manifest.existing_rows_count, 4);
  EXPECT_EQ(manifest.deleted_rows_count, 8);
  manifest.sequence_number = 21;  // the commit was tried again
  auto entries = ReadManifest(io_, metadata, manifest).ValueOrDie();
  std::vector<std::string> numbers;
  for (const auto& e : entries) {
    numbers.push_back(Text(e.snapshot_id) + " " + Text(e.sequence_number) + " " + Text(e.file_sequence_number));
  }
  EXPECT_THAT(numbers, ElementsAre("500 21 21", "500 7 21", "400 11 12", "400 11 12"));
}

// The file sequence number is optional: old writers have none.
TEST_F(ManifestTest, MissingFileSequenceNumbersStayMissing) {
  auto metadata = SmallTable(2);
  auto existing = Entry(EntryStatus::kExisting, "a", 1), deleted = Entry(EntryStatus::kDeleted, "b", 1);
  existing.file_sequence_number.reset();
  deleted.file_sequence_number.reset();
  auto manifest = WriteManifest(io_, metadata, Request(), {existing, deleted});
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  auto entries = ReadManifest(io_, metadata, *manifest).ValueOrDie();
  ASSERT_EQ(entries.size(), 2u);
  for (const auto& entry : entries) {
    EXPECT_EQ(entry.sequence_number, 11);
    EXPECT_EQ(entry.file_sequence_number, std::nullopt);
  }
}

TEST_F(ManifestTest, RowIdsAreInheritedInOrder) {
  auto metadata = SmallTable(3);
  auto known = Entry(EntryStatus::kExisting, "data1", 25);
  known.file.first_row_id = 800;
  auto manifest = WriteManifest(io_, metadata, Request(),
                                {known, Entry(EntryStatus::kAdded, "data2", 50), Entry(EntryStatus::kDeleted, "x", 9),
                                 Entry(EntryStatus::kAdded, "data3", 50)})
                      .ValueOrDie();
  EXPECT_EQ(ReadManifest(io_, metadata, manifest).ValueOrDie()[1].file.first_row_id, std::nullopt);
  manifest.first_row_id = 1000;
  auto entries = ReadManifest(io_, metadata, manifest).ValueOrDie();
  EXPECT_EQ(entries[0].file.first_row_id, 800);
  EXPECT_EQ(entries[1].file.first_row_id, 1000);
  EXPECT_EQ(entries[2].file.first_row_id, std::nullopt);
  EXPECT_EQ(entries[3].file.first_row_id, 1050);
}

TEST_F(ManifestTest, EveryFieldOfV3IsKept) {
  auto metadata = SmallTable(3);
  auto entry = Entry(EntryStatus::kExisting, "d.puffin", 3);
  entry.file.content = FileContent::kPositionDeletes;
  entry.file.file_format = "PUFFIN";
  entry.file.nan_value_counts = {{3, 1}};
  entry.file.key_metadata = "key";
  entry.file.equality_ids = {1, 2};
  entry.file.sort_order_id = 4;
  entry.file.referenced_data_file = "a.parquet";
  entry.file.content_offset = 4;
  entry.file.content_size_in_bytes = 40;
  auto manifest = WriteManifest(io_, metadata, Request(true), {entry}).ValueOrDie();
  EXPECT_TRUE(manifest.is_deletes);
  EXPECT_EQ(Texts(ReadManifest(io_, metadata, manifest).ValueOrDie()), Texts({entry}));
}

TEST_F(ManifestTest, WhatCannotBeWrittenIsRefused) {
  auto message = [&](int version, ManifestEntry entry, bool is_deletes = false) {
    return WriteManifest(io_, SmallTable(version), Request(is_deletes), {std::move(entry)}).status().message();
  };
  auto existing = Entry(EntryStatus::kExisting, "a", 1);
  existing.sequence_number.reset();
  EXPECT_THAT(message(2, existing), HasSubstr("needs its sequence number"));
  existing = Entry(EntryStatus::kExisting, "a", 1);
  existing.snapshot_id.reset();
  EXPECT_THAT(message(2, existing), HasSubstr("needs its snapshot id"));
  auto deletes = Entry(EntryStatus::kAdded, "a", 1);
  deletes.file.content = FileContent::kPositionDeletes;
  EXPECT_THAT(message(2, deletes), HasSubstr("a delete file in a manifest of data files"));
  EXPECT_THAT(message(1, deletes, true), HasSubstr("format v1 have no delete files"));
  deletes.file.content_offset = 4;
  EXPECT_THAT(message(2, deletes, true), HasSubstr("no deletion vectors"));
  EXPECT_THAT(message(2, Entry(EntryStatus::kAdded, "a", 1, {int64_t{3}})), HasSubstr("1 partition values"));
  auto request = Request();
  request.spec_id = 5;
  EXPECT_THAT(WriteManifest(io_, SmallTable(2), request, {}).status().message(), HasSubstr("no partition spec 5"));
}

TEST_F(ManifestTest, NeverReplacesAFile) {
  auto request = Request();
  testing::WriteText(request.location, "mine");
  EXPECT_TRUE(WriteManifest(io_, SmallTable(2), request, {}).status().IsAlreadyExists());
  EXPECT_EQ(testing::ReadText(request.location), "mine");
}

TEST_F(ManifestTest, PartitionsOfEveryType) {
  std::vector<PartitionField> fields;
  auto metadata = SmallTable(2);
  for (const auto& field : metadata.schemas[0].fields) {
    fields.push_back(Identity(field.id, 1000 + field.id, field.name + " p/\u00fc"));
  }
  metadata.partition_specs[0].fields = fields;
  std::vector<Value> values{int64_t{-5},
                            std::string("caf\u00e9"),
                            1.5,
                            arrow::Decimal128(-12345),
                            int32_t{19000},
                            std::string(16, '\x81'),
                            int64_t{-1},
                            std::string("\0\xff", 2),
                            std::string("abc"),
                            true,
                            int32_t{7}};
  std::vector<Value> nulls(values.size());
  auto manifest = WriteManifest(io_, metadata, Request(),
                                {Entry(EntryStatus::kAdded, "a", 1, values), Entry(EntryStatus::kAdded, "b", 1, nulls)})
                      .ValueOrDie();
  auto entries = ReadManifest(io_, metadata, manifest).ValueOrDie();
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(SameValue(entries[0].file.partition[i], values[i])) << fields[i].name;
    EXPECT_TRUE(IsNull(entries[1].file.partition[i])) << fields[i].name;
    EXPECT_TRUE(manifest.partitions[i].contains_null);
    EXPECT_EQ(manifest.partitions[i].lower_bound,
              ValueToBytes(*metadata.schemas[0].fields[i].type, values[i]).ValueOrDie());
  }
  auto bytes = io_.ReadAll(manifest.manifest_path).ValueOrDie();
  auto schema = *avro::FileReader::Make(bytes).ValueOrDie()->Metadata("avro.schema");
  EXPECT_THAT(schema, HasSubstr("\"iceberg-field-name\":\"id p/\u00fc\""));
  EXPECT_THAT(schema, HasSubstr("\"name\":\"id_x20p_x2F_xC3_xBC\""));
  // A decimal(9, 2) takes four bytes.
  EXPECT_THAT(schema, HasSubstr(R"("size":4,"logicalType":"decimal","precision":9,"scale":2)"));
}

TEST_F(ManifestTest, PartitionsOfPromotedAndDroppedColumns) {
  auto metadata = SmallTable(2, {Identity(11, 1000, "i"), Identity(4, 1001, "dec"), Identity(5, 1002, "day")});
  auto manifest = WriteManifest(io_, metadata, Request(),
                                {Entry(EntryStatus::kAdded, "a", 1, {int32_t{3}, arrow::Decimal128(250), int32_t{-2}})})
                      .ValueOrDie();
  metadata.schemas[0].fields[10].type = Primitive(TypeId::kLong);
  metadata.schemas[0].fields[3].type = Decimal(20, 2);
  metadata.schemas[0].fields[4].type = Primitive(TypeId::kTimestamp);
  auto promoted = ReadManifest(io_, metadata, manifest).ValueOrDie()[0].file.partition;
  EXPECT_TRUE(SameValue(promoted[0], Value(int64_t{3})));
  EXPECT_TRUE(SameValue(promoted[1], Value(arrow::Decimal128(250))));
  EXPECT_TRUE(SameValue(promoted[2], Value(int64_t{-2 * 86'400'000'000})));
  metadata.schemas[0].fields.pop_back();
  auto dropped = ReadManifest(io_, metadata, manifest).ValueOrDie()[0];
  EXPECT_TRUE(SameValue(dropped.file.partition[0], Value(int32_t{3})));
  dropped.sequence_number.reset();
  auto again = WriteManifest(io_, metadata, Request(), {dropped}).ValueOrDie();
  EXPECT_TRUE(SameValue(ReadManifest(io_, metadata, again).ValueOrDie()[0].file.partition[0], Value(int32_t{3})));
  metadata.partition_specs[0].fields.push_back(Identity(1, 1003, "id"));
  EXPECT_THAT(ReadManifest(io_, metadata, manifest).status().message(),
              HasSubstr("partition field 'id': the manifest has no value for it"));
}

TEST_F(ManifestTest, PartitionSummaries) {
  auto metadata = SmallTable(2, {Identity(3, 1000, "f")});
  auto entry = [](Value value) { return Entry(EntryStatus::kAdded, "a", 1, {std::move(value)}); };
  auto summary = [&](const std::vector<ManifestEntry>& entries) {
    return WriteManifest(io_, metadata, Request(), entries).ValueOrDie().partitions.at(0);
  };
  auto bytes = [](double value) { return ValueToBytes(*Primitive(TypeId::kDouble), Value(value)).ValueOrDie(); };
  auto mixed = summary({entry(2.0), entry(std::nan("")), entry(-3.0), entry(Value())});
  EXPECT_TRUE(mixed.contains_null);
  EXPECT_EQ(mixed.contains_nan, true);
  EXPECT_EQ(mixed.lower_bound, bytes(-3.0));
  EXPECT_EQ(mixed.upper_bound, bytes(2.0));
  auto zeros = summary({entry(0.0), entry(-0.0), entry(0.0)});
  EXPECT_FALSE(zeros.contains_null);
  EXPECT_EQ(zeros.lower_bound, bytes(-0.0));
  EXPECT_EQ(zeros.upper_bound, bytes(0.0));
  auto none = summary({entry(Value()), entry(std::nan(""))});
  EXPECT_EQ(none.lower_bound, std::nullopt);
  EXPECT_EQ(none.upper_bound, std::nullopt);
}

TEST_F(ManifestTest, CheckedAgainstTheList) {
  auto metadata = SmallTable(2);
  auto good = WriteManifest(io_, metadata, Request(), {Entry(EntryStatus::kAdded, "a", 1)}).ValueOrDie();
  auto message = [&](auto change) {
    auto manifest = good;
    change(manifest);
    return ReadManifest(io_, metadata, manifest).status().message();
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_THAT(message([](auto& m) { m.added_files_count = 2; }),
              HasSubstr("1 added entries, the manifest list says 2"));
  EXPECT_THAT(message([](auto& m) { m.existing_files_count = 1; }), HasSubstr("0 existing entries"));
  EXPECT_THAT(message([](auto& m) { m.deleted_files_count = 1; }), HasSubstr("0 deleted entries"));
  EXPECT_THAT(message([](auto& m) { m.is_deletes = true; }), HasSubstr("its content is 'data'"));
  EXPECT_THAT(message([](auto& m) { m.partition_spec_id = 4; }), HasSubstr("no partition spec 4"));
  EXPECT_THAT(message([](auto& m) { m.key_metadata = "k"; }), HasSubstr("encrypted manifests"));
  // Of another length, but all counts of files and rows are right.
  EXPECT_EQ(message([](auto& m) { ++m.manifest_length; }), "");
  EXPECT_THAT(message([](auto& m) { ++m.manifest_length, m.added_rows_count = 2; }),
              HasSubstr("added files with 1 rows, the manifest list says 2"));
  EXPECT_THAT(message([](auto& m) { ++m.manifest_length, m.added_rows_count.reset(); }), HasSubstr("says nothing"));
  EXPECT_THAT(message([&](auto& m) { m.manifest_path = "/none"; }), HasSubstr("no such file: /none"));
}

TEST_F(ManifestTest, OldManifestsLackColumns) {
  auto string_type = avro::Primitive(Kind::kString), long_type = avro::Primitive(Kind::kLong);
  auto file = avro::Record("r2", {{"file_path", string_type, 100, "", ""},
                                  {"file_format", string_type, 101, "", ""},
                                  {"partition", avro::Record("r102", {}), 102, "", ""},
                                  {"record_count", long_type, 103, "", ""},
                                  {"file_size_in_bytes", long_type, 104, "", ""}});
  auto schema = avro::Record("manifest_entry",
                             {{"status", avro::Primitive(Kind::kInt), 0, "", ""}, {"data_file", file, 2, "", ""}});
  auto writer = avro::FileWriter::Make(schema, {}, "null").ValueOrDie();  // no format-version, no content
  using List = avro::Value::List;
  ASSERT_TRUE(writer->Append(List{1, List{"/f", "parquet", List{}, 5, 50}}).ok());
  ASSERT_TRUE(writer->Append(List{0, List{"/g", "avro", List{}, 6, 60}}).ok());
  auto entries = ReadBytes(SmallTable(2), writer->Finish().ValueOrDie()).ValueOrDie();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].snapshot_id, 77);
  EXPECT_EQ(entries[0].sequence_number, 0);
  EXPECT_EQ(entries[1].file_sequence_number, 0);
  EXPECT_EQ(entries[0].file.file_format, "PARQUET");
  EXPECT_EQ(entries[1].file.content, FileContent::kData);
}

}  // namespace
}  // namespace calve::iceberg
