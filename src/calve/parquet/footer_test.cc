#include "calve/parquet/footer.h"

#include "calve/parquet/read_plan.h"
#include "calve/parquet_reader.h"
#include "calve/parquet_writer.h"
#include "test_data.h"

#include <arrow/array/util.h>
#include <arrow/io/file.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <filesystem>
#include <numeric>
#include <thread>

namespace calve::parquet {
namespace {

using arrow::field;

// ---- What is parsed piece by piece is what is parsed as a whole.

std::shared_ptr<const Footer> FooterOf(const std::string& path) {
  auto file = arrow::io::ReadableFile::Open(path);
  if (!file.ok()) return nullptr;
  auto footer = Footer::Read(file->get());
  return footer.ok() ? *footer : nullptr;
}

std::vector<std::string> SharedFiles(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".parquet") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void ExpectSameChunks(const Footer& footer) {
  FileMetadata whole = footer.metadata();
  const std::string expected = Serialize(whole);
  for (int group = 0; group < footer.num_row_groups(); ++group) {
    ASSERT_EQ(footer.row_group(group).num_rows, whole.row_groups[group].num_rows);
    for (int leaf = 0; leaf < footer.num_columns(); ++leaf) {
      whole.row_groups[group].columns[leaf] = footer.Chunk(group, leaf).ValueOrDie();
    }
  }
  EXPECT_EQ(Serialize(whole), expected);
  for (int leaf = 0; leaf < footer.num_columns(); ++leaf) {
    const auto i = static_cast<size_t>(leaf);
    const bool expected_order = i < whole.type_defined_order.size() && whole.type_defined_order[i];
    EXPECT_EQ(footer.index().type_defined_order(leaf), expected_order);
  }
  EXPECT_EQ(footer.index().created_by(), whole.created_by.value_or(""));
  for (const KeyValue& pair : whole.key_value_metadata) {
    EXPECT_EQ(footer.index().key_value(pair.key).substr(0, 20), pair.value.value_or("").substr(0, 20));
  }
}

void ExpectSameSelection(const Selection& got, const Selection& expected) {
  EXPECT_EQ(got.leaves, expected.leaves);
  EXPECT_TRUE(got.schema.arrow_schema->Equals(*expected.schema.arrow_schema, true))
      << got.schema.arrow_schema->ToString() << "\nexpected\n"
      << expected.schema.arrow_schema->ToString();
  ASSERT_EQ(got.schema.leaves.size(), expected.schema.leaves.size());
  for (size_t i = 0; i < got.schema.leaves.size(); ++i) {
    const LeafColumn &a = got.schema.leaves[i], &b = expected.schema.leaves[i];
    EXPECT_EQ(a.path, b.path);
    EXPECT_EQ(std::tie(a.max_definition_level, a.max_repetition_level, a.exists_level, a.unsupported),
              std::tie(b.max_definition_level, b.max_repetition_level, b.exists_level, b.unsupported));
  }
}

void ExpectSameSchema(const Footer& footer) {
  const FileSchema& whole = footer.schema();
  ASSERT_EQ(static_cast<size_t>(footer.num_columns()), whole.leaves.size());
  std::vector<int> odd;
  for (int leaf = 0; leaf < footer.num_columns(); ++leaf) {
    ExpectSameSelection(footer.SelectLeaves({leaf}).ValueOrDie(), Select(whole, {leaf}).ValueOrDie());
    if (leaf % 2 == 1) odd.push_back(leaf);
  }
  ExpectSameSelection(footer.SelectLeaves(odd).ValueOrDie(), Select(whole, odd).ValueOrDie());
  for (const ArrowNode& node : whole.fields) {
    const std::string& name = node.field->name();
    const auto got = footer.LeavesOf(name), expected = LeavesOfName(whole, name);
    EXPECT_EQ(got.status(), expected.status());
    if (got.ok() && expected.ok()) EXPECT_EQ(*got, *expected);
  }
  for (int id = -2; id < 40; ++id) EXPECT_EQ(footer.LeavesOfId(id), LeavesOfFieldId(whole, id)) << id;
}

TEST(Footer, PiecesAreThoseOfTheWhole) {
  CALVE_SHARED_DATA(data);
  int files = 0;
  for (const std::string& path : SharedFiles(data)) {
    SCOPED_TRACE(path);
    const auto footer = FooterOf(path);
    if (footer == nullptr) continue;
    ++files;
    ExpectSameChunks(*footer);
    ExpectSameSchema(*footer);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(files, 100);
}

// ---- Only what is asked for is parsed.

constexpr int kColumns = 3000, kGroups = 3;

/// A struct "s" of two fields and kColumns columns of integers, each with a field id, written by libparquet.
std::shared_ptr<arrow::Buffer> WideFile() {
  const auto id = [](int i) { return arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(i)}); };
  arrow::FieldVector fields = {
      field("s", arrow::struct_({field("a", arrow::int32(), true, id(1)), field("b", arrow::utf8(), true, id(2))}),
            true, id(3))};
  for (int i = 0; i < kColumns; ++i) fields.push_back(field(fmt::format("c{}", i), arrow::int64(), true, id(10 + i)));
  arrow::ArrayVector columns;
  for (const auto& f : fields) columns.push_back(arrow::MakeArrayOfNull(f->type(), 2 * kGroups).ValueOrDie());
  const auto table = arrow::Table::Make(arrow::schema(fields), columns);
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  EXPECT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 2).ok());
  return sink->Finish().ValueOrDie();
}

