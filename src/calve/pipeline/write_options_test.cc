#include "calve/pipeline/write_options.h"

#include "calve/pipeline/data_location.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::pipeline {
namespace {

using iceberg::TableMetadata;
using iceberg::TypeId;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TableMetadata With(std::map<std::string, std::string> properties) {
  TableMetadata metadata;
  metadata.location = "/w/t";
  metadata.properties = std::move(properties);
  return metadata;
}

TEST(WriteOptions, DefaultsAreThoseOfTables) {
  const auto options = WriteOptionsOf(With({})).ValueOrDie();
  EXPECT_EQ(options.compression, ParquetCompression::kZstd);
  EXPECT_EQ(options.row_group_bytes, int64_t{128} << 20);
  EXPECT_EQ(options.page_bytes, 1 << 20);
  EXPECT_EQ(options.page_rows, 20000);
  EXPECT_EQ(options.dictionary_bytes, 2 << 20);
  EXPECT_FALSE(options.data_page_v2);
  EXPECT_EQ(TargetFileSizeOf(With({})).ValueOrDie(), int64_t{512} << 20);
}

TEST(WriteOptions, HonoursEveryProperty) {
  const auto options = WriteOptionsOf(With({{"write.parquet.compression-codec", "GZIP"},
                                            {"write.parquet.compression-level", "7"},
                                            {"write.parquet.row-group-size-bytes", "1000"},
                                            {"write.parquet.page-size-bytes", "100"},
                                            {"write.parquet.page-row-limit", "10"},
                                            {"write.parquet.dict-size-bytes", "50"},
                                            {"write.parquet.page-version", "v2"}}))
                           .ValueOrDie();
  EXPECT_EQ(options.compression, ParquetCompression::kGzip);
  EXPECT_EQ(options.compression_level, 7);
  EXPECT_EQ(options.row_group_bytes, 1000);
  EXPECT_EQ(options.page_bytes, 100);
  EXPECT_EQ(options.page_rows, 10);
  EXPECT_EQ(options.dictionary_bytes, 50);
  EXPECT_TRUE(options.data_page_v2);
}

TEST(WriteOptions, EncodingsOfTheSecondVersionWithItsPagesOnly) {
  EXPECT_EQ(WriteOptionsOf(With({}))->encoding, ParquetEncoding::kPlain);
  EXPECT_EQ(WriteOptionsOf(With({{"write.parquet.page-version", "v2"}}))->encoding, ParquetEncoding::kAutomatic);
  EXPECT_FALSE(WriteOptionsOf(With({}))->store_arrow_schema);
  EXPECT_TRUE(WriteOptionsOf(With({}))->page_index);
}

iceberg::Field Column(int id, const std::string& name, iceberg::TypePtr type);

TEST(WriteOptions, BloomFiltersByColumn) {
  TableMetadata metadata = With({{"write.parquet.bloom-filter-enabled.column.a", "true"},
                                 {"write.parquet.bloom-filter-enabled.column.b", "false"},
                                 {"write.parquet.bloom-filter-enabled.column.t.element", "true"},
                                 {"write.parquet.bloom-filter-enabled.column.s.m.key", "true"},
                                 {"write.parquet.bloom-filter-enabled.column.s.flag", "true"},
                                 {"write.parquet.bloom-filter-enabled.column.gone", "true"},
                                 {"write.parquet.bloom-filter-fpp.column.a", "0.05"},
                                 {"write.parquet.bloom-filter-ndv.column.a", "1000"},
                                 {"write.parquet.bloom-filter-max-bytes", "4096"}});
  iceberg::Schema schema;
  const auto text = iceberg::Primitive(TypeId::kString);
  schema.fields = {
      Column(1, "a", text), Column(2, "b", text), Column(3, "t", iceberg::List(Column(4, "element", text))),
      Column(5, "s",
             iceberg::Struct({Column(6, "m", iceberg::Map(Column(7, "key", text), Column(8, "value", text))),
                              Column(9, "flag", iceberg::Primitive(TypeId::kBoolean))}))};
  metadata.schemas = {schema};
  metadata.current_schema_id = schema.schema_id;
  const auto options = WriteOptionsOf(metadata).ValueOrDie();
  std::vector<std::string> paths;
  for (const auto& [path, column] : options.columns) paths.push_back(path);
  EXPECT_THAT(paths, ::testing::ElementsAre("a", "s.m.key_value.key", "t.list.element"));
  const auto& filter = *options.columns.at("a").bloom_filter;
  EXPECT_EQ(filter.fpp, 0.05);
  EXPECT_EQ(filter.ndv, 1000);
  EXPECT_EQ(filter.max_bytes, 4096);
  EXPECT_EQ(options.columns.at("t.list.element").bloom_filter->fpp, 0.01);
  metadata.properties["write.parquet.bloom-filter-fpp.column.a"] = "2";
  EXPECT_THAT(WriteOptionsOf(metadata).status().message(), HasSubstr("write.parquet.bloom-filter-fpp.column.a"));
}

TEST(WriteOptions, RefusesByName) {
  auto status = WriteOptionsOf(With({{"write.parquet.compression-codec", "lzo"}})).status();
  EXPECT_TRUE(status.IsNotImplemented());
  EXPECT_THAT(status.message(), HasSubstr("'lzo'"));
  status = WriteOptionsOf(With({{"write.format.default", "orc"}})).status();
  EXPECT_TRUE(status.IsNotImplemented());
  EXPECT_THAT(status.message(), HasSubstr("orc"));
  status = WriteOptionsOf(With({{"write.parquet.page-size-bytes", "0"}})).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("write.parquet.page-size-bytes"));
  EXPECT_TRUE(WriteOptionsOf(With({{"write.parquet.page-version", "v3"}})).status().IsNotImplemented());
  EXPECT_TRUE(WriteOptionsOf(With({{"encryption.key-id", "k"}})).status().IsNotImplemented());
  EXPECT_TRUE(TargetFileSizeOf(With({{"write.target-file-size-bytes", "x"}})).status().IsInvalid());
}

