#include "calve/iceberg/manifest.h"
#include "manifest_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ManifestListTest : public ::testing::Test {
 protected:
  std::string Location() { return folder_ / ("l" + std::to_string(files_++)); }

  Result<std::vector<ManifestFile>> ReadBytes(const std::string& bytes) {
    auto location = Location();
    testing::WriteText(location, bytes);
    return ReadManifestList(io_, location);
  }

  testing::TempFolder folder_;
  FileIO io_;
  int files_ = 0;
};

TableMetadata TableOf(int format_version) {
  TableMetadata metadata;
  metadata.format_version = format_version;
  metadata.schemas = {Schema{}};
  PartitionSpec spec;
  if (format_version < 3) spec.fields = {{1, 1000, "id_bucket", ParseTransform("bucket[4]").ValueOrDie()}};
  metadata.partition_specs = {spec};
  return metadata;
}

TEST_F(ManifestListTest, ReadsJavasV1) {
  auto manifests = ReadBytes(ManifestBytes("v1-list.avro")).ValueOrDie();
  ASSERT_EQ(manifests.size(), 2u);
  const auto& manifest = manifests[0];
  EXPECT_EQ(manifest.manifest_path,
            "/tmp/calve-warehouse/t/v1_snaps/metadata/197e018e-1611-4152-8a6d-48ef1eee9cee-m0.avro");
  EXPECT_EQ(manifest.manifest_length, 6267);
  EXPECT_EQ(manifest.sequence_number, 0);
  EXPECT_EQ(manifest.min_sequence_number, 0);
  EXPECT_FALSE(manifest.is_deletes);
  EXPECT_EQ(manifest.added_snapshot_id, 1824935317594198903);
  EXPECT_EQ(manifest.added_files_count, 3);
  EXPECT_EQ(manifest.added_rows_count, 40);
  ASSERT_EQ(manifest.partitions.size(), 1u);
  EXPECT_EQ(manifest.partitions[0].contains_nan, false);
  EXPECT_EQ(manifest.partitions[0].upper_bound, std::string("\2\0\0\0", 4));
}

class JavaList : public ManifestListTest, public ::testing::WithParamInterface<int> {
 protected:
  std::string Bytes() { return ManifestBytes(fmt::format("v{}-list.avro", GetParam())); }
};

TEST_P(JavaList, WrittenWithTheSameSchemaMetadataAndEntries) {
  auto bytes = Bytes();
  auto expected = avro::FileReader::Make(bytes).ValueOrDie();
  auto manifests = ReadBytes(bytes).ValueOrDie(), before = manifests;
  Snapshot snapshot;
  snapshot.snapshot_id = std::stoll(*expected->Metadata("snapshot-id"));
  auto parent = *expected->Metadata("parent-snapshot-id");
  if (parent != "null") snapshot.parent_snapshot_id = std::stoll(parent);
  snapshot.sequence_number = std::stoll(expected->Metadata("sequence-number").value_or("0"));
  snapshot.manifest_list = Location();
  int64_t next_row_id = std::stoll(expected->Metadata("first-row-id").value_or("0"));
  EXPECT_EQ(WriteManifestList(io_, TableOf(GetParam()), snapshot, next_row_id, &manifests).ValueOrDie(), next_row_id);
  EXPECT_EQ(Texts(ReadManifestList(io_, snapshot.manifest_list).ValueOrDie()), Texts(before));
  auto ours = io_.ReadAll(snapshot.manifest_list).ValueOrDie();
  auto got = avro::FileReader::Make(ours).ValueOrDie();
  EXPECT_EQ(got->metadata().size(), expected->metadata().size());
  for (const auto& [key, value] : expected->metadata()) {
    ASSERT_TRUE(got->metadata().contains(key)) << key;
    auto written = got->metadata().at(key);
    if (key == "avro.schema" || key == "iceberg.schema") {
      EXPECT_EQ(WithoutDocs(nlohmann::json::parse(written)), WithoutDocs(nlohmann::json::parse(value))) << key;
    } else {
      EXPECT_EQ(written, value) << key;
    }
  }
}

TEST_P(JavaList, TruncatedAtEveryByte) {
  auto bytes = Bytes();
  Snapshot snapshot;
  snapshot.manifest_list = Location();
  int64_t files = 0;
  for (const auto& manifest : ReadBytes(bytes).ValueOrDie()) {
    if (!manifest.is_deletes) files += *manifest.added_files_count + *manifest.existing_files_count;
  }
  snapshot.summary = {{"operation", "append"}, {"total-data-files", std::to_string(files)}};
  testing::WriteText(snapshot.manifest_list, bytes);
  ASSERT_TRUE(ManifestsOf(io_, {}, snapshot).ok());
  for (size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(snapshot.manifest_list, size);
    ASSERT_TRUE(ManifestsOf(io_, {}, snapshot).status().IsInvalid()) << size;
  }
}