std::shared_ptr<ParquetReader> OpenWide() {
  static const std::shared_ptr<arrow::Buffer> bytes = WideFile();
  return ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "wide").ValueOrDie();
}

int64_t RowsOf(ParquetBatchReader* reader) {
  int64_t rows = 0;
  while (const auto batch = reader->Next().ValueOrDie()) rows += batch->num_rows();
  return rows;
}

TEST(Footer, OpeningAWideFileParsesNothing) {
  const auto file = OpenWide();
  EXPECT_EQ(file->num_rows(), 2 * kGroups);
  EXPECT_EQ(file->num_row_groups(), kGroups);
  EXPECT_EQ(file->footer().num_columns(), kColumns + 2);
  EXPECT_EQ(file->footer().counts().schema_elements, 0);
  EXPECT_EQ(file->footer().counts().column_chunks, 0);
  EXPECT_EQ(file->footer().counts().whole, 0);
}

TEST(Footer, ReadingOneColumnOfManyParsesThatColumn) {
  const auto file = OpenWide();
  const auto leaves = file->LeavesOf("c2500").ValueOrDie();
  EXPECT_EQ(leaves, (std::vector<int>{2502}));
  EXPECT_EQ(file->LeavesOfFieldId(2510), leaves);
  EXPECT_TRUE(file->CheckSupported(leaves).ok());
  std::vector<int> groups(kGroups);
  std::iota(groups.begin(), groups.end(), 0);
  const auto reader = file->Read(leaves, groups).ValueOrDie();
  EXPECT_EQ(reader->schema()->ToString(), "c2500: int64");
  EXPECT_EQ(RowsOf(reader.get()), 2 * kGroups);
  const Footer::Counts& counts = file->footer().counts();
  EXPECT_EQ(counts.schema_elements, 4 * 2);      // the root and the column, for each of the four calls
  EXPECT_EQ(counts.column_chunks, 2 * kGroups);  // one a row group, for CheckSupported and for Read
  EXPECT_EQ(counts.whole, 0);
}

