#include "calve/iceberg/metadata_file.h"

#include "calve/io/file_io.h"
#include "temp_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::iceberg {
namespace {

using ::testing::HasSubstr;

TEST(MetadataFileName, OfFolders) {
  for (const char* name : {"v12.metadata.json", "v12.gz.metadata.json", "v12.metadata.json.gz"}) {
    auto parsed = ParseMetadataFileName(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->version, 12) << name;
    EXPECT_FALSE(parsed->of_catalog) << name;
  }
}

TEST(MetadataFileName, OfCatalogs) {
  for (const char* name : {"00012-d099e962-c779-4b0d-84d3-bfca774862f4.metadata.json",
                           "00012-d099e962-c779-4b0d-84d3-bfca774862f4.gz.metadata.json", "12-x.metadata.json.gz"}) {
    auto parsed = ParseMetadataFileName(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->version, 12) << name;
    EXPECT_TRUE(parsed->of_catalog) << name;
  }
}

TEST(MetadataFileName, Others) {
  for (const char* name :
       {"", "v.metadata.json", "v1.json", "metadata.json", ".metadata.json", "v3.1.metadata.json", "v-1.metadata.json",
        "00001.metadata.json", "00001-.metadata.json", "x-1.metadata.json", "v99999999999999999999.metadata.json",
        "version-hint.text", "snap-1.avro", "stats.metadata.json", "-1-x.metadata.json"}) {
    EXPECT_FALSE(ParseMetadataFileName(name)) << name;
  }
}

TEST(MetadataFileName, Next) {
  const std::string next = NextCatalogFileName("file:///w/metadata/00007-abc.metadata.json", MetadataCodec{false});
  EXPECT_THAT(next, ::testing::MatchesRegex("00008-[0-9a-f-]{36}\\.metadata\\.json"));
  EXPECT_THAT(NextCatalogFileName("/w/v3.metadata.json", MetadataCodec{true}),
              ::testing::MatchesRegex("00004-[0-9a-f-]{36}\\.gz\\.metadata\\.json"));
  EXPECT_THAT(NextCatalogFileName("", MetadataCodec{}), ::testing::StartsWith("00000-"));
}

TEST(JoinLocation, OneSlash) {
  EXPECT_EQ(JoinLocation("/a/", "/b"), "/a/b");
  EXPECT_EQ(JoinLocation("file:///a", "b"), "file:///a/b");
  EXPECT_EQ(JoinLocation("/", "b"), "/b");
}

TableMetadata SomeTable(std::map<std::string, std::string> properties = {}) {
  Schema schema;
  schema.fields = {{1, "id", false, Primitive(TypeId::kLong)}};
  return NewTableMetadata("/t", schema, PartitionSpec{}, 2, std::move(properties)).ValueOrDie();
}

TEST(MetadataCodec, FromProperty) {
  EXPECT_EQ(MetadataCodec::Of(SomeTable()).ValueOrDie().ending(), ".metadata.json");
  auto gzip = MetadataCodec::Of(SomeTable({{"write.metadata.compression-codec", "GZIP"}})).ValueOrDie();
  EXPECT_EQ(gzip.ending(), ".gz.metadata.json");
  Status other = MetadataCodec::Of(SomeTable({{"write.metadata.compression-codec", "zstd"}})).status();
  EXPECT_TRUE(other.IsNotImplemented());
  EXPECT_THAT(other.message(), HasSubstr("'zstd'"));
}

TEST(MetadataFile, RoundTripGzipped) {
  testing::TempFolder folder;
  FileIO io;
  const TableMetadata table = SomeTable({{"k", "v"}});
  const std::string bytes = MetadataCodec{true}.Encode(table).ValueOrDie();
  EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
  testing::WriteText(folder / "v1.gz.metadata.json", bytes);
  auto read = ReadMetadataFile(io, folder / "v1.gz.metadata.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->table_uuid, table.table_uuid);
  EXPECT_EQ(read->properties.at("k"), "v");
}

// A metadata file cut anywhere is an error that names the file.
TEST(MetadataFile, TruncatedAtEveryByte) {
  testing::TempFolder folder;
  FileIO io;
  for (bool gzip : {false, true}) {
    std::string bytes = MetadataCodec{gzip}.Encode(SomeTable()).ValueOrDie();
    while (bytes.ends_with('\n')) bytes.pop_back();
    const std::string path = folder / "v1.metadata.json";
    for (size_t size = 0; size < bytes.size(); ++size) {
      testing::WriteText(path, bytes.substr(0, size));
      Status status = ReadMetadataFile(io, path).status();
      ASSERT_FALSE(status.ok()) << size << " of " << bytes.size();
      ASSERT_THAT(status.message(), HasSubstr(path));
    }
  }
}

}  // namespace
}  // namespace calve::iceberg
