#include "calve/shuffle.h"

#include "calve/shuffle/row_buffer.h"
#include "json_arrays.h"
#include "shuffle_files_testing.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace calve {
namespace {

using testing::Batch;
using testing::CheckNumbered;
using testing::Cut;
using testing::Every;
using testing::Numbered;
using testing::OpenFiles;
using testing::ReadAll;
using testing::TempFolder;
using testing::WriteTask;

TEST(ShuffleRowBuffer, RowsLieByPartitionInTheirOrder) {
  const auto batch = Batch(arrow::schema({arrow::field("a", arrow::int32())}), "[[10], [11], [12], [13], [14]]");
  shuffle::RowBuffer buffer(*batch->schema(), 4, 1 << 20, arrow::default_memory_pool());
  buffer.Add(batch, 0, std::vector<uint32_t>{2, 0, 2, 3, 0});
  ASSERT_TRUE(buffer.Sort().ok());
  const auto values = [&](int32_t partition) {
    std::vector<ShuffleRows> rows;
    buffer.RowsOf(partition, buffer.sorted_batches(), &rows);
    std::vector<int32_t> result;
    for (const ShuffleRows& some : rows) {
      const auto& column = static_cast<const arrow::Int32Array&>(*some.batch->column(0));
      for (int64_t i = 0; i < some.count; ++i) {
        result.push_back(column.Value(some.first + (some.rows == nullptr ? i : some.rows[i])));
      }
    }
    return result;
  };
  EXPECT_EQ(values(0), (std::vector<int32_t>{11, 14}));
  EXPECT_TRUE(values(1).empty());
  EXPECT_EQ(values(2), (std::vector<int32_t>{10, 12}));
  EXPECT_EQ(values(3), (std::vector<int32_t>{13}));
  buffer.Add(batch, 0, std::vector<uint32_t>{0, 0, 0, 0, 4});
  EXPECT_TRUE(buffer.Sort().IsInvalid());
}

TEST(ShuffleRowBuffer, SharedBuffersCountOnce) {
  const auto whole = Numbered(0, 100000);
  shuffle::RowBuffer buffer(*whole->schema(), 4, 64 << 10, arrow::default_memory_pool());
  const std::vector<uint32_t> partitions(500, 1);
  // Slices of something large keep nothing of it alive once they are sorted, and that is soon.
  for (int64_t at = 0; at < 1000; at += 500) {
    buffer.Add(whole->Slice(at, 500), 0, partitions);
    EXPECT_TRUE(buffer.KeepsMuchAlive());
    ASSERT_TRUE(buffer.Sort().ok());
  }
  EXPECT_GE(buffer.batch_bytes(), 1000 * 24);
  EXPECT_LT(buffer.held_bytes(), 100 << 10);
  // A dictionary is shared.
  std::string json = "[";
  for (int i = 0; i < 500; ++i) json += fmt::format("{}\"text number {} of the dictionary\"", i ? ", " : "", i);
  const auto encoded =
      arrow::compute::DictionaryEncode(testing::Array(arrow::utf8(), json + "]")).ValueOrDie().make_array();
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("d", encoded->type())}), 500, {encoded});
  shuffle::RowBuffer dictionaries(*batch->schema(), 4, 1 << 20, arrow::default_memory_pool());
  const auto add = [&] {
    dictionaries.Add(batch, 0, partitions);
    return dictionaries.Sort();
  };
  ASSERT_TRUE(add().ok());
  const int64_t first = dictionaries.held_bytes();
  ASSERT_TRUE(add().ok());
  EXPECT_GT(first, 500 * 20);
  EXPECT_LT(dictionaries.held_bytes() - first, 500 * 8);
}

