#include "calve/iceberg/commit.h"
#include "commit_testing.h"

#include <gmock/gmock.h>

namespace calve::iceberg {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Fate = testing::MemoryTable::Fate;

constexpr int kDeleteFilePathFieldId = 2147483546;

class Replace : public testing::CommitTest {
 protected:
  Result<CommitResult> Commit(const SnapshotChange& change) {
    return CommitSnapshot(*store_, planned_.value_or(store_->current()), change);
  }
  /// Commits from now on are planned on the version that is current now.
  void PlanNow() { planned_ = store_->current(); }

  DataFile PositionDeletes(std::optional<std::string> cat = {}) const {
    DataFile file = File("pos", 1, cat);
    file.content = FileContent::kPositionDeletes;
    return file;
  }
  DataFile EqualityDeletes(std::optional<std::string> cat = {}) const {
    DataFile file = File("eq", 1, cat);
    file.content = FileContent::kEqualityDeletes;
    file.equality_ids = {1};
    return file;
  }

  std::optional<TableVersion> planned_;
};

TEST_F(Replace, RemovedBecomeDeletedAndOthersExisting) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 10), File("b", 20)}).ok());
  ASSERT_TRUE(Append({File("c", 5)}).ok());
  ASSERT_TRUE(Append({File("d", 7)}).ok());
  const auto before = Manifests();
  auto result = Commit(Replacing({File("a", 10), File("c", 5)}, {File("ac", 15)}));
  ASSERT_TRUE(result.ok()) << result.status();

  EXPECT_THAT(LiveFiles(), ElementsAre("ac", "b", "d"));
  auto entries = EntriesByName();
  const int64_t id = result->snapshot.snapshot_id;
  EXPECT_EQ(entries.at("a").status, EntryStatus::kDeleted);
  EXPECT_EQ(entries.at("a").snapshot_id, id);
  EXPECT_EQ(entries.at("a").sequence_number, 1);
  EXPECT_EQ(entries.at("a").file_sequence_number, 1);
  EXPECT_EQ(entries.at("c").status, EntryStatus::kDeleted);
  EXPECT_EQ(entries.at("c").sequence_number, 2);
  EXPECT_EQ(entries.at("b").status, EntryStatus::kExisting);
  EXPECT_EQ(entries.at("b").sequence_number, 1);
  EXPECT_NE(entries.at("b").snapshot_id, id);
  EXPECT_EQ(entries.at("ac").status, EntryStatus::kAdded);
  EXPECT_EQ(entries.at("ac").sequence_number, 4);

  // d's manifest is kept by reference.
  const auto after = Manifests();
  EXPECT_EQ(after.back().manifest_path, before[0].manifest_path);

  const auto& summary = result->snapshot.summary;
  EXPECT_EQ(summary.at("operation"), "replace");
  EXPECT_EQ(summary.at("added-data-files"), "1");
  EXPECT_EQ(summary.at("deleted-data-files"), "2");
  EXPECT_EQ(summary.at("added-records"), "15");
  EXPECT_EQ(summary.at("deleted-records"), "15");
  EXPECT_EQ(summary.at("removed-files-size"), "150");
  EXPECT_EQ(summary.at("total-data-files"), "3");
  EXPECT_EQ(summary.at("total-records"), "42");
  EXPECT_EQ(summary.at("manifests-replaced"), "2");

  // What this snapshot deleted is dropped by the next ones.
  ASSERT_TRUE(Append({File("e", 1)}).ok());
  ASSERT_TRUE(Commit(Replacing({File("b", 20)}, {File("b2", 20)})).ok());
  auto later = EntriesByName();
  EXPECT_FALSE(later.contains("a"));
  EXPECT_FALSE(later.contains("c"));
}

TEST_F(Replace, V1Tables) {
  MakeTable(1);
  ASSERT_TRUE(Append({File("a", 10), File("b", 20)}).ok());
  auto change = Replacing({File("a", 10)}, {File("a2", 10)});
  change.data_sequence_number = 0;
  auto result = Commit(change);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(LiveFiles(), ElementsAre("a2", "b"));
  EXPECT_EQ(result->snapshot.sequence_number, 0);
}

