#include "calve/iceberg/commit.h"

#include "commit_testing.h"

#include <gmock/gmock.h>

namespace calve::iceberg {
namespace {

using testing::CommitTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CommitVersions : public CommitTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Formats, CommitVersions, ::testing::Values(1, 2, 3));

TEST_P(CommitVersions, AppendMakesSnapshots) {
  const int format = GetParam();
  MakeTable(format);
  auto first = Append({File("a", 10), File("b", 20)});
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = Append({File("c", 5)});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->attempts, 1);

  const TableMetadata& metadata = store_->current().metadata;
  ASSERT_EQ(metadata.snapshots.size(), 2u);
  EXPECT_EQ(metadata.current_snapshot_id, second->snapshot.snapshot_id);
  EXPECT_EQ(second->version.metadata_location, store_->current().metadata_location);
  EXPECT_EQ(metadata.last_sequence_number, format == 1 ? 0 : 2);
  const Snapshot& snapshot = *metadata.current_snapshot();
  EXPECT_EQ(snapshot.parent_snapshot_id, first->snapshot.snapshot_id);
  EXPECT_FALSE(first->snapshot.parent_snapshot_id.has_value());
  EXPECT_EQ(snapshot.sequence_number, format == 1 ? 0 : 2);
  EXPECT_EQ(snapshot.schema_id, 0);

  EXPECT_THAT(LiveFiles(), ElementsAre("a", "b", "c"));
  auto entries = EntriesByName();
  EXPECT_EQ(entries.at("a").status, EntryStatus::kAdded);
  EXPECT_EQ(entries.at("a").snapshot_id, first->snapshot.snapshot_id);
  EXPECT_EQ(entries.at("a").sequence_number, format == 1 ? 0 : 1);
  EXPECT_EQ(entries.at("c").sequence_number, format == 1 ? 0 : 2);
  EXPECT_EQ(entries.at("c").file_sequence_number, format == 1 ? 0 : 2);
  EXPECT_EQ(Manifests().size(), 2u);
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_P(CommitVersions, SummaryHasJavasNames) {
  MakeTable(GetParam());
  ASSERT_TRUE(Append({File("a", 10), File("b", 20)}).ok());
  SnapshotChange change{.operation = "append", .added = {File("c", 5)}};
  change.extra_summary = {{"job", "nightly"}, {"total-records", "1000000"}};
  auto result = CommitSnapshot(*store_, store_->current(), change);
  ASSERT_TRUE(result.ok()) << result.status();
  auto summary = result->snapshot.summary;
  EXPECT_EQ(summary.at("engine-name"), "calve");
  EXPECT_FALSE(summary.at("calve-version").empty());
  for (const char* name : {"engine-name", "engine-version", "calve-version"}) summary.erase(name);
  const std::map<std::string, std::string> expected = {
      {"operation", "append"},         {"added-data-files", "1"},        {"added-records", "5"},
      {"added-files-size", "50"},      {"changed-partition-count", "1"}, {"total-data-files", "3"},
      {"total-records", "35"},         {"total-files-size", "350"},      {"total-delete-files", "0"},
      {"total-position-deletes", "0"}, {"total-equality-deletes", "0"},  {"manifests-created", "1"},
      {"manifests-kept", "1"},         {"manifests-replaced", "0"},      {"job", "nightly"}};
  EXPECT_EQ(summary, expected);
}

TEST_F(CommitTest, TotalsThatTheParentDoesNotTellAreLeftOut) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 10)}).ok());
  TableMetadata metadata = store_->current().metadata;
  metadata.snapshots.back().summary.erase("total-records");
  metadata.snapshots.back().summary["total-data-files"] = "many";
  store_->Set(metadata);
  auto result = Append({File("b", 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->snapshot.summary.contains("total-records"));
  EXPECT_FALSE(result->snapshot.summary.contains("total-data-files"));
  EXPECT_EQ(result->snapshot.summary.at("total-files-size"), "110");
}

TEST_F(CommitTest, PartitionsAreCounted) {
  MakeTable(2, {}, true);
  auto result = Append({File("a", 1, "x"), File("b", 1, "y"), File("c", 1, "x")});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->snapshot.summary.at("changed-partition-count"), "2");
}

