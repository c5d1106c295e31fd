#include "calve/arrow_file.h"
#include "calve/scan.h"

#include "temp_folder.h"

#include <arrow/api.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/cancel.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

// Arrow writes the files and picks the rows that a scan must give.

namespace calve {
namespace {

using ::testing::HasSubstr;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr int64_t kRows = 1000;

/// Numbers that are small, texts as dictionary, structs, with nulls; rows from `first` on.
BatchPtr Rows(int64_t first) {
  arrow::Int16Builder small;
  arrow::StringDictionaryBuilder text;
  arrow::Int64Builder inner;
  for (int64_t i = first; i < first + kRows; ++i) {
    EXPECT_TRUE((i % 7 == 0 ? small.AppendNull() : small.Append(static_cast<int16_t>(i % 100))).ok());
    EXPECT_TRUE(text.Append("t" + std::to_string(i % 5)).ok());
    EXPECT_TRUE(inner.Append(i).ok());
  }
  const auto field = arrow::field("x", arrow::int64());
  const auto pair = arrow::StructArray::Make({inner.Finish().ValueOrDie()}, {field}).ValueOrDie();
  arrow::ArrayVector columns = {small.Finish().ValueOrDie(), text.Finish().ValueOrDie(), pair};
  auto schema = arrow::schema({arrow::field("small", arrow::int16()), arrow::field("text", columns[1]->type()),
                               arrow::field("pair", pair->type())});
  return arrow::RecordBatch::Make(std::move(schema), kRows, std::move(columns));
}

class ArrowFileScan : public ::testing::Test {
 protected:
  ArrowFileScan() { EXPECT_TRUE(arrow::compute::Initialize().ok()); }

  std::string Write(const std::string& name, const std::vector<BatchPtr>& batches, bool stream = false) {
    const std::string path = folder_.path() + "/" + name;
    auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    auto writer = stream ? arrow::ipc::MakeStreamWriter(out, batches[0]->schema()).ValueOrDie()
                         : arrow::ipc::MakeFileWriter(out, batches[0]->schema()).ValueOrDie();
    for (const auto& batch : batches) EXPECT_TRUE(writer->WriteRecordBatch(*batch).ok());
    EXPECT_TRUE(writer->Close().ok());
    EXPECT_TRUE(out->Close().ok());
    return path;
  }