// Never delete files in the commit that replaces them: older snapshots still read.
TEST_F(Replace, DeletesNoFileThatOlderSnapshotsName) {
  MakeTable(2);
  for (const char* name : {"a", "b"}) testing::WriteText(File(name, 1).file_path, "rows");
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  ASSERT_TRUE(Append({File("b", 1)}).ok());
  ASSERT_TRUE(Commit(Replacing({File("a", 1), File("b", 1)}, {File("ab", 2)})).ok());
  EXPECT_THAT(testing::FileNames(folder_ / "t/data"), ElementsAre("a", "b"));
  EXPECT_EQ(FilesThere(), ReferencedFiles());
  const TableMetadata& metadata = store_->current().metadata;
  for (const Snapshot& snapshot : metadata.snapshots) {
    auto manifests = ManifestsOf(store_->io(), metadata, snapshot);
    ASSERT_TRUE(manifests.ok()) << manifests.status();
    for (const auto& manifest : *manifests) Entries(manifest);
  }
}

// Rewritten manifests are written together, so that compacting a table of many commits does not write as many
// manifests.
TEST_F(Replace, RewrittenManifestsAreWrittenTogether) {
  MakeTable(2);
  std::vector<DataFile> files;
  for (int i = 0; i < 12; ++i) {
    files.push_back(File(fmt::format("f{:02}", i), 1));
    ASSERT_TRUE(Append({files.back()}).ok());
  }
  ASSERT_TRUE(Commit(Replacing(files, {File("all", 12)})).ok());
  EXPECT_EQ(Manifests().size(), 2u);
  EXPECT_THAT(LiveFiles(), ElementsAre("all"));
}

TEST_F(Replace, AddedFilesTakeOverADataSequenceNumber) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  ASSERT_TRUE(Append({File("b", 1)}).ok());
  auto change = Replacing({File("a", 1)}, {File("a2", 1)});
  change.data_sequence_number = 2;
  ASSERT_TRUE(Append({File("c", 1)}).ok());
  auto result = Commit(change);
  ASSERT_TRUE(result.ok()) << result.status();
  auto entry = EntriesByName().at("a2");
  EXPECT_EQ(entry.status, EntryStatus::kAdded);
  EXPECT_EQ(entry.sequence_number, 2);
  EXPECT_EQ(entry.file_sequence_number, 4);
  EXPECT_EQ(Manifests().front().min_sequence_number, 2);
}

TEST_F(Replace, DataSequenceNumberSurvivesMergingAndRetries) {
  MakeTable(2, {{"commit.manifest.min-count-to-merge", "2"}});
  ASSERT_TRUE(Append({File("a", 1), File("b", 1)}).ok());
  PlanNow();
  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    store_->meanwhile = [] {};
    ASSERT_TRUE(Append({File("other", 1)}).ok());
  };
  auto change = Replacing({File("a", 1)}, {File("a2", 1)});
  change.data_sequence_number = 1;
  auto result = Commit(change);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->attempts, 2);
  ASSERT_EQ(Manifests().size(), 1u);
  EXPECT_EQ(Manifests()[0].min_sequence_number, 1);
  auto entries = EntriesByName();
  EXPECT_EQ(entries.at("a2").sequence_number, 1);
  EXPECT_EQ(entries.at("a2").file_sequence_number, 3);
  EXPECT_EQ(entries.at("other").sequence_number, 2);
  EXPECT_EQ(entries.at("b").sequence_number, 1);
  EXPECT_EQ(entries.at("a").status, EntryStatus::kDeleted);
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