TEST(Footer, NestedNamesAndIdsParseTheirFieldOnly) {
  const auto file = OpenWide();
  EXPECT_EQ(file->LeavesOf("s.b").ValueOrDie(), (std::vector<int>{1}));
  EXPECT_EQ(file->LeavesOfFieldId(3), (std::vector<int>{0, 1}));
  EXPECT_EQ(file->LeavesOfFieldId(2), (std::vector<int>{1}));
  EXPECT_EQ(file->LeavesOfFieldId(9), (std::vector<int>{}));
  EXPECT_EQ(file->footer().counts().schema_elements, 3 * 4);  // the root, s, a, b
  EXPECT_EQ(file->footer().counts().whole, 0);
  EXPECT_THAT(file->LeavesOf("s.c").status().message(), ::testing::HasSubstr("no column 's.c'; there are: s.a, s.b"));
  EXPECT_EQ(file->footer().counts().whole, 1);
}

TEST(Footer, ReadingOneRowGroupParsesItsChunks) {
  const auto file = OpenWide();
  EXPECT_EQ(RowsOf(file->Read({5, 7}, {1}).ValueOrDie().get()), 2);
  EXPECT_EQ(file->footer().counts().column_chunks, 2);
}

TEST(Footer, EveryColumnByNameAndIdParsesEachOnce) {
  const auto file = OpenWide();
  for (int i = 0; i < kColumns; ++i) {
    ASSERT_EQ(file->LeavesOf(fmt::format("c{}", i)).ValueOrDie(), (std::vector<int>{i + 2}));
    ASSERT_EQ(file->LeavesOfFieldId(10 + i), (std::vector<int>{i + 2}));
  }
  EXPECT_EQ(file->footer().counts().schema_elements, 2 * 2 * kColumns);
}

TEST(Footer, TheWholeIsParsedOnceWhateverThreadsAsk) {
  const auto file = OpenWide();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(file->schema()->num_fields(), kColumns + 1);
      EXPECT_EQ(file->metadata().row_groups.size(), static_cast<size_t>(kGroups));
      EXPECT_EQ(file->LeavesOf("c7").ValueOrDie(), (std::vector<int>{9}));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(file->footer().counts().whole, 2);
}

TEST(Footer, SelectionsNameColumnsOfTheFile) {
  const auto file = OpenWide();
  EXPECT_EQ(file->Read({kColumns + 2}, {0}).status().message(),
            "wide: column index 3002 out of range (the file has 3002 columns)");
  EXPECT_EQ(file->Read({9, 7}, {0}).status().message(), "wide: the column indices to read are not sorted");
  EXPECT_EQ(file->CheckSupported({-1}).message(), "wide: column index -1 out of range (the file has 3002 columns)");
}

TEST(Footer, NamesWithDotsAndNamesTwice) {
  arrow::FieldVector fields = {field("a.b", arrow::int32()), field("a", arrow::struct_({field("c", arrow::int32())})),
                               field("twice", arrow::int32()), field("twice", arrow::int32())};
  arrow::ArrayVector columns;
  for (const auto& f : fields) columns.push_back(arrow::MakeArrayOfNull(f->type(), 1).ValueOrDie());
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto table = arrow::Table::Make(arrow::schema(fields), columns);
  ASSERT_TRUE(::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 2).ok());
  const auto bytes = sink->Finish().ValueOrDie();
  const auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x").ValueOrDie();
  for (int i = 0; i < 20; ++i) {  // by passing over the fields, then by table
    EXPECT_EQ(file->LeavesOf("a.b").ValueOrDie(), (std::vector<int>{0}));
    EXPECT_EQ(file->LeavesOf("a.c").ValueOrDie(), (std::vector<int>{1}));
    EXPECT_EQ(file->LeavesOf("a").ValueOrDie(), (std::vector<int>{1}));
    EXPECT_EQ(file->LeavesOf("twice").status().message(), "x: column 'twice' is ambiguous: 2 fields have that name");
    EXPECT_EQ(file->LeavesOf("a.").status().message(), "x: no column 'a.'; there are: a.b, a.c, twice, twice");
  }
}

}  // namespace
}  // namespace calve::parquet
