// Memory of writing files that are large in one way or another: what the writer takes from its pool stays within a
// budget that is stated here, and the process grows by little more. Each test says what it saw.

#include "calve/base/memory_budget.h"
#include "calve/parquet_verify.h"
#include "calve/parquet_writer.h"

#include "random_array.h"
#include "temp_folder.h"
#include "test_data.h"
#include "written_parquet.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <parquet/column_reader.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>

namespace calve {
namespace {

using testing::Batches;
using testing::RandomArrays;

constexpr int64_t kMiB = int64_t{1} << 20;

/// A line of /proc/self/status, in bytes; 0 where there is none.
int64_t StatusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) << 10;
  }
  return 0;
}

/// Writes the batches, `rounds` times over, to a file. What is taken from the pool stays within `budget` bytes, which
/// is enforced; the process grows by no more than `beside` bytes beside them, in the long suite, where nothing else
/// runs in it: statistics, indexes and the footer are no buffers.
void ExpectWithin(int64_t budget, int64_t beside, const std::string& path, const Batches& batches, int rounds,
                  const ParquetWriteOptions& options) {
  MemoryBudget pool(arrow::default_memory_pool(), budget);
  Context context;
  context.pool = &pool;
#ifdef __GLIBC__
  ::malloc_trim(0);  // what tests before this left would hide growth
#endif
  const int64_t before = StatusBytes("VmRSS");
  const bool peak_was_reset = static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush);
  auto sink = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  auto writer = ParquetWriter::Make(sink.get(), batches[0]->schema(), options, context).ValueOrDie();
  for (int round = 0; round < rounds; ++round) {
    for (const auto& batch : batches) {
      const arrow::Status status = writer->Write(*batch);
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  const auto summary = writer->Close();
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_TRUE(sink->Close().ok());
  const int64_t growth = StatusBytes("VmHWM") - before;
  std::cout << "peak of the pool " << pool.max_memory() / kMiB << " MiB of " << budget / kMiB
            << ", the process grew by " << growth / kMiB << " MiB, the file has " << summary->bytes / kMiB << " MiB\n";
  EXPECT_GT(pool.max_memory(), 0);
  EXPECT_LE(pool.max_memory(), budget);
  if (peak_was_reset && testing::LongTests()) {
    EXPECT_LE(growth, budget + beside);
  }
}

void ExpectRight(const std::string& path) {
  const auto found = VerifyParquet(path).ValueOrDie();
  EXPECT_GT(found.pages, 0);
  for (const ParquetViolation& violation : found.violations) ADD_FAILURE() << ToString(violation);
}

std::unique_ptr<::parquet::ParquetFileReader> Open(const std::string& path) {
  return ::parquet::ParquetFileReader::OpenFile(path, /*memory_map=*/false);
}

/// Batches of `columns` columns of four types.
Batches WideBatches(int columns, int64_t rows, int count) {
  const auto types = {arrow::int64(), arrow::float64(), arrow::utf8(), arrow::int32()};
  RandomArrays arrays(7, {.null_probability = 0.1, .largest_offset = 3});
  arrow::FieldVector fields;
  for (int c = 0; c < columns; ++c) {
    fields.push_back(arrow::field("c" + std::to_string(c), std::data(types)[c % 4]));
  }
  Batches batches;
  for (int b = 0; b < count; ++b) {
    arrow::ArrayVector arrays_of_batch;
    for (const auto& field : fields) arrays_of_batch.push_back(arrays.Make(*field, rows));
    batches.push_back(arrow::RecordBatch::Make(arrow::schema(fields), rows, std::move(arrays_of_batch)));
  }
  return batches;
}

// What a row group holds, as much of memory to use again, and the encoders of each column.
TEST(WriterMemory, TenThousandColumns) {
  if (!testing::LongTests()) GTEST_SKIP() << "writes 40 million values (set CALVE_LONG_TESTS)";
  constexpr int kColumns = 10000;
  testing::TempFolder folder;
  const std::string path = folder / "x.parquet";
  ParquetWriteOptions options;
  options.row_group_bytes = 32 * kMiB;
  const int64_t budget = 2 * options.row_group_bytes + kColumns * (int64_t{48} << 10);
  ExpectWithin(budget, 128 * kMiB, path, WideBatches(kColumns, 200, 2), 10, options);
  const auto metadata = Open(path)->metadata();
  EXPECT_EQ(metadata->num_columns(), kColumns);
  EXPECT_GT(metadata->num_row_groups(), 1);
  EXPECT_EQ(metadata->num_rows(), 4000);
  ExpectRight(path);
}

// 160,000 column chunks, of each of which the footer and the indexes are kept to the end.
TEST(WriterMemory, ManyColumnsAndRowGroups) {
  if (!testing::LongTests()) GTEST_SKIP() << "writes 160,000 column chunks (set CALVE_LONG_TESTS)";
  testing::TempFolder folder;
  const std::string path = folder / "x.parquet";
  ParquetWriteOptions options;
  options.row_group_rows = 100;
  ExpectWithin(64 * kMiB, 160000 * int64_t{2048}, path, WideBatches(1600, 500, 2), 10, options);
  const auto metadata = Open(path)->metadata();
  EXPECT_EQ(metadata->num_columns(), 1600);
  EXPECT_EQ(metadata->num_row_groups(), 100);
  EXPECT_EQ(metadata->num_rows(), 10000);
  ExpectRight(path);
}

/// Text that compresses, 8 MiB of it.
std::shared_ptr<arrow::Buffer> Text() {
  std::mt19937_64 random(3);
  std::string text;
  for (int i = 0; i < 4096; ++i) text.push_back(static_cast<char>('a' + random() % 26));
  while (text.size() < static_cast<size_t>(8 * kMiB)) {
    text += text.substr(0, 4096 - 8) + std::to_string(10000000 + random() % 10000000);
  }
  return arrow::Buffer::FromString(std::move(text));
}

/// `count` strings of `length` bytes each, which are views of one text from different places.
std::shared_ptr<arrow::RecordBatch> Views(const std::shared_ptr<arrow::Buffer>& text, int64_t count, int32_t length) {
  auto views = arrow::AllocateBuffer(count * 16).ValueOrDie();
  for (int64_t i = 0; i < count; ++i) {
    const int32_t view[4] = {length, 0, 0, static_cast<int32_t>(i * 7919 % (text->size() - length))};
    std::memcpy(views->mutable_data() + i * 16, view, 16);
    std::memcpy(views->mutable_data() + i * 16 + 4, text->data() + view[3], 4);
  }
  const auto data = arrow::ArrayData::Make(
      arrow::utf8_view(), count, {nullptr, std::shared_ptr<arrow::Buffer>(std::move(views)), text}, /*null_count=*/0);
  return testing::OneColumn(arrow::MakeArray(data), false);
}

/// Compares the only column of a file with the views of which it was written, by libparquet.
void ExpectViews(const std::string& path, const arrow::StringViewArray& expected) {
  const auto reader = Open(path);
  int64_t row = 0;
  for (int group = 0; group < reader->metadata()->num_row_groups(); ++group) {
    auto column = std::static_pointer_cast<::parquet::ByteArrayReader>(reader->RowGroup(group)->Column(0));
    std::vector<::parquet::ByteArray> values(64);
    while (column->HasNext()) {
      int64_t count = 0;
      column->ReadBatch(static_cast<int64_t>(values.size()), nullptr, nullptr, values.data(), &count);
      for (int64_t i = 0; i < count; ++i, ++row) {
        const ::parquet::ByteArray& value = values[static_cast<size_t>(i)];
        const std::string_view text(reinterpret_cast<const char*>(value.ptr), value.len);
        ASSERT_TRUE(text == expected.GetView(row)) << row;
      }
    }
  }
  EXPECT_EQ(row, expected.length());
}

TEST(WriterMemory, TwoGigabytesOfStringsInOneColumn) {
  if (!testing::LongTests()) GTEST_SKIP() << "writes and reads 2.2 GB (set CALVE_LONG_TESTS)";
  testing::TempFolder folder;
  const std::string path = folder / "x.parquet";
  const auto batch = Views(Text(), 2200, 1000000);
  ExpectWithin(64 * kMiB, 64 * kMiB, path, {batch}, 1, {});
  const auto metadata = Open(path)->metadata();
  ASSERT_EQ(metadata->num_row_groups(), 1);
  EXPECT_GT(metadata->RowGroup(0)->ColumnChunk(0)->total_uncompressed_size(), std::numeric_limits<int32_t>::max());
  ExpectViews(path, static_cast<const arrow::StringViewArray&>(*batch->column(0)));
}

// Values that do not compress: row groups end at their size and one value. Bounds of page, chunk and file are kept
// whole while they may change.
TEST(WriterMemory, ValuesOfSixteenMebibytes) {
  testing::TempFolder folder;
  const std::string path = folder / "x.parquet";
  arrow::BinaryBuilder builder;
  std::string value(16 * kMiB, 'x');
  std::mt19937_64 random(5);
  for (size_t i = 0; i + 8 <= value.size(); i += 8) {
    const uint64_t word = random();
    std::memcpy(value.data() + i, &word, 8);
  }
  ASSERT_TRUE(builder.Append("small").ok() && builder.Append(value).ok() && builder.AppendNull().ok());
  const auto array = builder.Finish().ValueOrDie();
  ExpectWithin(256 * kMiB, 256 * kMiB, path, {testing::OneColumn(array)}, testing::LongTests() ? 20 : 2, {});
  ExpectRight(path);
  auto reader = ::parquet::arrow::FileReader::Make(arrow::default_memory_pool(), Open(path)).ValueOrDie();
  const auto group = reader->ReadRowGroup(0).ValueOrDie();
  const auto head = arrow::Concatenate(group->column(0)->chunks()).ValueOrDie()->Slice(0, 3);
  EXPECT_TRUE(head->Equals(array));
}

}  // namespace
}  // namespace calve