// Locations are compared as the table spells them: file:/x, file:///x and /x are three names.
TEST_F(Replace, PathsMatchAsTheyAreWritten) {
  MakeTable(2);
  DataFile file = File("a", 2);
  file.file_path = "file://" + file.file_path;
  ASSERT_TRUE(Append({file}).ok());
  PlanNow();
  DataFile deletes = PositionDeletes();
  deletes.referenced_data_file = File("a", 2).file_path;  // not this file
  Delete({deletes});
  EXPECT_THAT(Commit(Replacing({File("a", 2)}, {File("a2", 2)})).status().message(),
              HasSubstr("no longer in the table"));
  EXPECT_TRUE(Commit(Replacing({file}, {File("a2", 2)})).ok());
}

TEST_F(Replace, WrongChangesAreRefused) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 10)}).ok());
  EXPECT_THAT(Commit(Replacing({}, {File("b", 1)})).status().message(), HasSubstr("must remove"));
  EXPECT_THAT(Commit(Replacing({File("a", 10)}, {File("b", 11)})).status().message(),
              HasSubstr("11 rows added in the place of 10"));
  EXPECT_THAT(Commit(Replacing({File("a", 10)}, {File("b", 9)})).status().message(),
              HasSubstr("9 rows added in the place of 10"));
  EXPECT_THAT(Commit(Replacing({File("a", 10), File("a", 10)}, {File("b", 20)})).status().message(),
              AllOf(HasSubstr("data/a "), HasSubstr("twice")));
  EXPECT_THAT(Commit(Replacing({File("a", 10)}, {File("a", 10)})).status().message(),
              HasSubstr("both added and removed"));
  SnapshotChange append{.operation = "append", .removed = {"x"}};
  EXPECT_THAT(Commit(append).status().message(), HasSubstr("cannot remove"));
  EXPECT_EQ(store_->current().metadata.snapshots.size(), 1u);
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

// Taking away both of two entries and writing the rows of one would lose rows.
TEST_F(Replace, FileThatIsLiveTwiceIsRefused) {
  for (bool in_one_manifest : {false, true}) {
    std::filesystem::remove_all(folder_ / "t");
    MakeTable(2, in_one_manifest ? std::map<std::string, std::string>{{"commit.manifest.min-count-to-merge", "2"}}
                                 : std::map<std::string, std::string>{});
    ASSERT_TRUE(Append({File("a", 10), File("b", 5)}).ok());
    ASSERT_TRUE(Append({File("a", 10)}).ok());
    ASSERT_EQ(Manifests().size(), in_one_manifest ? 1u : 2u);
    const size_t snapshots = store_->current().metadata.snapshots.size();
    for (int64_t rows : {15, 25}) {
      Status status = Commit(Replacing({File("a", 10), File("b", 5)}, {File("ab", rows)})).status();
      EXPECT_TRUE(status.IsInvalid()) << status;
      EXPECT_THAT(status.message(), AllOf(HasSubstr("data file "), HasSubstr("data/a is live twice")));
    }
    EXPECT_TRUE(Commit(Replacing({File("b", 5)}, {File("b2", 5)})).ok());
    EXPECT_EQ(store_->current().metadata.snapshots.size(), snapshots + 1);
    EXPECT_EQ(FilesThere(), ReferencedFiles());
  }
}

// ---- Conflicts ----

TEST_F(Replace, FileThatIsGoneIsAConflict) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1), File("b", 1)}).ok());
  PlanNow();
  ASSERT_TRUE(CommitSnapshot(*store_, store_->current(), Replacing({File("a", 1)}, {File("a2", 1)})).ok());
  Status status = Commit(Replacing({File("a", 1), File("b", 1)}, {File("ab", 2)})).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_EQ(CommitFailureOf(status), CommitFailure::kNone) << "must not be tried again";
  EXPECT_THAT(status.message(), HasSubstr("data/a is no longer in the table"));
  EXPECT_THAT(LiveFiles(), ElementsAre("a2", "b"));
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_F(Replace, FileThatGoesDuringTheCommitIsAConflict) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  PlanNow();
  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    store_->meanwhile = [] {};
    ASSERT_TRUE(CommitSnapshot(*store_, store_->current(), Replacing({File("a", 1)}, {File("a2", 1)})).ok());
  };
  EXPECT_THAT(Commit(Replacing({File("a", 1)}, {File("a3", 1)})).status().message(), HasSubstr("no longer"));
  EXPECT_THAT(LiveFiles(), ElementsAre("a2"));
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_F(Replace, AppendMeanwhileIsNone) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  PlanNow();
  ASSERT_TRUE(Append({File("b", 1)}).ok());
  auto result = Commit(Replacing({File("a", 1)}, {File("a2", 1)}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->attempts, 2) << "planned on a version that is not current any more";
  EXPECT_THAT(LiveFiles(), ElementsAre("a2", "b"));
}