TEST_P(JavaList, CorruptionNeverCrashes) {
  auto bytes = Bytes();
  for (size_t i = 0; i < bytes.size(); i += 3) {
    auto bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (i % 2 == 0 ? 0x01 : 0xff));
    auto status = ReadBytes(bad).status();
    ASSERT_TRUE(status.ok() || status.IsInvalid() || status.IsNotImplemented()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, JavaList, ::testing::Values(1, 2, 3));

ManifestFile Told(const std::string& path, int64_t added_rows, int64_t existing_rows) {
  ManifestFile manifest;
  manifest.manifest_path = path;
  manifest.added_files_count = manifest.existing_files_count = manifest.deleted_files_count = 1;
  manifest.added_rows_count = added_rows;
  manifest.existing_rows_count = existing_rows;
  manifest.deleted_rows_count = 0;
  return manifest;
}

// The example of "Row Lineage".
TEST_F(ManifestListTest, RowIdsAreAssignedToNewManifests) {
  auto existing = Told("existing", 75, 0), deletes = Told("deletes", 5, 0);
  existing.first_row_id = 925;
  deletes.is_deletes = true;
  std::vector<ManifestFile> manifests{existing, Told("added1", 100, 25), deletes, Told("added2", 0, 100),
                                      Told("added3", 125, 25)};
  Snapshot snapshot;
  snapshot.manifest_list = Location();
  EXPECT_EQ(WriteManifestList(io_, TableOf(3), snapshot, 1000, &manifests).ValueOrDie(), 1375);
  std::vector<std::string> ids;
  for (const auto& manifest : manifests) ids.push_back(Text(manifest.first_row_id));
  EXPECT_THAT(ids, ElementsAre("925", "1000", "-", "1125", "1225"));
  EXPECT_EQ(Texts(ReadManifestList(io_, snapshot.manifest_list).ValueOrDie()), Texts(manifests));
}

TEST_F(ManifestListTest, RowIdsThatOverflowAreRefused) {
  std::vector<ManifestFile> manifests{Told("a", INT64_MAX, 1)};
  Snapshot snapshot;
  snapshot.manifest_list = Location();
  EXPECT_THAT(WriteManifestList(io_, TableOf(3), snapshot, 0, &manifests).status().message(), HasSubstr("overflow"));
}

TEST_F(ManifestListTest, CountsThatAnOldListLacksAreCounted) {
  auto bytes = ManifestBytes("v1-manifest.avro");
  auto metadata = TableOfManifest(bytes);
  metadata.format_version = 2;  // upgraded
  auto location = Location();
  testing::WriteText(location, bytes);
  std::vector<ManifestFile> manifests{ListEntryOf(location, bytes.size())};
  manifests[0].sequence_number = 0;
  Snapshot snapshot;
  snapshot.manifest_list = Location();
  ASSERT_TRUE(WriteManifestList(io_, metadata, snapshot, 0, &manifests).ok());
  auto read = ReadManifestList(io_, snapshot.manifest_list).ValueOrDie();
  EXPECT_EQ(read[0].added_files_count, 3);
  EXPECT_EQ(read[0].added_rows_count, 40);
  EXPECT_EQ(read[0].deleted_files_count, 0);
}

TEST_F(ManifestListTest, InlineManifestsOfV1) {
  auto bytes = ManifestBytes("v1-manifest.avro");
  auto metadata = TableOfManifest(bytes);
  Snapshot snapshot;
  snapshot.snapshot_id = 5;
  snapshot.manifests = {Location(), Location()};
  for (const auto& location : snapshot.manifests) testing::WriteText(location, bytes);
  auto manifests = ManifestsOf(io_, metadata, snapshot).ValueOrDie();
  ASSERT_EQ(manifests.size(), 2u);
  EXPECT_EQ(manifests[1].manifest_length, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(manifests[1].added_snapshot_id, 5);
  EXPECT_TRUE(manifests[1].might_have_live_files());
  EXPECT_EQ(ReadManifest(io_, metadata, manifests[1]).ValueOrDie().size(), 3u);
  snapshot.manifests.push_back("/none");
  EXPECT_THAT(ManifestsOf(io_, metadata, snapshot).status().message(), HasSubstr("no such file: /none"));
}

TEST_F(ManifestListTest, DeleteManifestsNeedFormatV2) {
  auto deletes = Told("d", 1, 0);
  deletes.is_deletes = true;
  std::vector<ManifestFile> manifests{deletes};
  Snapshot snapshot;
  snapshot.manifest_list = Location();
  EXPECT_TRUE(WriteManifestList(io_, TableOf(1), snapshot, 0, &manifests).status().IsInvalid());
}

TEST(ManifestFile, MightHaveLiveFiles) {
  ManifestFile manifest;
  EXPECT_TRUE(manifest.might_have_live_files());
  manifest.added_files_count = 0;
  EXPECT_TRUE(manifest.might_have_live_files());
  manifest.existing_files_count = 0;
  EXPECT_FALSE(manifest.might_have_live_files());
  manifest.existing_files_count = 1;
  EXPECT_TRUE(manifest.might_have_live_files());
}

}  // namespace
}  // namespace calve::iceberg