TEST_F(CommitTest, ManifestPerSpec) {
  MakeTable(2);
  TableMetadata metadata = store_->current().metadata;
  PartitionSpec spec;
  spec.spec_id = 1;
  spec.fields = {{2, 1000, "cat", ParseTransform("identity").ValueOrDie()}};
  metadata.partition_specs.push_back(spec);
  store_->Set(metadata);
  DataFile partitioned = File("b", 2, "x");
  partitioned.spec_id = 1;
  ASSERT_TRUE(Append({File("a", 1), partitioned}).ok());
  std::map<int, int64_t> added;
  for (const ManifestFile& manifest : Manifests()) added[manifest.partition_spec_id] = *manifest.added_files_count;
  EXPECT_EQ(added, (std::map<int, int64_t>{{0, 1}, {1, 1}}));
}

TEST_F(CommitTest, WrongChangesAreRefused) {
  MakeTable(2);
  EXPECT_THAT(Append({File("a", 1), File("a", 1)}).status().message(), HasSubstr("added twice"));
  DataFile unknown_spec = File("a", 1);
  unknown_spec.spec_id = 9;
  EXPECT_THAT(Append({unknown_spec}).status().message(), HasSubstr("partition spec 9"));
  DataFile deletes = File("a", 1);
  deletes.content = FileContent::kEqualityDeletes;
  EXPECT_THAT(Append({deletes}).status().message(), HasSubstr("delete file"));
  SnapshotChange overwrite{.operation = "overwrite"};
  EXPECT_TRUE(CommitSnapshot(*store_, store_->current(), overwrite).status().IsNotImplemented());
  TableMetadata encrypted = store_->current().metadata;
  encrypted.properties["encryption.key-id"] = "k";
  store_->Set(encrypted);
  EXPECT_TRUE(Append({File("a", 1)}).status().IsNotImplemented());
  EXPECT_EQ(store_->current().metadata.snapshots.size(), 0u);
  EXPECT_THAT(FilesThere(), ElementsAre());
}

TEST_F(CommitTest, SequenceNumberThatOverflowsIsRefused) {
  MakeTable(2);
  TableMetadata metadata = store_->current().metadata;
  metadata.last_sequence_number = std::numeric_limits<int64_t>::max();
  store_->Set(metadata);
  Status status = Append({File("a", 1)}).status();
  EXPECT_TRUE(status.IsInvalid()) << status;
  EXPECT_THAT(status.message(), HasSubstr("sequence number overflows"));
  EXPECT_THAT(FilesThere(), ElementsAre());
}

TEST_F(CommitTest, BranchesGrowApart) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  const int64_t main_id = *store_->current().metadata.current_snapshot_id;
  auto branched = Append({File("b", 1)}, "dev");
  ASSERT_TRUE(branched.ok()) << branched.status();
  EXPECT_EQ(branched->snapshot.parent_snapshot_id, main_id);
  EXPECT_EQ(store_->current().metadata.current_snapshot_id, main_id);
  EXPECT_THAT(LiveFiles(), ElementsAre("a"));
  auto again = Append({File("c", 1)}, "dev");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->snapshot.parent_snapshot_id, branched->snapshot.snapshot_id);
  EXPECT_EQ(again->snapshot.summary.at("total-data-files"), "3");

  TableMetadata metadata = store_->current().metadata;
  metadata.refs["v1"] = SnapshotRef{main_id, false};
  metadata.refs["lost"] = SnapshotRef{4711, true};
  store_->Set(metadata);
  EXPECT_THAT(Append({File("d", 1)}, "v1").status().message(), HasSubstr("'v1' is a tag"));
  EXPECT_THAT(Append({File("d", 1)}, "lost").status().message(), HasSubstr("4711"));
}

