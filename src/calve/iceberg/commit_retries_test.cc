#include "calve/iceberg/commit.h"

#include "commit_testing.h"

#include <gmock/gmock.h>

namespace calve::iceberg {
namespace {

using testing::CommitTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Fate = testing::MemoryTable::Fate;

TEST_F(CommitTest, LostRaceIsTriedAgainOnTheNewState) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1)}).ok());
  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    store_->meanwhile = [] {};
    auto other = Append({File("other", 1)});
    ASSERT_TRUE(other.ok()) << other.status();
  };
  auto result = Append({File("mine", 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->attempts, 2);
  EXPECT_EQ(result->snapshot.sequence_number, 3);
  EXPECT_THAT(LiveFiles(), ElementsAre("a", "mine", "other"));
  auto entries = EntriesByName();
  EXPECT_EQ(entries.at("mine").sequence_number, 3);
  EXPECT_EQ(entries.at("other").sequence_number, 2);
  EXPECT_EQ(FilesThere(), ReferencedFiles()) << "manifests of the lost attempt are left";
}

TEST_F(CommitTest, RetriesAreBounded) {
  MakeTable(2, {{"commit.retry.num-retries", "2"}});
  store_->fates = {Fate::kConflict, Fate::kConflict, Fate::kConflict, Fate::kConflict};
  Status status = Append({File("a", 1)}).status();
  EXPECT_EQ(CommitFailureOf(status), CommitFailure::kConflict);
  EXPECT_THAT(status.message(), HasSubstr("3 attempts"));
  EXPECT_EQ(store_->fates.size(), 1u);
  EXPECT_THAT(FilesThere(), ElementsAre());
}

TEST_F(CommitTest, RetriesAreBoundedInTime) {
  MakeTable(2, {{"commit.retry.num-retries", "1000"},
                {"commit.retry.min-wait-ms", "40"},
                {"commit.retry.total-timeout-ms", "100"}});
  for (int i = 0; i < 100; ++i) store_->fates.push_back(Fate::kConflict);
  EXPECT_EQ(CommitFailureOf(Append({File("a", 1)}).status()), CommitFailure::kConflict);
  EXPECT_GT(store_->fates.size(), 90u);
}

TEST_F(CommitTest, PlainFailureIsNotTriedAgain) {
  MakeTable(2);
  store_->fates = {Fate::kFail, Fate::kSucceed};
  Status status = Append({File("a", 1)}).status();
  EXPECT_THAT(status.message(), HasSubstr("disk full"));
  EXPECT_EQ(store_->fates.size(), 1u);
  EXPECT_THAT(FilesThere(), ElementsAre());
}

TEST_F(CommitTest, WrongPropertyIsNamed) {
  MakeTable(2, {{"commit.retry.num-retries", "often"}});
  EXPECT_THAT(Append({File("a", 1)}).status().message(), HasSubstr("commit.retry.num-retries"));
}

TEST_F(CommitTest, TableReplacedMeanwhileIsNotWrittenTo) {
  MakeTable(2);
  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    TableMetadata other = store_->current().metadata;
    other.table_uuid = NewUuid();
    store_->Set(other);
  };
  Status status = Append({File("a", 1)}).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("replaced by another"));
}

TEST_F(CommitTest, AddedFilesThatMustBeNewAreLookedForInEveryAttempt) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 1), File("b", 1)}).ok());
  auto add = [&](const DataFile& file, bool must_be_new = true) {
    SnapshotChange change{.operation = "append", .added = {file}};
    change.added_must_be_new = must_be_new;
    return CommitSnapshot(*store_, store_->current(), change);
  };
  DataFile spelled = File("b", 1);
  spelled.file_path = "file://" + spelled.file_path;
  EXPECT_THAT(add(spelled).status().message(), HasSubstr("data/b is in the table already"));
  ASSERT_TRUE(add(File("c", 1)).ok());

  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    store_->meanwhile = [] {};
    ASSERT_TRUE(Append({File("raced", 1)}).ok());
  };
  Status status = add(File("raced", 1)).status();
  EXPECT_TRUE(status.IsInvalid()) << status;
  EXPECT_THAT(status.message(), HasSubstr("data/raced is in the table already"));
  EXPECT_THAT(LiveFiles(), ElementsAre("a", "b", "c", "raced"));
  EXPECT_EQ(FilesThere(), ReferencedFiles());

  // What is no longer live may come again, and a lost race to another file is none.
  ASSERT_TRUE(CommitSnapshot(*store_, store_->current(), Replacing({File("a", 1)}, {File("a2", 1)})).ok());
  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    store_->meanwhile = [] {};
    ASSERT_TRUE(Append({File("other", 1)}).ok());
  };
  auto again = add(File("a", 1));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->attempts, 2);
  EXPECT_TRUE(add(File("b", 1), false).ok());
}

// ---- A commit whose outcome is unknown: look for your own snapshot before retrying ----

TEST_F(CommitTest, UnknownOutcomeThatWasDoneIsFound) {
  MakeTable(2);
  store_->fates = {Fate::kUnknownDone};
  auto result = Append({File("a", 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->attempts, 1);
  EXPECT_EQ(store_->current().metadata.snapshots.size(), 1u);
  EXPECT_THAT(LiveFiles(), ElementsAre("a"));
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_F(CommitTest, UnknownOutcomeIsFoundUnderLaterCommits) {
  MakeTable(2);
  store_->fates = {Fate::kUnknownDone};
  store_->loads_to_fail = 2;
  auto result = Append({File("a", 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(store_->loads, 3);
  EXPECT_EQ(store_->current().metadata.snapshots.size(), 1u);
}

TEST_F(CommitTest, UnknownOutcomeThatWasLostIsTriedAgain) {
  MakeTable(2);
  store_->fates = {Fate::kUnknownLost};
  auto result = Append({File("a", 1)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->attempts, 2);
  EXPECT_GE(store_->loads, 4) << "looked up three times and more";
  EXPECT_EQ(store_->current().metadata.snapshots.size(), 1u);
  EXPECT_EQ(FilesThere(), ReferencedFiles());
}

TEST_F(CommitTest, UnknownOutcomeThatCannotBeLookedUpStaysUnknown) {
  MakeTable(2, {{"commit.status-check.num-retries", "2"}});
  store_->fates = {Fate::kUnknownDone};
  store_->loads_to_fail = 100;
  Status status = Append({File("a", 1)}).status();
  EXPECT_EQ(CommitFailureOf(status), CommitFailure::kStateUnknown);
  EXPECT_THAT(status.message(), HasSubstr("not known"));
  EXPECT_EQ(store_->loads, 3);
  // It was committed after all: nothing that it needs is gone.
  store_->loads_to_fail = 0;
  EXPECT_THAT(LiveFiles(), ElementsAre("a"));
}

}  // namespace
}  // namespace calve::iceberg