  testing::TempFolder folder_;
};

ScanOptions Where(const std::string& filter, std::vector<std::string> columns = {}) {
  ScanOptions options;
  options.columns = std::move(columns);
  options.filter = Expression::Parse(filter).ValueOrDie();
  return options;
}

arrow::Result<std::shared_ptr<arrow::Table>> TableOf(const std::vector<std::string>& paths,
                                                     const ScanOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const auto scan, ScanFiles(paths, options));
  ARROW_ASSIGN_OR_RAISE(const auto reader, scan->reader());
  return reader->ToTable();
}

/// The rows of batches for which `keep` holds, by Arrow.
std::shared_ptr<arrow::Table> Kept(const std::vector<BatchPtr>& batches, const std::function<bool(int64_t)>& keep) {
  arrow::BooleanBuilder mask;
  const auto whole = arrow::Table::FromRecordBatches(batches).ValueOrDie();
  for (int64_t i = 0; i < whole->num_rows(); ++i) EXPECT_TRUE(mask.Append(keep(i)).ok());
  return arrow::compute::Filter(whole, mask.Finish().ValueOrDie()).ValueOrDie().table();
}

TEST_F(ArrowFileScan, RowsOfFilesAndStreamsInOrder) {
  const std::vector<BatchPtr> batches = {Rows(0), Rows(kRows), Rows(2 * kRows)};
  const std::vector<std::string> paths = {Write("a.arrow", {batches[0], batches[1]}),
                                          Write("b.arrows", {batches[2]}, /*stream=*/true)};
  ScanOptions options;
  options.batch_rows = 300;
  const auto got = TableOf(paths, options).ValueOrDie();
  EXPECT_TRUE(got->Equals(*Kept(batches, [](int64_t) { return true; })));
  EXPECT_LE(got->column(0)->chunk(0)->length(), 300);
}

TEST_F(ArrowFileScan, FiltersTestValuesAndNotKeys) {
  const std::vector<BatchPtr> batches = {Rows(0), Rows(kRows)};
  const std::string path = Write("a.arrow", batches);
  const auto small = [](int64_t i) { return i % 7 == 0 ? -1 : i % 100; };
  EXPECT_TRUE(TableOf({path}, Where("small > 42 AND text = 't3'")).ValueOrDie()->Equals(*Kept(batches, [&](int64_t i) {
    return small(i) > 42 && i % 5 == 3;
  })));
  EXPECT_TRUE(TableOf({path}, Where("small IS NULL")).ValueOrDie()->Equals(*Kept(batches, [](int64_t i) {
    return i % 7 == 0;
  })));
  EXPECT_TRUE(
      TableOf({path}, Where("pair.x BETWEEN 990 AND 1010", {"text"}))
          .ValueOrDie()
          ->Equals(*Kept(batches, [](int64_t i) { return i >= 990 && i <= 1010; })->SelectColumns({1}).ValueOrDie()));
}

TEST_F(ArrowFileScan, GivesNoEmptyBatch) {
  const auto empty = Rows(0)->Slice(0, 0);
  const std::string path = Write("a.arrow", {empty, Rows(0), empty});
  for (const std::string filter : {"TRUE", "pair.x < 5", "small = 99", "pair.x < 0"}) {
    const auto scan = ScanFiles({path}, Where(filter)).ValueOrDie();
    const auto reader = scan->reader().ValueOrDie();
    while (const auto batch = reader->Next().ValueOrDie()) EXPECT_GT(batch->num_rows(), 0) << filter;
  }
}

TEST_F(ArrowFileScan, CountsWhatWasReadAndPlansTheRows) {
  const std::string path = Write("a.arrow", {Rows(0), Rows(kRows)});
  const auto scan = ScanFiles({path}, Where("small = 1")).ValueOrDie();
  const auto plan = scan->Plan().ValueOrDie();
  EXPECT_EQ(plan->GetColumnByName("record_count")->GetScalar(0).ValueOrDie()->ToString(), "2000");
  EXPECT_EQ(scan->reader().ValueOrDie()->ToTable().ValueOrDie()->num_rows(), scan->metrics().rows_returned);
  EXPECT_EQ(scan->metrics().rows_read, 2 * kRows);
  EXPECT_GT(scan->metrics().rows_returned, 0);
  EXPECT_TRUE(scan->reader().status().IsInvalid());
}

TEST_F(ArrowFileScan, OpensTheFirstFileOnce) {
  const std::string path = Write("a.arrow", {Rows(0)});
  const auto scan = ScanFiles({path}, {}).ValueOrDie();
  std::filesystem::remove(path);
  EXPECT_TRUE(
      scan->reader().ValueOrDie()->ToTable().ValueOrDie()->Equals(*Kept({Rows(0)}, [](int64_t) { return true; })));
}

// A struct whose other field is a dictionary: as values it would be a hundred times as large.
TEST_F(ArrowFileScan, FiltersOnAFieldLeaveTheOthersAsTheyAre) {
  constexpr int64_t kTextBytes = 50000;
  const auto pair = Rows(0)->column(2);
  arrow::StringDictionaryBuilder long_text;
  for (int64_t i = 0; i < kRows; ++i) ASSERT_TRUE(long_text.Append(std::string(kTextBytes, 'x')).ok());
  const auto text = long_text.Finish().ValueOrDie();
  const auto x = std::static_pointer_cast<arrow::StructArray>(pair)->field(0);
  const auto column = arrow::StructArray::Make({text, x}, std::vector<std::string>{"text", "x"}).ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("pair", column->type())}), kRows, {column});
  const std::string path = Write("a.arrow", {batch});
  const auto scan = ScanFiles({path}, Where("pair.x >= 10 AND pair.x < 15")).ValueOrDie();
  const auto rows = scan->reader().ValueOrDie()->ToTable().ValueOrDie();
  EXPECT_TRUE(rows->Equals(*Kept({batch}, [](int64_t i) { return i >= 10 && i < 15; })));
  EXPECT_LT(scan->metrics().peak_memory_bytes, kTextBytes * kRows / 10);
}

/// Texts of all lengths that views treat apart, as a dictionary of them: some entries and some keys are null.
BatchPtr RowsOfViews(const std::shared_ptr<arrow::DataType>& values) {
  arrow::StringViewBuilder entries;
  arrow::UInt32Builder keys;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE((i == 3 ? entries.AppendNull() : entries.Append(std::string(i * 10, 'x') + std::to_string(i))).ok());
  }
  for (uint32_t i = 0; i < kRows; ++i) EXPECT_TRUE((i % 7 == 0 ? keys.AppendNull() : keys.Append(i % 5)).ok());
  const auto dictionary = entries.Finish().ValueOrDie()->View(values).ValueOrDie();
  const auto column = arrow::DictionaryArray::FromArrays(keys.Finish().ValueOrDie(), dictionary).ValueOrDie();
  const auto pair = arrow::StructArray::Make({column}, std::vector<std::string>{"inner"}).ValueOrDie();
  auto schema = arrow::schema({arrow::field("view", column->type()), arrow::field("pair", pair->type())});
  return arrow::RecordBatch::Make(std::move(schema), kRows, {column, pair});
}