// ---- Merging ----

TEST_F(CommitTest, ManyCommitsKeepAShortList) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "4"}});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Append({File(fmt::format("f{}", i), 1)}).ok());
  EXPECT_LE(Manifests().size(), 4u);
  EXPECT_EQ(LiveFiles().size(), 10u);
  auto entries = EntriesByName();
  for (int i = 0; i < 10; ++i) {
    const ManifestEntry& entry = entries.at(fmt::format("f{}", i));
    EXPECT_EQ(entry.sequence_number, i + 1);
    EXPECT_EQ(entry.file_sequence_number, i + 1);
    EXPECT_EQ(entry.snapshot_id, store_->current().metadata.snapshots[static_cast<size_t>(i)].snapshot_id);
  }
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_F(CommitTest, MergedManifestTellsOldFromNew) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "3"}});
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  ASSERT_TRUE(Append({File("b", 1)}).ok());
  EXPECT_EQ(Manifests().size(), 2u);
  auto result = Append({File("c", 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  auto manifests = Manifests();
  ASSERT_EQ(manifests.size(), 1u);
  EXPECT_EQ(manifests[0].added_files_count, 1);
  EXPECT_EQ(manifests[0].existing_files_count, 2);
  EXPECT_EQ(manifests[0].min_sequence_number, 1);
  EXPECT_EQ(manifests[0].sequence_number, 3);
  auto entries = EntriesByName();
  EXPECT_EQ(entries.at("a").status, EntryStatus::kExisting);
  EXPECT_EQ(entries.at("c").status, EntryStatus::kAdded);
  EXPECT_EQ(entries.at("c").sequence_number, 3);
  EXPECT_EQ(result->snapshot.summary.at("manifests-replaced"), "2");
  EXPECT_EQ(result->snapshot.summary.at("manifests-created"), "1");
}

TEST_F(CommitTest, MergingCanBeSwitchedOffAndIsBoundedBySize) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest-merge.enabled", "false"}});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Append({File(fmt::format("f{}", i), 1)}).ok());
  EXPECT_EQ(Manifests().size(), 4u);
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}, {"commit.manifest.target-size-bytes", "100"}});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Append({File(fmt::format("f{}", i), 1)}).ok());
  EXPECT_EQ(Manifests().size(), 4u);
}

TEST_F(CommitTest, DeleteManifestsAreNotMerged) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}});
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  DataFile deletes = File("d", 1);
  deletes.content = FileContent::kEqualityDeletes;
  deletes.equality_ids = {1};
  Delete({deletes});
  ASSERT_TRUE(Append({File("b", 1)}).ok());
  auto manifests = Manifests();
  ASSERT_EQ(manifests.size(), 2u);
  EXPECT_EQ(std::count_if(manifests.begin(), manifests.end(), [](const auto& m) { return m.is_deletes; }), 1);
}

class DroppedPartitionColumn : public CommitTest {
 protected:
  /// Two commits to a table partitioned by cat, which is dropped then.
  void MakeTableWithoutColumn(bool with_old_schema) {
    MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}}, true);
    ASSERT_TRUE(Append({File("a", 1, "x")}).ok());
    TableMetadata metadata = store_->current().metadata;
    metadata.properties["commit.manifest-merge.enabled"] = "false";
    store_->Set(metadata);
    ASSERT_TRUE(Append({File("b", 1, "y"), File("c", 2, "y")}).ok());
    metadata = store_->current().metadata;
    metadata.properties.erase("commit.manifest-merge.enabled");
    Schema schema = metadata.schema();
    schema.schema_id = 1;
    schema.fields.pop_back();
    if (!with_old_schema) metadata.schemas.clear();
    metadata.schemas.push_back(schema);
    metadata.current_schema_id = 1;
    metadata.partition_specs.push_back(PartitionSpec{1, {}});
    metadata.default_spec_id = 1;
    store_->Set(metadata);
  }
  DataFile Unpartitioned(const std::string& name, int64_t rows) const {
    DataFile file = File(name, rows);
    file.spec_id = 1;
    return file;
  }
};