iceberg::Field Column(int id, const std::string& name, iceberg::TypePtr type) {
  iceberg::Field field;
  field.id = id;
  field.name = name;
  field.type = std::move(type);
  return field;
}

TEST(FileColumns, LeavesUnknownOutAndRefusesWhatCannotBeWritten) {
  iceberg::Schema schema;
  schema.fields = {Column(1, "a", iceberg::Primitive(TypeId::kInt)),
                   Column(2, "u", iceberg::Primitive(TypeId::kUnknown)),
                   Column(3, "s",
                          iceberg::Struct({Column(4, "x", iceberg::Primitive(TypeId::kInt)),
                                           Column(5, "u", iceberg::Primitive(TypeId::kUnknown))}))};
  const auto columns = FileColumns(schema).ValueOrDie();
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[1].type->fields.size(), 1u);
  schema.fields = {Column(1, "g", iceberg::Primitive(TypeId::kGeometry))};
  auto status = FileColumns(schema).status();
  EXPECT_TRUE(status.IsNotImplemented());
  EXPECT_THAT(status.message(), HasSubstr("column 'g'"));
}

TEST(DataLocations, NamesFilesUnderTheirPartition) {
  const auto locations = DataLocations::Make(With({})).ValueOrDie();
  EXPECT_THAT(locations.New("cat=a/d=2024-01-31", 3, 12),
              MatchesRegex("/w/t/data/cat=a/d=2024-01-31/00003-12-[0-9a-f-]{36}\\.parquet"));
  EXPECT_THAT(locations.New("", 0, 0), MatchesRegex("/w/t/data/00000-0-[0-9a-f-]{36}\\.parquet"));
}

TEST(DataLocations, FollowsWriteDataPath) {
  const auto locations = DataLocations::Make(With({{"write.data.path", "/elsewhere/d/"}})).ValueOrDie();
  EXPECT_THAT(locations.New("p=1", 0, 0), StartsWith("/elsewhere/d/p=1/00000-0-"));
}

TEST(DataLocations, ObjectStorageLayoutSpreadsFiles) {
  auto locations = DataLocations::Make(With({{"write.object-storage.enabled", "true"}})).ValueOrDie();
  EXPECT_THAT(locations.New("p=1", 0, 0), MatchesRegex("/w/t/data/[01]{4}/[01]{4}/[01]{4}/[01]{8}/p=1/00000-0-.*"));
  locations = DataLocations::Make(
                  With({{"write.object-storage.enabled", "true"}, {"write.object-storage.partitioned-paths", "false"}}))
                  .ValueOrDie();
  EXPECT_THAT(locations.New("p=1", 0, 0), MatchesRegex("/w/t/data/[01]{4}/[01]{4}/[01]{4}/[01]{8}-00000-0-.*"));
}

}  // namespace
}  // namespace calve::pipeline