// Types that rows cannot be taken of go the way of chosen rows.
TEST(Shuffle, EveryTypeOfIpcGoesThrough) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const arrow::FieldVector union_fields = {arrow::field("i", arrow::int32()), arrow::field("s", arrow::utf8())};
  const std::string values = R"([[5, 1], [8, "a"], [8, null], [5, 4], [8, "b"], [5, null]])";
  const auto text =
      testing::Array(arrow::utf8(), R"(["a", "a", null, "a longer text than a view has room for", "b", "b"])");
  const arrow::ArrayVector columns = {
      testing::Array(arrow::int64(), "[0, 1, 2, 3, 4, 5]"),
      testing::Array(arrow::dense_union(union_fields, {5, 8}), values),
      testing::Array(arrow::sparse_union(union_fields, {5, 8}), values),
      arrow::compute::RunEndEncode(text)->make_array(),
      arrow::compute::Cast(*text, arrow::utf8_view()).ValueOrDie(),
      testing::Array(arrow::list_view(arrow::int32()), "[[1], [], null, [2, 3], [4], [5]]"),
      testing::Array(arrow::large_list(arrow::utf8()), R"([["a"], [], null, ["b", null], ["c"], []])"),
      testing::Array(arrow::null(), "[null, null, null, null, null, null]")};
  for (const auto& column : columns) {
    SCOPED_TRACE(column->type()->ToString());
    TempFolder folder;
    const auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("c", column->type())});
    const auto batch = arrow::RecordBatch::Make(schema, 6, {columns[0], column});
    const auto written =
        WriteTask(folder.path(), 0, {batch, batch->Slice(1, 4)}, MakeHashPartitioner(schema, {"id"}, 3));
    ASSERT_TRUE(written.ok()) << written.status();
    const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
    int64_t rows = 0;
    for (int32_t partition = 0; partition < 3; ++partition) {
      auto batches = reader->ReadPartition(partition).ValueOrDie();
      while (const auto got = batches->Next().ValueOrDie()) {
        ASSERT_TRUE(got->ValidateFull().ok()) << got->ValidateFull();
        rows += got->num_rows();
        for (int64_t i = 0; i < got->num_rows(); ++i) {
          const int64_t id = static_cast<const arrow::Int64Array&>(*got->column(0)).Value(i);
          EXPECT_TRUE(got->column(1)->GetScalar(i).ValueOrDie()->Equals(*column->GetScalar(id).ValueOrDie()));
        }
      }
    }
    EXPECT_EQ(rows, 10);
  }
}

// Issue's figures, scaled: CALVE_SHUFFLE_ROWS rows (50 M: 256 MiB of budget) with 1,000 partitions.
TEST(Shuffle, ManyRowsInLittleMemory) {
  const char* set = std::getenv("CALVE_SHUFFLE_ROWS");
  const int64_t rows = set != nullptr ? std::atoll(set) : testing::LongTests() ? 5000000 : 100000;
  const int64_t budget = std::max<int64_t>(rows * 256 / 50, 2 << 20);
  TempFolder folder;
  size_t most_files = 0;
  constexpr int kTasks = 2;
  const int64_t rows_a_task = rows / kTasks;
  for (int task = 0; task < kTasks; ++task) {
    auto schema = Numbered(0, 1)->schema();
    auto writer =
        ShuffleTaskWriter::Make(folder.path(), task, schema, MakeHashPartitioner(schema, {"key"}, 1000).ValueOrDie(),
                                {.memory_budget_bytes = budget})
            .ValueOrDie();
    for (int64_t at = 0; at < rows_a_task; at += 4096) {
      ASSERT_TRUE(writer->Write(Numbered(task * rows_a_task + at, std::min<int64_t>(4096, rows_a_task - at))).ok());
      most_files = std::max(most_files, OpenFiles());
    }
    const auto result = writer->Commit();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_GT(result->spills, 0);
    EXPECT_LE(result->peak_memory_bytes, budget * 11 / 10);
  }
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_EQ(CheckNumbered(*reader, rows_a_task, Every(1000)), rows_a_task * kTasks);
  most_files = std::max(most_files, OpenFiles());
  EXPECT_LT(most_files, 64u);
}

}  // namespace
}  // namespace calve
