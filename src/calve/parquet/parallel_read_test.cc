#include "calve/parquet_reader.h"

#include "calve/base/memory_budget.h"
#include "calve/parquet/schema.h"

#include "random_array.h"
#include "read_parquet.h"
#include "temp_folder.h"

#include <arrow/util/cancel.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <numeric>

// Reading with several threads: the same batches, within the same memory.

namespace calve {
namespace {

using arrow::field;
using arrow::Result;
using arrow::Status;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

std::shared_ptr<arrow::Table> RandomTable(int64_t rows) {
  const auto schema = arrow::schema(
      {field("i", arrow::int64()), field("s", arrow::utf8()), field("d", arrow::float64(), false),
       field("b", arrow::boolean()), field("l", arrow::list(field("element", arrow::int32()))),
       field("st",
             arrow::struct_({field("x", arrow::utf8()), field("y", arrow::list(field("element", arrow::utf8())))})),
       field("m", arrow::map(arrow::utf8(), arrow::decimal128(20, 1)))});
  testing::RandomArrays arrays(7, {.null_probability = 0.2});
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, rows));
  return arrow::Table::Make(schema, columns, rows);
}

const auto kNansEqual = arrow::EqualOptions::Defaults().nans_equal(true);

struct Layout {
  int64_t group_rows = 10000;
  int64_t page_bytes = 1 << 20;
  arrow::Compression::type codec = arrow::Compression::ZSTD;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.group_rows << " rows a group, " << layout.page_bytes << " bytes a page, codec " << layout.codec;
}

std::shared_ptr<arrow::Buffer> Write(const arrow::Table& table, const Layout& layout) {
  auto properties =
      ::parquet::WriterProperties::Builder().compression(layout.codec)->data_pagesize(layout.page_bytes)->build();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  EXPECT_TRUE(
      ::parquet::arrow::WriteTable(table, arrow::default_memory_pool(), sink, layout.group_rows, properties).ok());
  return sink->Finish().ValueOrDie();
}

struct Read {
  std::vector<BatchPtr> batches;
  std::vector<int64_t> first_rows;
  ParquetReadMetrics metrics;
  Status status;
};

Read ReadAllBatches(const std::shared_ptr<arrow::Buffer>& bytes, const ParquetReadOptions& options,
                    const Context& context) {
  Read read;
  auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet", options, context);
  if (!file.ok()) return {{}, {}, {}, file.status()};
  std::vector<int> leaves((*file)->file_schema().leaves.size()), groups((*file)->num_row_groups());
  std::iota(leaves.begin(), leaves.end(), 0);
  std::iota(groups.begin(), groups.end(), 0);
  auto reader = (*file)->Read(leaves, groups);
  read.status = reader.status();
  while (read.status.ok()) {
    auto batch = (*reader)->Next();
    read.status = batch.status();
    if (!batch.ok() || *batch == nullptr) break;
    // A copy: what a caller keeps would count against the reader's budget.
    read.batches.push_back((*batch)->CopyTo(arrow::default_cpu_memory_manager()).ValueOrDie());
    read.first_rows.push_back((*reader)->first_row());
  }
  if (reader.ok()) read.metrics = (*reader)->metrics();
  return read;
}

Context WithThreads(int threads) {
  Context context;
  context.threads = threads;
  return context;
}

void ExpectSameBatches(const Read& got, const Read& expected) {
  ASSERT_TRUE(got.status.ok()) << got.status;
  ASSERT_EQ(got.batches.size(), expected.batches.size());
  EXPECT_EQ(got.first_rows, expected.first_rows);
  for (size_t i = 0; i < got.batches.size(); ++i) {
    ASSERT_TRUE(got.batches[i]->ValidateFull().ok());
    ASSERT_EQ(got.batches[i]->num_rows(), expected.batches[i]->num_rows()) << i;
    ASSERT_TRUE(got.batches[i]->Equals(*expected.batches[i], true, kNansEqual)) << i;
  }
}

class ParallelRead : public ::testing::TestWithParam<Layout> {};

