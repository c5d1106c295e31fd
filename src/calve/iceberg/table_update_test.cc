#include "calve/iceberg/commit.h"
#include "commit_testing.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <set>

namespace calve::iceberg {
namespace {

using testing::CommitTest;
using ::testing::HasSubstr;

TEST(Ids, UuidsAreRandomAndWellFormed) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string uuid = NewUuid();
    EXPECT_THAT(uuid, ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
    EXPECT_TRUE(seen.insert(uuid).second);
  }
}

using TableUpdate = CommitTest;

TEST_F(TableUpdate, SnapshotIdsArePositiveAndUnused) {
  MakeTable(2);
  std::set<int64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const int64_t id = NewSnapshotId(store_->current().metadata);
    EXPECT_GT(id, 0);
    EXPECT_TRUE(seen.insert(id).second);
  }
}

TEST_F(TableUpdate, Locations) {
  MakeTable(2);
  TableMetadata metadata = store_->current().metadata;
  metadata.location = "file:///w/t/";
  EXPECT_EQ(DataLocation(metadata), "file:///w/t/data");
  EXPECT_EQ(MetadataLocation(metadata), "file:///w/t/metadata");
  metadata.properties["write.data.path"] = "/elsewhere/d";
  metadata.properties["write.metadata.path"] = "meta";
  EXPECT_EQ(DataLocation(metadata), "/elsewhere/d");
  EXPECT_EQ(MetadataLocation(metadata), "file:///w/t/meta");
}

Snapshot SnapshotAt(int64_t id, int64_t sequence_number, int64_t timestamp_ms) {
  Snapshot snapshot;
  snapshot.snapshot_id = id;
  snapshot.sequence_number = sequence_number;
  snapshot.timestamp_ms = timestamp_ms;
  snapshot.summary = {{"operation", "append"}};
  return snapshot;
}

TEST_F(TableUpdate, MainMovesCurrentSnapshotAndLogs) {
  MakeTable(2);
  TableVersion base = store_->current();
  base.metadata.last_updated_ms = 1000;
  auto next = WithSnapshot(base, SnapshotAt(7, 1, 2000), "main", 0);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->current_snapshot_id, 7);
  EXPECT_EQ(next->refs.at("main").snapshot_id, 7);
  EXPECT_EQ(next->last_sequence_number, 1);
  EXPECT_EQ(next->last_updated_ms, 2000);
  ASSERT_EQ(next->snapshot_log.size(), 1u);
  EXPECT_EQ(next->snapshot_log[0].snapshot_id, 7);
  EXPECT_EQ(next->snapshot_log[0].timestamp_ms, 2000);
  ASSERT_EQ(next->metadata_log.size(), 1u);
  EXPECT_EQ(next->metadata_log[0].metadata_file, base.metadata_location);
  EXPECT_EQ(next->metadata_log[0].timestamp_ms, 1000);
}

TEST_F(TableUpdate, StatisticsAndUnknownMembersStay) {
  MakeTable(2);
  TableVersion base = store_->current();
  auto unknown = nlohmann::json::parse(R"({"statistics": [{"snapshot-id": 1}], "x-future": true})");
  base.metadata.unknown = std::make_shared<nlohmann::json>(unknown);
  auto next = WithSnapshot(base, SnapshotAt(7, 1, 2000), "main", 0);
  ASSERT_TRUE(next.ok()) << next.status();
  auto written = nlohmann::json::parse(ToJsonText(*next).ValueOrDie());
  EXPECT_EQ(written.at("statistics"), unknown.at("statistics"));
  EXPECT_EQ(written.at("x-future"), true);
}

TEST_F(TableUpdate, OtherBranchLeavesMain) {
  MakeTable(2);
  TableVersion base = store_->current();
  base.metadata = WithSnapshot(base, SnapshotAt(7, 1, 2000), "main", 0).ValueOrDie();
  base.metadata.refs["main"].min_snapshots_to_keep = 3;
  base.metadata.refs["audit"] = SnapshotRef{7, true, 5};
  auto next = WithSnapshot(base, SnapshotAt(8, 2, 3000), "audit", 0);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->current_snapshot_id, 7);
  EXPECT_EQ(next->refs.at("main").snapshot_id, 7);
  EXPECT_EQ(next->refs.at("main").min_snapshots_to_keep, 3);
  EXPECT_EQ(next->refs.at("audit").snapshot_id, 8);
  EXPECT_EQ(next->refs.at("audit").min_snapshots_to_keep, 5);
  EXPECT_EQ(next->snapshot_log.size(), 1u);
}

TEST_F(TableUpdate, OldTablesGetMainRefAndUuid) {
  MakeTable(1);
  TableVersion base = store_->current();
  base.metadata.snapshots.push_back(SnapshotAt(5, 0, 10));
  base.metadata.current_snapshot_id = 5;
  base.metadata.refs.clear();
  base.metadata.table_uuid.clear();
  auto next = WithSnapshot(base, SnapshotAt(6, 0, 20), "dev", 0);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->refs.at("main").snapshot_id, 5);
  EXPECT_EQ(next->refs.at("dev").snapshot_id, 6);
  EXPECT_EQ(next->table_uuid.size(), 36u);
  EXPECT_EQ(next->last_sequence_number, 0);
}

TEST_F(TableUpdate, TagsCannotMove) {
  MakeTable(2);
  TableVersion base = store_->current();
  base.metadata.refs["v1"] = SnapshotRef{7, false};
  Status status = WithSnapshot(base, SnapshotAt(8, 1, 20), "v1", 0).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("'v1' is a tag"));
}

TEST_F(TableUpdate, MetadataLogIsBounded) {
  MakeTable(2, {{"write.metadata.previous-versions-max", "3"}});
  TableVersion base = store_->current();
  for (int i = 1; i <= 6; ++i) {
    base.metadata = WithSnapshot(base, SnapshotAt(i, i, 100 * i), "main", 0).ValueOrDie();
    base.metadata_location = fmt::format("v{}", i + 1);
  }
  std::vector<std::string> files;
  for (const LogEntry& entry : base.metadata.metadata_log) files.push_back(entry.metadata_file);
  EXPECT_THAT(files, ::testing::ElementsAre("v4", "v5", "v6"));
}

TEST_F(TableUpdate, TimeNeverGoesBack) {
  MakeTable(2);
  TableVersion base = store_->current();
  const int64_t future = base.metadata.last_updated_ms + 3'600'000;
  base.metadata.last_updated_ms = future;
  EXPECT_EQ(NextTimestampMs(base.metadata), future);
  auto next = WithSnapshot(base, SnapshotAt(7, 1, future - 5), "main", 0);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->last_updated_ms, future);
}

TEST_F(TableUpdate, RowIdsAdvance) {
  MakeTable(3);
  TableVersion base = store_->current();
  base.metadata.next_row_id = 100;
  EXPECT_EQ(WithSnapshot(base, SnapshotAt(7, 1, 1), "main", 140).ValueOrDie().next_row_id, 140);
}

}  // namespace
}  // namespace calve::iceberg