// As polars writes what is categorical.
TEST_F(ArrowFileScan, FiltersTestDictionariesOfViews) {
  for (const auto& [values, prefix] : {std::pair(arrow::utf8_view(), ""), std::pair(arrow::binary_view(), "X")}) {
    const auto batch = RowsOfViews(values);
    const std::string path = Write("a.arrow", {batch});
    const auto literal = [&](const std::string& text) {
      std::string hex;
      for (const char c : text) hex += fmt::format("{:02x}", c);
      return *prefix == 'X' ? "X'" + hex + "'" : "'" + text + "'";
    };
    for (const std::string column : {"view", "pair.inner"}) {
      const auto expect = [&](const std::string& test, const std::function<bool(int64_t)>& keep) {
        ScanOptions where = Where(column + test);
        where.batch_rows = 300;
        const auto rows = TableOf({path}, where);
        ASSERT_TRUE(rows.ok()) << rows.status();
        EXPECT_TRUE((*rows)->Equals(*Kept({batch}, keep))) << column << test;
      };
      expect(" = " + literal("0"), [](int64_t i) { return i % 7 != 0 && i % 5 == 0; });
      expect(" = " + literal("xxxxxxxxxxxxxxxxxxxx2"), [](int64_t i) { return i % 7 != 0 && i % 5 == 2; });
      expect(" IS NULL", [](int64_t i) { return i % 7 == 0 || i % 5 == 3; });
    }
  }
}

// A budget that what the files' batches leave idle fills to the last page.
TEST_F(ArrowFileScan, IdleMemoryGivesWayToTheFilter) {
  std::vector<BatchPtr> batches;
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (int64_t rows = 10'000; rows < 400'000; rows = rows * 5 / 4) {
      arrow::Int64Builder builder;
      for (int64_t i = 0; i < rows; ++i) ASSERT_TRUE(builder.Append(i).ok());
      const auto schema = arrow::schema({arrow::field("a", arrow::int64())});
      batches.push_back(arrow::RecordBatch::Make(schema, rows, {builder.Finish().ValueOrDie()}));
    }
  }
  const std::string path = Write("a.arrow", batches);
  int64_t idle = 0;
  {
    arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
    Context context;
    context.pool = &pool;
    const auto reader = OpenArrowFile(path, {}, context).ValueOrDie();
    while (reader->Next().ValueOrDie() != nullptr) {
    }
    idle = pool.max_memory();
  }
  Context context;
  context.memory_budget_bytes = idle + 1000;
  const auto scan = ScanFiles({path}, Where("a < 5000"), context).ValueOrDie();
  const auto reader = scan->reader().ValueOrDie();
  while (true) {
    const auto batch = reader->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (*batch == nullptr) break;
  }
  EXPECT_EQ(scan->metrics().rows_returned, static_cast<int64_t>(batches.size()) * 5000);
}

TEST_F(ArrowFileScan, NamesWhatItDoesNotHave) {
  const std::string path = Write("a.arrow", {Rows(0)});
  EXPECT_THAT(TableOf({path}, Where("TRUE", {"no"})).status().message(),
              HasSubstr("no column 'no': the files have small"));
  for (const std::string name : {"pair.x", "_file", "_pos"}) {
    const auto status = TableOf({path}, Where("TRUE", {name})).status();
    EXPECT_TRUE(status.IsNotImplemented()) << status;
    EXPECT_THAT(status.message(), HasSubstr("'" + name + "'"));
  }
  const auto other = Write("b.arrow", {Rows(0)->SelectColumns({0}).ValueOrDie()});
  EXPECT_TRUE(TableOf({path, other}, {}).status().IsNotImplemented());
  const std::string text = folder_.path() + "/c.parquet";
  std::ofstream(text) << "PAR1 and so on";
  EXPECT_THAT(TableOf({path, text}, {}).status().message(), HasSubstr("c.parquet' is not: files of one kind"));
}

TEST_F(ArrowFileScan, StopsWhenAsked) {
  const std::string path = Write("a.arrow", {Rows(0)});
  arrow::StopSource source;
  const arrow::StopToken token = source.token();
  Context context;
  context.stop = &token;
  const auto scan = ScanFiles({path}, {}, context).ValueOrDie();
  const auto reader = scan->reader().ValueOrDie();
  source.RequestStop();
  EXPECT_TRUE(reader->Next().status().IsCancelled());
}

}  // namespace
}  // namespace calve
