#include "calve/iceberg/commit.h"

#include "commit_testing.h"

#include <gmock/gmock.h>

namespace calve::iceberg {
namespace {

using testing::CommitTest;
using Fate = testing::MemoryTable::Fate;

TEST_F(CommitTest, RowLineageOfAppends) {
  MakeTable(3);
  auto first = Append({File("a", 10), File("b", 20)});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->snapshot.first_row_id, 0);
  EXPECT_EQ(first->snapshot.added_rows, 30);
  auto second = Append({File("c", 5)});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->snapshot.first_row_id, 30);
  EXPECT_EQ(second->snapshot.added_rows, 5);
  EXPECT_EQ(store_->current().metadata.next_row_id, 35);
  auto entries = EntriesByName();
  EXPECT_EQ(entries.at("a").file.first_row_id, 0);
  EXPECT_EQ(entries.at("b").file.first_row_id, 10);
  EXPECT_EQ(entries.at("c").file.first_row_id, 30);
}

TEST_F(CommitTest, RowLineageSurvivesMerging) {
  MakeTable(3, {{"commit.manifest.min-count-to-merge", "3"}});
  ASSERT_TRUE(Append({File("a", 10)}).ok());
  ASSERT_TRUE(Append({File("b", 20)}).ok());
  auto third = Append({File("c", 5)});
  ASSERT_TRUE(third.ok()) << third.status();
  ASSERT_EQ(Manifests().size(), 1u);
  auto entries = EntriesByName();
  EXPECT_EQ(entries.at("a").file.first_row_id, 0);
  EXPECT_EQ(entries.at("b").file.first_row_id, 10);
  // Ids are set aside for the existing rows too, at least for those that are new.
  ASSERT_TRUE(entries.at("c").file.first_row_id.has_value());
  EXPECT_GE(*entries.at("c").file.first_row_id, 30);
  EXPECT_LE(*entries.at("c").file.first_row_id + 5, store_->current().metadata.next_row_id);
  EXPECT_EQ(*third->snapshot.first_row_id + *third->snapshot.added_rows, store_->current().metadata.next_row_id);
}

TEST_F(CommitTest, RowLineageAfterALostRace) {
  MakeTable(3);
  store_->fates = {Fate::kConflict};
  store_->meanwhile = [this] {
    store_->meanwhile = [] {};
    ASSERT_TRUE(Append({File("other", 7)}).ok());
  };
  auto result = Append({File("mine", 3)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->snapshot.first_row_id, 7);
  EXPECT_EQ(store_->current().metadata.next_row_id, 10);
  EXPECT_EQ(EntriesByName().at("mine").file.first_row_id, 7);
}

TEST_F(CommitTest, UpgradedTableGetsRowIdsForAllFiles) {
  MakeTable(2);
  ASSERT_TRUE(Append({File("a", 10)}).ok());
  ASSERT_TRUE(Append({File("b", 20)}).ok());
  TableMetadata metadata = store_->current().metadata;
  metadata.format_version = 3;
  store_->Set(metadata);
  auto result = Append({File("c", 5)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->snapshot.first_row_id, 0);
  EXPECT_EQ(result->snapshot.added_rows, 35);
  EXPECT_EQ(store_->current().metadata.next_row_id, 35);
  std::vector<bool> taken(35);
  for (const auto& [name, entry] : EntriesByName()) {
    ASSERT_TRUE(entry.file.first_row_id.has_value()) << name;
    for (int64_t row = 0; row < entry.file.record_count; ++row) {
      const size_t id = static_cast<size_t>(*entry.file.first_row_id + row);
      ASSERT_LT(id, taken.size()) << name;
      EXPECT_FALSE(taken[id]) << name << " shares row id " << id;
      taken[id] = true;
    }
  }
}

}  // namespace
}  // namespace calve::iceberg