TEST_F(DroppedPartitionColumn, TypeIsFoundInOlderSchemas) {
  MakeTableWithoutColumn(true);
  auto appended = Append({Unpartitioned("d", 1)});
  ASSERT_TRUE(appended.ok()) << appended.status();
  EXPECT_EQ(Manifests().size(), 2u);
  SnapshotChange change = Replacing({File("b", 1)}, {Unpartitioned("b2", 1)});
  auto replaced = CommitSnapshot(*store_, store_->current(), change);
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_THAT(LiveFiles(), ElementsAre("a", "b2", "c", "d"));
  const auto entries = EntriesByName();
  EXPECT_TRUE(SameValue(entries.at("c").file.partition[0], Value(std::string("y"))));
}

TEST_F(DroppedPartitionColumn, ManifestsOfUnknownTypeAreNotMerged) {
  MakeTableWithoutColumn(false);
  auto appended = Append({Unpartitioned("d", 1)});
  ASSERT_TRUE(appended.ok()) << appended.status();
  EXPECT_EQ(Manifests().size(), 3u);
  EXPECT_EQ(appended->snapshot.summary.at("manifests-replaced"), "0");
  EXPECT_THAT(LiveFiles(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_F(CommitTest, DroppedMetadataFilesAreDeletedWhenAsked) {
  MakeTable(2, {{"write.metadata.previous-versions-max", "2"}, {"write.metadata.delete-after-commit.enabled", "true"}});
  for (int i = 0; i < 5; ++i) {
    testing::WriteText(store_->current().metadata_location, "{}");
    ASSERT_TRUE(Append({File(fmt::format("f{}", i), 1)}).ok());
  }
  std::vector<std::string> left;
  for (const std::string& name : FilesThere()) {
    if (name.ends_with(".metadata.json")) left.push_back(name);
  }
  EXPECT_THAT(left, ElementsAre("v4.metadata.json", "v5.metadata.json"));
}

// The log is only text: it may name anything.
TEST_F(CommitTest, DroppedMetadataFilesAreDeletedOnlyInTheMetadataFolder) {
  MakeTable(2, {{"write.metadata.previous-versions-max", "1"}, {"write.metadata.delete-after-commit.enabled", "true"}});
  TableMetadata metadata = store_->current().metadata;
  const std::vector<std::string> foreign = {folder_ / "t/data/v1.metadata.json",
                                            folder_ / "other/metadata/v1.metadata.json",
                                            folder_ / "t/metadata/notes.txt", folder_ / "t/metadata/snap-1.avro",
                                            folder_ / "t/metadata/deeper/v1.metadata.json"};
  const std::vector<std::string> own = {folder_ / "t/metadata/v0.metadata.json",
                                        folder_ / "t/metadata/00001-abc.gz.metadata.json"};
  for (const auto& names : {foreign, own}) {
    for (const std::string& file : names) {
      testing::WriteText(file, "{}");
      metadata.metadata_log.push_back({1, 0, file});
    }
  }
  const std::string around = folder_ / "other/metadata/v7.metadata.json";
  testing::WriteText(around, "{}");
  metadata.metadata_log.push_back({1, 0, folder_ / "t/metadata/../../other/metadata/v7.metadata.json"});
  metadata.metadata_log[foreign.size()].metadata_file = "file://" + own[0];
  store_->Set(metadata);
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  for (const std::string& file : foreign) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  for (const std::string& file : own) EXPECT_FALSE(std::filesystem::exists(file)) << file;
  EXPECT_TRUE(std::filesystem::exists(around));
}

}  // namespace
}  // namespace calve::iceberg
