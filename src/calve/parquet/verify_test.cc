#include "calve/parquet_verify.h"

#include "edited_parquet.h"
#include "verified_parquet.h"

#include <gmock/gmock.h>

namespace calve {
namespace {

using namespace testing::verified;  // NOLINT
using parquet::ColumnIndex;
using parquet::PageHeader;
using testing::EditedParquet;

TEST(VerifyParquet, PassesWhatLibparquetWrites) {
  for (const bool v2 : {false, true}) {
    const auto found = Verify(MakeFile(v2));
    EXPECT_TRUE(found.ok()) << Lines(found);
    EXPECT_EQ(found.rows, kRows);
    EXPECT_EQ(found.row_groups, 2);
    EXPECT_EQ(found.columns, 5);
    EXPECT_EQ(found.pages, 2 * (5 * 5 + 1));
    EXPECT_TRUE(found.not_checked.empty());
  }
}

TEST(VerifyParquet, EditedWithoutAChangeStaysRight) {
  EditedParquet file(*MakeFile());
  for (size_t leaf = 0; leaf < 5; ++leaf) {
    file.EditPages(leaf, [](auto...) {});
    file.EditColumns(leaf, [](auto*) {});
  }
  const auto found = Verify(file.Finish());
  EXPECT_TRUE(found.ok()) << Lines(found);
}

TEST(VerifyParquet, OneViolationDoesNotHideOthers) {
  EditedParquet file(*MakeFile());
  file.metadata.num_rows = 1;
  file.statistics(kId).min_value = Plain(int64_t{7});
  file.EditPages(kReal, [](int64_t page, PageHeader* header, std::string* body, bool* keep) {
    *keep = page == 1;
    if (page == 1) ++*header->crc;
    if (page == 2) body->replace(0, 4, "\xff\xff\xff\x7f");
  });
  file.EditColumns(kText, [](ColumnIndex* index) { index->min_values[3] = "zzz"; });
  const auto found = Verify(file.Finish());
  EXPECT_EQ(RulesOf(found),
            (Rules{"file.num_rows", "statistics.min_value", "page.crc", "page.levels", "column_index.min_values"}))
      << Lines(found);
}

TEST(VerifyParquet, NamesRowGroupColumnPageRuleAndBothSides) {
  EditedParquet file(*MakeFile());
  file.EditColumns(kText, [](ColumnIndex* index) { index->min_values[3] = "zzz"; });
  const auto found = Verify(file.Finish());
  ASSERT_EQ(found.violations.size(), 1u);
  const auto& violation = found.violations[0];
  EXPECT_EQ(violation.row_group, 0);
  EXPECT_EQ(violation.column, "text");
  EXPECT_EQ(violation.page, 3);
  EXPECT_EQ(violation.said, "'zzz'");
  EXPECT_THAT(ToString(violation), ::testing::MatchesRegex("row group 0, column 'text', page 3 at byte [0-9]+: "
                                                           "column_index.min_values: said 'zzz', is 'text .*"));
}

TEST(VerifyParquet, IsCutShortAtEveryByte) {
  const auto file = MakeFile();
  for (int64_t size = 0; size < file->size(); size += size < file->size() - 2000 ? 97 : 1) {
    const auto found = Verify(arrow::SliceBuffer(file, 0, size));
    ASSERT_FALSE(found.ok()) << size;
  }
}

TEST(VerifyParquet, KeepsAsManyViolationsAsAskedAndCountsAll) {
  EditedParquet file(*MakeFile());
  file.EditColumns(kReal, [](ColumnIndex* index) {
    for (int64_t& count : *index->null_counts) ++count;
  });
  ParquetVerifyOptions options;
  options.most_violations = 2;
  const auto found = Verify(file.Finish(), options);
  EXPECT_EQ(found.violations.size(), 2u);
  EXPECT_EQ(found.violation_count, 5);
}

TEST(VerifyParquet, FindsTheSameWithSeveralThreads) {
  EditedParquet file(*MakeFile());
  file.statistics(kId).min_value = Plain(int64_t{7});
  file.EditColumns(kText, [](ColumnIndex* index) { index->min_values[3] = "zzz"; });
  const auto bytes = std::make_shared<arrow::io::BufferReader>(file.Finish());
  Context one, four;
  one.threads = 1;
  four.threads = 4;
  EXPECT_EQ(Lines(VerifyParquet(bytes, {}, one).ValueOrDie()), Lines(VerifyParquet(bytes, {}, four).ValueOrDie()));
}

}  // namespace
}  // namespace calve