TEST_F(Replace, NewPositionDeleteIsAConflict) {
  for (int format : {2, 3}) {
    for (bool keeps_sequence_number : {false, true}) {
      MakeTable(format);
      ASSERT_TRUE(Append({File("a", 2)}).ok());
      planned_ = store_->current();
      Delete({PositionDeletes()});
      auto change = Replacing({File("a", 2)}, {File("a2", 2)});
      if (keeps_sequence_number) change.data_sequence_number = 1;
      Status status = Commit(change).status();
      EXPECT_TRUE(status.IsInvalid()) << status;
      EXPECT_THAT(status.message(), HasSubstr("deleted rows of"));
      EXPECT_THAT(status.message(), HasSubstr("data/a "));
    }
  }
}

TEST_F(Replace, DeleteKnownWhenPlannedIsNone) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 2)}).ok());
  Delete({PositionDeletes(), EqualityDeletes()});
  PlanNow();
  auto result = Commit(Replacing({File("a", 2)}, {File("a2", 2)}));
  EXPECT_TRUE(result.ok()) << result.status();
}

TEST_F(Replace, StartingSnapshotIsWhatCounts) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 2)}).ok());
  const int64_t start = *store_->current().metadata.current_snapshot_id;
  Delete({PositionDeletes()});
  // Planned on an older snapshot than the version that the commit starts from.
  auto change = Replacing({File("a", 2)}, {File("a2", 2)});
  change.starting_snapshot_id = start;
  EXPECT_THAT(Commit(change).status().message(), HasSubstr("deleted rows of"));
}

TEST_F(Replace, DeleteOfAnotherFileIsNone) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 2), File("b", 2)}).ok());
  PlanNow();
  DataFile by_reference = PositionDeletes();
  by_reference.referenced_data_file = File("b", 2).file_path;
  DataFile by_bounds = PositionDeletes();
  by_bounds.file_path += "2";
  by_bounds.lower_bounds[kDeleteFilePathFieldId] = File("b", 2).file_path;
  by_bounds.upper_bounds[kDeleteFilePathFieldId] = File("b", 2).file_path;
  Delete({by_reference, by_bounds});
  auto result = Commit(Replacing({File("a", 2)}, {File("a2", 2)}));
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Commit(Replacing({File("b", 2)}, {File("b2", 2)})).status().message(), HasSubstr("deleted rows of"));
}

TEST_F(Replace, DeletionVectorOfTheFileIsAConflict) {
  MakeTable(3);
  ASSERT_TRUE(Append({File("a", 2), File("b", 2)}).ok());
  PlanNow();
  DataFile vector = PositionDeletes();
  vector.file_format = "PUFFIN";
  vector.referenced_data_file = File("a", 2).file_path;
  vector.content_offset = 4;
  vector.content_size_in_bytes = 40;
  Delete({vector});
  auto change = Replacing({File("a", 2)}, {File("a2", 2)});
  change.data_sequence_number = 1;
  EXPECT_THAT(Commit(change).status().message(), HasSubstr("deleted rows of"));
  EXPECT_TRUE(Commit(Replacing({File("b", 2)}, {File("b2", 2)})).ok());
}

TEST_F(Replace, DeleteInAnotherPartitionIsNone) {
  MakeTable(2, {}, true);
  ASSERT_TRUE(Append({File("a", 2, "x"), File("b", 2, "y")}).ok());
  PlanNow();
  Delete({PositionDeletes("y"), EqualityDeletes("y")});
  EXPECT_TRUE(Commit(Replacing({File("a", 2, "x")}, {File("a2", 2, "x")})).ok());
  EXPECT_FALSE(Commit(Replacing({File("b", 2, "y")}, {File("b2", 2, "y")})).ok());
}