TEST_P(ParallelRead, SameBatchesForAnyNumberOfThreads) {
  const auto table = RandomTable(30000);
  const auto bytes = Write(*table, GetParam());
  for (int64_t batch_rows : {777, 65536}) {
    ParquetReadOptions options;
    options.batch_rows = batch_rows;
    const Read expected = ReadAllBatches(bytes, options, WithThreads(1));
    ASSERT_TRUE(expected.status.ok()) << expected.status;
    testing::ExpectSameTable(arrow::Table::FromRecordBatches(expected.batches[0]->schema(), expected.batches), table);
    for (int threads : {2, 3, 8}) {
      const Read got = ReadAllBatches(bytes, options, WithThreads(threads));
      ExpectSameBatches(got, expected);
      EXPECT_EQ(got.metrics.pages_read, expected.metrics.pages_read);
      EXPECT_EQ(got.metrics.bytes_decompressed, expected.metrics.bytes_decompressed);
      EXPECT_EQ(got.metrics.rows, 30000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ParallelRead,
                         ::testing::Values(Layout{}, Layout{30000, 1000}, Layout{1000, 1 << 20},
                                           Layout{15000, 4000, arrow::Compression::UNCOMPRESSED}));

TEST(ParallelReadMemory, SameBatchesUnderABudgetThatCutsThem) {
  // Strings of which few go into a batch: columns end their pieces at different rows.
  testing::RandomArrays arrays(3, {.null_probability = 0.1});
  arrow::StringBuilder large, small;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(large.Append(std::string(static_cast<size_t>(i * 37 % 2000), 'x')).ok());
    ASSERT_TRUE(small.Append(std::string(static_cast<size_t>(i * 11 % 300), 'y')).ok());
  }
  const auto schema = arrow::schema({field("n", arrow::int64()), field("a", arrow::utf8()), field("b", arrow::utf8())});
  const auto table = arrow::Table::Make(
      schema, {arrays.Make(*schema->field(0), 3000), large.Finish().ValueOrDie(), small.Finish().ValueOrDie()});
  const auto bytes = Write(*table, {1500, 10000});
  Context context = WithThreads(1);
  context.memory_budget_bytes = 8 << 20;  // half a MiB of a column in a batch
  const Read expected = ReadAllBatches(bytes, {}, context);
  ASSERT_TRUE(expected.status.ok()) << expected.status;
  EXPECT_GT(expected.batches.size(), 4u);
  testing::ExpectSameTable(arrow::Table::FromRecordBatches(expected.batches[0]->schema(), expected.batches), table);
  for (int threads : {2, 8}) {
    context.threads = threads;
    ExpectSameBatches(ReadAllBatches(bytes, {}, context), expected);
  }
}

/// Reads to the end, keeping one batch at a time; returns the most memory in use, and that after the first tenth.
struct Peaks {
  int64_t early = 0, all = 0, batches = 0;
  Status status;
};
Peaks PeaksOf(const std::shared_ptr<arrow::Buffer>& bytes, int64_t batch_rows, Context context, int64_t early_batches) {
  MemoryBudget pool(arrow::default_memory_pool(), 0);
  context.pool = &pool;
  ParquetReadOptions options;
  options.batch_rows = batch_rows;
  auto file =
      ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet", options, context).ValueOrDie();
  auto reader = file->ReadAll().ValueOrDie();
  Peaks peaks;
  while (true) {
    BatchPtr batch;
    peaks.status = reader->ReadNext(&batch);
    if (!peaks.status.ok() || batch == nullptr) break;
    if (++peaks.batches == early_batches) peaks.early = pool.max_memory();
  }
  peaks.all = pool.max_memory();
  reader.reset();
  EXPECT_EQ(pool.bytes_allocated(), 0);
  return peaks;
}

TEST(ParallelReadMemory, IsFlatOverAFileOfAnyLength) {
  const auto bytes = Write(*RandomTable(300000), {10000, 50000});
  for (int threads : {1, 4}) {
    const Peaks peaks = PeaksOf(bytes, 1000, WithThreads(threads), 60);
    ASSERT_TRUE(peaks.status.ok()) << peaks.status;
    EXPECT_EQ(peaks.batches, 300);
    // How far other threads have got by then is theirs to say.
    if (threads == 1) EXPECT_LT(peaks.all, peaks.early + peaks.early / 2);
    EXPECT_LT(peaks.all, 32 << 20) << threads;
  }
}

TEST(ParallelReadMemory, StaysWithinTheBudget) {
  const auto bytes = Write(*RandomTable(100000), {20000, 50000});
  const int64_t free = PeaksOf(bytes, 5000, WithThreads(1), 1).all;
  for (int threads : {1, 2, 8}) {
    Context context = WithThreads(threads);
    context.memory_budget_bytes = 16 << 20;
    const Peaks peaks = PeaksOf(bytes, 5000, context, 1);
    EXPECT_TRUE(peaks.status.ok()) << threads << " " << peaks.status << " (without a budget " << free << ")";
    EXPECT_LE(peaks.all, context.memory_budget_bytes);
  }
  Context small = WithThreads(2);
  small.memory_budget_bytes = 10000;
  const Status status = PeaksOf(bytes, 5000, small, 1).status;
  EXPECT_TRUE(status.IsOutOfMemory()) << status;
  EXPECT_THAT(status.message(), ::testing::HasSubstr("memory budget"));
}

TEST(ParallelReadMemory, BatchesOutliveTheirReader) {
  const auto table = RandomTable(5000);
  Context context = WithThreads(4);
  context.memory_budget_bytes = 64 << 20;
  const Read read = ReadAllBatches(Write(*table, {}), {}, context);
  ASSERT_TRUE(read.status.ok()) << read.status;
  testing::ExpectSameTable(arrow::Table::FromRecordBatches(read.batches[0]->schema(), read.batches), table);
}

TEST(ParallelReadErrors, BatchesBeforeADamagedPageStillCome) {
  const auto table = RandomTable(20000);
  const auto good = Write(*table, {20000, 2000});
  std::string bytes = good->ToString();
  const size_t middle = bytes.size() / 2;
  for (size_t i = 0; i < 64; ++i) bytes[middle + i] = static_cast<char>(bytes[middle + i] ^ 0x5a);
  const auto damaged = arrow::Buffer::FromString(bytes);
  const Read expected = ReadAllBatches(damaged, {.batch_rows = 500}, WithThreads(1));
  ASSERT_FALSE(expected.status.ok());
  for (int threads : {2, 8}) {
    const Read got = ReadAllBatches(damaged, {.batch_rows = 500}, WithThreads(threads));
    EXPECT_EQ(got.status.message(), expected.status.message());
    EXPECT_EQ(got.batches.size(), expected.batches.size());
    EXPECT_EQ(got.first_rows, expected.first_rows);
  }
}

TEST(ParallelReadErrors, Cancelled) {
  const auto bytes = Write(*RandomTable(20000), {2000});
  arrow::StopSource source;
  const arrow::StopToken token = source.token();
  for (int threads : {1, 4}) {
    source.Reset();
    Context context = WithThreads(threads);
    context.stop = &token;
    ParquetReadOptions options{.batch_rows = 100};
    auto file = ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(bytes), "x.parquet", options, context)
                    .ValueOrDie();
    auto reader = file->ReadAll().ValueOrDie();
    BatchPtr batch;
    ASSERT_TRUE(reader->ReadNext(&batch).ok());
    source.RequestStop();
    EXPECT_TRUE(reader->ReadNext(&batch).IsCancelled());
    EXPECT_TRUE(reader->ReadNext(&batch).IsCancelled());
  }
}

TEST(ParquetReadMetrics, CountWhatWasRead) {
  const auto table = RandomTable(10000);
  const auto bytes = Write(*table, {5000});
  for (int threads : {1, 4}) {
    const Read read = ReadAllBatches(bytes, {}, WithThreads(threads));
    ASSERT_TRUE(read.status.ok());
    EXPECT_EQ(read.metrics.row_groups_read, 2);
    EXPECT_EQ(read.metrics.row_groups_skipped, 0);
    EXPECT_EQ(read.metrics.rows, 10000);
    // By libparquet's metadata: a dictionary and at least one data page a chunk, and all their bytes.
    auto metadata = ::parquet::ReadMetaData(std::make_shared<arrow::io::BufferReader>(bytes));
    int64_t compressed = 0, uncompressed = 0, dictionaries = 0;
    for (int g = 0; g < metadata->num_row_groups(); ++g) {
      for (int c = 0; c < metadata->num_columns(); ++c) {
        const auto chunk = metadata->RowGroup(g)->ColumnChunk(c);
        compressed += chunk->total_compressed_size();
        uncompressed += chunk->total_uncompressed_size();
        dictionaries += chunk->has_dictionary_page() ? 1 : 0;
      }
    }
    EXPECT_EQ(read.metrics.bytes_read, compressed);
    EXPECT_LT(read.metrics.bytes_decompressed, uncompressed) << "without the page headers";
    EXPECT_GT(read.metrics.bytes_decompressed, uncompressed * 9 / 10);
    EXPECT_GE(read.metrics.pages_read, dictionaries + 2 * metadata->num_columns());
    EXPECT_GT(read.metrics.decode_ns, 0);
    EXPECT_GT(read.metrics.decompress_ns, 0);
  }
}

TEST(ParquetFileInput, MappedAndReadAreTheSame) {
  testing::TempFolder folder;
  const auto table = RandomTable(5000);
  const std::string path = folder / "t.parquet";
  for (auto codec : {arrow::Compression::ZSTD, arrow::Compression::UNCOMPRESSED}) {
    testing::WriteText(path, Write(*table, {2000, 5000, codec})->ToString());
    for (bool memory_map : {false, true}) {
      for (int threads : {1, 4}) {
        ParquetReadOptions options;
        options.memory_map = memory_map;
        auto file = ParquetReader::Open(path, options, WithThreads(threads)).ValueOrDie();
        testing::ExpectSameTable((*file->ReadAll())->ToTable(), table);
      }
    }
  }
}

/// Counts the reads of a file of unknown origin, as those of object stores.
class CountingFile : public arrow::io::RandomAccessFile {
 public:
  explicit CountingFile(std::shared_ptr<arrow::Buffer> bytes) : file_(std::move(bytes)) {}
  Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    ++reads;
    return file_.ReadAt(position, size, out);
  }
  Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    ++reads;
    return file_.ReadAt(position, size);
  }
  Status Close() override { return file_.Close(); }
  bool closed() const override { return file_.closed(); }
  Status Seek(int64_t position) override { return file_.Seek(position); }
  Result<int64_t> Tell() const override { return file_.Tell(); }
  Result<int64_t> GetSize() override { return file_.GetSize(); }
  Result<int64_t> Read(int64_t size, void* out) override { return file_.Read(size, out); }
  Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override { return file_.Read(size); }

  std::atomic<int> reads{0};

 private:
  arrow::io::BufferReader file_;
};

TEST(ParquetFileInput, SmallChunksAreReadTogether) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  testing::RandomArrays arrays(5, {});
  for (int i = 0; i < 200; ++i) {
    fields.push_back(field(fmt::format("c{}", i), arrow::int32()));
    columns.push_back(arrays.Make(*fields.back(), 1000));
  }
  const auto table = arrow::Table::Make(arrow::schema(fields), columns);
  const auto bytes = Write(*table, {500});
  for (int threads : {1, 4}) {
    auto file = std::make_shared<CountingFile>(bytes);
    testing::ExpectSameTable(testing::ReadWithCalve(file, {}, {}, WithThreads(threads)), table);
    EXPECT_LE(file->reads, 2 + 2 + 2) << "the footer, and a read a row group; one of them in halves at most";
    // Far apart, or where nothing is won by reading over a gap, columns are read alone.
    ParquetReadOptions options;
    options.read_latency_us = 0;
    file = std::make_shared<CountingFile>(bytes);
    const auto read = testing::ReadWithCalve(file, options, {"c0", "c100", "c199"}, WithThreads(threads));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_GE(file->reads, 6);
  }
}

}  // namespace
}  // namespace calve