// Compaction while an equality delete commits: the rewritten file keeps the starting sequence number, so the delete
// still applies to it.
TEST_F(Replace, EqualityDeleteStillAppliesWhenTheSequenceNumberIsKept) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 2)}).ok());
  PlanNow();
  Delete({EqualityDeletes()});
  auto fresh = Replacing({File("a", 2)}, {File("a2", 2)});
  EXPECT_THAT(Commit(fresh).status().message(), HasSubstr("deleted rows of"));
  auto kept = fresh;
  kept.data_sequence_number = planned_->metadata.last_sequence_number;
  auto result = Commit(kept);
  ASSERT_TRUE(result.ok()) << result.status();
  auto entries = EntriesByName();
  EXPECT_LT(entries.at("a2").sequence_number, entries.at("eq").sequence_number);
}

TEST_F(Replace, EqualityDeleteOfAnOldSpecDoesNotApplyToANewOne) {
  MakeTable(2, {}, true);
  ASSERT_TRUE(Append({File("a", 2, "x")}).ok());
  TableMetadata metadata = store_->current().metadata;
  PartitionSpec spec;
  spec.spec_id = 1;
  spec.fields = {{1, 1001, "id_bucket", ParseTransform("bucket[4]").ValueOrDie()}};
  metadata.partition_specs.push_back(spec);
  metadata.default_spec_id = 1;
  store_->Set(metadata);
  PlanNow();
  Delete({EqualityDeletes("x")});
  DataFile moved = File("a2", 2);
  moved.spec_id = 1;
  moved.partition = {Value(int32_t{3})};
  auto change = Replacing({File("a", 2, "x")}, {moved});
  change.data_sequence_number = 1;
  EXPECT_THAT(Commit(change).status().message(), HasSubstr("deleted rows of"));
}

TEST_F(Replace, DeletesRewrittenByAReplaceAreNotNew) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 2)}).ok());
  PlanNow();
  Delete({PositionDeletes()}, "replace");
  auto result = Commit(Replacing({File("a", 2)}, {File("a2", 2)}));
  EXPECT_TRUE(result.ok()) << result.status();
}

TEST_F(Replace, LostHistoryIsAConflict) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 2)}).ok());
  PlanNow();
  ASSERT_TRUE(Append({File("b", 2)}).ok());
  ASSERT_TRUE(Append({File("c", 2)}).ok());
  TableMetadata metadata = store_->current().metadata;
  metadata.snapshots.erase(metadata.snapshots.begin() + 1);  // expired
  store_->Set(metadata);
  Status status = Commit(Replacing({File("a", 2)}, {File("a2", 2)})).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("history"));
}

// ---- Row lineage ----

TEST_F(Replace, RowLineage) {
  MakeTable(3);
  ASSERT_TRUE(Append({File("a", 10), File("b", 20)}).ok());
  auto result = Commit(Replacing({File("a", 10)}, {File("a2", 10)}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->snapshot.first_row_id, 30);
  auto entries = EntriesByName();
  // What stays or goes keeps its ids; the new file's are its own (its rows carry theirs in the data).
  EXPECT_EQ(entries.at("a").file.first_row_id, 0);
  EXPECT_EQ(entries.at("b").file.first_row_id, 10);
  ASSERT_TRUE(entries.at("a2").file.first_row_id.has_value());
  EXPECT_GE(*entries.at("a2").file.first_row_id, 30);
  const int64_t next = store_->current().metadata.next_row_id;
  EXPECT_LE(*entries.at("a2").file.first_row_id + 10, next);
  EXPECT_EQ(*result->snapshot.first_row_id + *result->snapshot.added_rows, next);
  for (const auto& manifest : Manifests()) EXPECT_TRUE(manifest.first_row_id.has_value());
}

}  // namespace
}  // namespace calve::iceberg
