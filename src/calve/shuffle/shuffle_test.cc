#include "calve/shuffle.h"

#include "calve/shuffle/row_buffer.h"
#include "comet_data.h"
#include "json_arrays.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/util/bit_util.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <thread>

namespace calve {
namespace {

using testing::Batch;
using testing::TempFolder;
namespace fs = std::filesystem;

std::vector<uint8_t> IndexBytes(const std::vector<int64_t>& offsets, bool big_endian) {
  std::vector<uint8_t> bytes;
  for (const int64_t offset : offsets) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(offset >> (big_endian ? 56 - 8 * i : 8 * i)));
  }
  return bytes;
}

// ---------------------------------------------------------------------- the index

TEST(ShuffleIndex, BothByteOrders) {
  for (const bool big_endian : {true, false}) {
    const auto index = ParseShuffleIndex(IndexBytes({0, 5, 5, 700}, big_endian), 700);
    ASSERT_TRUE(index.ok()) << index.status();
    EXPECT_EQ(index->offsets, (std::vector<int64_t>{0, 5, 5, 700}));
    EXPECT_EQ(index->order, big_endian ? ShuffleIndexOrder::kBigEndian : ShuffleIndexOrder::kLittleEndian);
    EXPECT_EQ(index->partitions(), 3);
  }
  EXPECT_EQ(ParseShuffleIndex(IndexBytes({0, 0}, false), 0)->partitions(), 1);
}

TEST(ShuffleIndex, RefusesWhatDoesNotFit) {
  const auto bytes = IndexBytes({0, 5, 700}, true);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(ParseShuffleIndex(std::span(bytes).first(size), 700).status().IsInvalid()) << size;
  }
  EXPECT_TRUE(ParseShuffleIndex(bytes, 701).status().IsInvalid());
  EXPECT_TRUE(ParseShuffleIndex(IndexBytes({1, 700}, true), 700).status().IsInvalid());
  const auto status = ParseShuffleIndex(IndexBytes({0, 900, 700}, true), 700).status();
  EXPECT_NE(status.message().find("byte 16"), std::string::npos) << status;
  EXPECT_TRUE(ParseShuffleIndex(IndexBytes({0, -1, 700}, true), 700).status().IsInvalid());
}

// ---------------------------------------------------------------------- helpers

std::shared_ptr<arrow::Table> ReadAll(const arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>& reader) {
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return nullptr;
  auto table = (*reader)->ToTable();
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return nullptr;
  EXPECT_TRUE((*table)->ValidateFull().ok()) << (*table)->ValidateFull();
  return *table;
}

std::vector<int64_t> Ids(const arrow::Table& table) {
  std::vector<int64_t> ids;
  for (const auto& chunk : table.GetColumnByName("id")->chunks()) {
    const auto& values = static_cast<const arrow::Int64Array&>(*chunk);
    ids.insert(ids.end(), values.raw_values(), values.raw_values() + values.length());
  }
  return ids;
}

arrow::Result<ShuffleTaskResult> WriteTask(const std::string& folder, int64_t task,
                                           const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                                           PartitionerResult partitioner, const ShuffleWriteOptions& options = {}) {
  ARROW_ASSIGN_OR_RAISE(auto routes, std::move(partitioner));
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        ShuffleTaskWriter::Make(folder, task, batches[0]->schema(), std::move(routes), options));
  for (const auto& batch : batches) ARROW_RETURN_NOT_OK(writer->Write(batch));
  return writer->Commit();
}

/// `batch` in parts of `rows` rows, each with buffers of its own.
std::vector<std::shared_ptr<arrow::RecordBatch>> Cut(const std::shared_ptr<arrow::RecordBatch>& batch, int64_t rows) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
  for (int64_t at = 0; at < batch->num_rows(); at += rows) {
    arrow::ArrayVector columns;
    for (const auto& column : batch->columns()) {
      columns.push_back(arrow::Concatenate({column->Slice(at, rows)}).ValueOrDie());
    }
    parts.push_back(arrow::RecordBatch::Make(batch->schema(), columns[0]->length(), columns));
  }
  return parts;
}

/// Rows whose columns all follow from their id.
std::shared_ptr<arrow::RecordBatch> Numbered(int64_t first, int64_t count) {
  arrow::Int64Builder ids, keys;
  arrow::StringBuilder texts;
  arrow::DoubleBuilder numbers;
  for (int64_t id = first; id < first + count; ++id) {
    EXPECT_TRUE(ids.Append(id).ok() && keys.Append(id * 7919 % 100003).ok());
    EXPECT_TRUE((id % 11 == 0 ? texts.AppendNull() : texts.Append("row " + std::to_string(id * id))).ok());
    EXPECT_TRUE(numbers.Append(static_cast<double>(id) / 8).ok());
  }
  const auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("key", arrow::int64()),
                                     arrow::field("text", arrow::utf8()), arrow::field("number", arrow::float64())});
  return arrow::RecordBatch::Make(schema, count,
                                  {ids.Finish().ValueOrDie(), keys.Finish().ValueOrDie(), texts.Finish().ValueOrDie(),
                                   numbers.Finish().ValueOrDie()});
}

/// Checks that every row of every partition belongs there, is what Numbered made, and that rows of a task are in order.
/// Returns the number of rows.
int64_t CheckNumbered(const ShuffleReader& reader, int64_t rows_a_task, const std::vector<int32_t>& partitions) {
  int64_t rows = 0;
  auto partitioner = MakeHashPartitioner(reader.schema(), {"key"}, reader.partitions()).ValueOrDie();
  for (const int32_t partition : partitions) {
    auto batches = reader.ReadPartition(partition).ValueOrDie();
    int64_t before = -1;
    while (true) {
      auto batch = batches->Next();
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || *batch == nullptr) break;
      std::vector<uint32_t> assigned(static_cast<size_t>((*batch)->num_rows()));
      EXPECT_TRUE(partitioner->Assign(**batch, assigned).ok());
      EXPECT_TRUE(std::all_of(assigned.begin(), assigned.end(),
                              [&](uint32_t p) { return p == static_cast<uint32_t>(partition); }));
      const auto& ids = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
      for (int64_t i = 0; i < ids.length(); ++i) {
        const int64_t id = ids.Value(i);
        const bool in_order = id > before;
        const auto expected = static_cast<const arrow::StringArray&>(*(*batch)->column(2)).GetView(i);
        if (!in_order || static_cast<const arrow::Int64Array&>(*(*batch)->column(1)).Value(i) != id * 7919 % 100003 ||
            (*batch)->column(2)->IsNull(i) != (id % 11 == 0) ||
            (id % 11 != 0 && expected != "row " + std::to_string(id * id))) {
          ADD_FAILURE() << "partition " << partition << ": row " << id << " after " << before;
          return rows;
        }
        before = id;
      }
      rows += ids.length();
    }
  }
  return rows;
}

std::vector<int32_t> Every(int32_t partitions) {
  std::vector<int32_t> all;
  for (int32_t p = 0; p < partitions; ++p) all.push_back(p);
  return all;
}

size_t OpenFiles() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

// ---------------------------------------------------------------------- writing and reading

// Spark's partitions hold the ids that Comet's do, in the same order, spilled or not.
TEST(Shuffle, HoldsTheRowsOfCometsShuffle) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  const auto inputs = testing::CometInput(comet, "input");
  const auto theirs = ShuffleReader::Open(comet + "/native_lz4_hash_k");
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  ASSERT_EQ((*theirs)->partitions(), 7);
  for (const int64_t budget : {int64_t{1} << 30, int64_t{900} << 10}) {
    TempFolder folder;
    int64_t spills = 0;
    for (size_t task = 0; task < 2; ++task) {
      const auto result =
          WriteTask(folder.path(), static_cast<int64_t>(task), Cut(inputs[task], 100),
                    MakeHashPartitioner(inputs[task]->schema(), {"k"}, 7), {.memory_budget_bytes = budget});
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->rows, inputs[task]->num_rows());
      spills += result->spills;
    }
    EXPECT_EQ(spills > 1, budget < (1 << 20)) << spills;
    const auto ours = ShuffleReader::Open(folder.path());
    ASSERT_TRUE(ours.ok()) << ours.status();
    for (int32_t partition = 0; partition < 7; ++partition) {
      const auto got = ReadAll((*ours)->ReadPartition(partition)),
                 expected = ReadAll((*theirs)->ReadPartition(partition));
      ASSERT_TRUE(got != nullptr && expected != nullptr);
      EXPECT_EQ(Ids(*got), Ids(*expected));
      const auto equal = arrow::EqualOptions::Defaults().nans_equal(true);
      for (int c = 0; c < got->num_columns(); ++c) {
        if (got->field(c)->name() == "li") continue;  // the elements' names differ, and so the types
        EXPECT_TRUE(got->column(c)->Equals(*expected->column(c), equal)) << got->field(c)->name();
      }
    }
  }
}

// For every variant of the shared data: each partition has the ids that are said to be there.
TEST(Shuffle, ReadsCometsFolders) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  int read = 0;
  for (const auto& variant : testing::ReadJson(comet + "/manifest.json")) {
    const std::string name = variant["variant"].get<std::string>();
    if (!variant["input_filter"].is_null()) continue;
    SCOPED_TRACE(name);
    const auto expected = testing::ReadJson(comet + "/" + name + "/partition_by_id.json").get<std::vector<int32_t>>();
    const auto reader = ShuffleReader::Open(comet + "/" + name);
    ASSERT_TRUE(reader.ok()) << reader.status();
    int64_t rows = 0;
    for (int32_t partition = 0; partition < (*reader)->partitions(); ++partition) {
      auto batches = (*reader)->ReadPartition(partition).ValueOrDie();
      while (true) {
        const auto batch = batches->Next();
        ASSERT_TRUE(batch.ok()) << batch.status();
        if (*batch == nullptr) break;
        const auto& ids = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
        for (int64_t i = 0; i < ids.length(); ++i) ASSERT_EQ(expected[static_cast<size_t>(ids.Value(i))], partition);
        rows += ids.length();
      }
    }
    EXPECT_EQ(rows, static_cast<int64_t>(expected.size()));
    ++read;
  }
  EXPECT_EQ(read, 59);
}

TEST(Shuffle, SpillingChangesNothing) {
  const auto batches = Cut(Numbered(0, 20000), 1000);
  for (const auto codec : {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd, ShuffleCodec::kSnappy}) {
    TempFolder folder;
    ShuffleWriteOptions options{.blocks = {.codec = codec}, .memory_budget_bytes = 600 << 10, .checksums = true};
    const auto result =
        WriteTask(folder.path(), 3, batches, MakeHashPartitioner(batches[0]->schema(), {"key"}, 50), options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_GT(result->spills, 2);
    EXPECT_EQ(result->rows, 20000);
    EXPECT_LE(result->peak_memory_bytes, options.memory_budget_bytes * 11 / 10);
    EXPECT_EQ(testing::FileNames(folder.path()),
              (std::vector<std::string>{"shuffle_0.schema", "shuffle_0_3_0.checksum.CRC32C", "shuffle_0_3_0.data",
                                        "shuffle_0_3_0.index"}));
    const auto reader = ShuffleReader::Open(folder.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(CheckNumbered(**reader, 20000, Every(50)), 20000);
  }
}

TEST(Shuffle, MorePartitionsThanRows) {
  TempFolder folder;
  const auto batch = Numbered(0, 100);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeHashPartitioner(batch->schema(), {"key"}, 10000),
                        {.index_order = ShuffleIndexOrder::kLittleEndian})
                  .ok());
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_EQ(reader->tasks()[0].index.order, ShuffleIndexOrder::kLittleEndian);
  EXPECT_EQ(CheckNumbered(*reader, 100, Every(10000)), 100);
}

TEST(Shuffle, AnEmptyShuffleKeepsItsSchema) {
  TempFolder folder;
  const auto schema =
      arrow::schema({testing::IdField("a", arrow::list(arrow::utf8()), 7)}, arrow::key_value_metadata({{"k", "v"}}));
  const auto result = WriteTask(folder.path(), 0, {Batch(schema, "[]")}, MakeRoundRobinPartitioner(schema, 4));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->data_bytes, 0);
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_TRUE(reader->schema()->Equals(*schema, true)) << reader->schema()->ToString(true);
  EXPECT_EQ(ReadAll(reader->ReadPartition(3))->num_rows(), 0);
  EXPECT_TRUE(reader->ReadPartition(4).status().IsInvalid());
}

TEST(Shuffle, RowsWithoutColumns) {
  TempFolder folder;
  const auto batch = arrow::RecordBatch::Make(arrow::schema(arrow::FieldVector{}), 12, arrow::ArrayVector{});
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch, batch}, MakeRoundRobinPartitioner(batch->schema(), 3)).ok());
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_EQ((*reader->ReadPartition(0))->Next().ValueOrDie()->num_rows(), 24);
  EXPECT_EQ((*reader->ReadPartition(1))->Next().ValueOrDie(), nullptr);
}

// Some blocks hold the dictionary, some its values; a reader gets what the schema says.
TEST(Shuffle, DictionaryColumnsComeBackAsSuch) {
  const auto type = arrow::dictionary(arrow::int16(), arrow::utf8());
  std::string many = "[", few = "[";
  for (int i = 0; i < 2000; ++i) {
    many += fmt::format("{}\"one of ten texts, and this is number {}\"", i ? ", " : "", i % 10);
    few += fmt::format("{}\"text number {}\"", i ? ", " : "", i);
  }
  const auto encode = [&](const std::string& json) {
    const auto values = testing::Array(arrow::utf8(), json + "]");
    const auto encoded = arrow::compute::DictionaryEncode(values).ValueOrDie().make_array();
    const auto& dictionary = static_cast<const arrow::DictionaryArray&>(*encoded);
    return arrow::DictionaryArray::FromArrays(
               type, arrow::compute::Cast(*dictionary.indices(), arrow::int16()).ValueOrDie(), dictionary.dictionary())
        .ValueOrDie();
  };
  const auto schema = arrow::schema({arrow::field("d", type)});
  TempFolder folder;
  int64_t task = 0;
  std::vector<int64_t> sizes;
  for (const auto& column : {encode(many), encode(few)}) {
    const auto batch = arrow::RecordBatch::Make(schema, column->length(), {column});
    const auto result =
        WriteTask(folder.path(), task++, {batch}, MakeSinglePartitioner(), {.blocks = {.codec = ShuffleCodec::kNone}});
    ASSERT_TRUE(result.ok()) << result.status();
    sizes.push_back(result->data_bytes);
  }
  EXPECT_LT(sizes[0], 2000 * 6);  // dictionaries kept are smaller than values
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  const auto table = ReadAll(reader->ReadPartition(0));
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->column(0)->type()->Equals(*type));
  const auto dense = arrow::compute::Cast(table->column(0), arrow::utf8()).ValueOrDie().chunked_array();
  const auto expected =
      arrow::Concatenate({testing::Array(arrow::utf8(), many + "]"), testing::Array(arrow::utf8(), few + "]")});
  EXPECT_TRUE(dense->Equals(arrow::ChunkedArray(expected.ValueOrDie())));
}

// ---------------------------------------------------------------------- memory

TEST(ShuffleRowBuffer, RowsLieByPartitionInTheirOrder) {
  const auto batch = Batch(arrow::schema({arrow::field("a", arrow::int32())}), "[[10], [11], [12], [13], [14]]");
  shuffle::RowBuffer buffer(4, arrow::default_memory_pool());
  buffer.Add(buffer.Prepare(batch, std::vector<uint32_t>{2, 0, 2, 3, 0}).ValueOrDie());
  const auto values = [&](int32_t partition) {
    std::vector<ShuffleRows> rows;
    buffer.RowsOf(partition, &rows);
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
  EXPECT_TRUE(buffer.Prepare(batch, std::vector<uint32_t>{0, 0, 0, 0, 4}).status().IsInvalid());
}

TEST(ShuffleRowBuffer, SharedBuffersCountOnce) {
  const auto whole = Numbered(0, 100000);
  shuffle::RowBuffer buffer(4, arrow::default_memory_pool());
  const std::vector<uint32_t> partitions(500, 1);
  // Slices of something large keep nothing of it alive.
  for (int64_t at = 0; at < 1000; at += 500) buffer.Add(buffer.Prepare(whole->Slice(at, 500), partitions).ValueOrDie());
  EXPECT_GE(buffer.batch_bytes(), 1000 * 24);
  EXPECT_LT(buffer.held_bytes(), 100 << 10);
  // A dictionary is shared.
  std::string json = "[";
  for (int i = 0; i < 500; ++i) json += fmt::format("{}\"text number {} of the dictionary\"", i ? ", " : "", i);
  const auto encoded =
      arrow::compute::DictionaryEncode(testing::Array(arrow::utf8(), json + "]")).ValueOrDie().make_array();
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("d", encoded->type())}), 500, {encoded});
  shuffle::RowBuffer dictionaries(4, arrow::default_memory_pool());
  dictionaries.Add(dictionaries.Prepare(batch, partitions).ValueOrDie());
  const int64_t first = dictionaries.held_bytes();
  dictionaries.Add(dictionaries.Prepare(batch, partitions).ValueOrDie());
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

// ---------------------------------------------------------------------- what goes wrong

TEST(Shuffle, NothingLooksCommittedBeforeTheEnd) {
  TempFolder folder;
  const auto batches = Cut(Numbered(0, 20000), 1000);
  const auto partitioner = [&] { return MakeHashPartitioner(batches[0]->schema(), {"key"}, 10).ValueOrDie(); };
  const ShuffleWriteOptions options{.memory_budget_bytes = 600 << 10};
  {
    auto writer = ShuffleTaskWriter::Make(folder.path(), 0, batches[0]->schema(), partitioner(), options).ValueOrDie();
    for (const auto& batch : batches) ASSERT_TRUE(writer->Write(batch).ok());
    for (const auto& name : testing::FileNames(folder.path())) {
      EXPECT_TRUE(name.ends_with(".tmp") || name == "shuffle_0.schema") << name;
    }
    EXPECT_TRUE(ShuffleReader::Open(folder.path()).ValueOrDie()->tasks().empty());
  }
  EXPECT_EQ(testing::FileNames(folder.path()), std::vector<std::string>{"shuffle_0.schema"});
  // What an attempt left that was killed between its last two steps is written over; what was committed is not.
  testing::WriteText(folder / "shuffle_0_0_0.data", "of an earlier attempt");
  testing::WriteText(folder / "shuffle_0_0_0.checksum.CRC32C", "of an earlier attempt");
  ASSERT_TRUE(WriteTask(folder.path(), 0, batches, partitioner(), options).ok());
  const auto reader = ShuffleReader::Open(folder.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(CheckNumbered(**reader, 20000, Every(10)), 20000);
  EXPECT_TRUE(WriteTask(folder.path(), 0, batches, partitioner(), options).status().IsAlreadyExists());
}

TEST(Shuffle, TasksHaveOneSchemaAndOneNumberOfPartitions) {
  TempFolder folder;
  const auto batch = Numbered(0, 10);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeSinglePartitioner()).ok());
  const auto other = Batch(arrow::schema({arrow::field("x", arrow::int32())}), "[[1]]");
  EXPECT_TRUE(WriteTask(folder.path(), 1, {other}, MakeSinglePartitioner()).status().IsInvalid());
  ASSERT_TRUE(WriteTask(folder.path(), 2, {batch}, MakeRoundRobinPartitioner(batch->schema(), 2)).ok());
  const auto status = ShuffleReader::Open(folder.path()).status();
  EXPECT_NE(status.message().find("1 partitions"), std::string::npos) << status;
  auto writer =
      ShuffleTaskWriter::Make(folder.path(), 3, batch->schema(), MakeSinglePartitioner().ValueOrDie()).ValueOrDie();
  EXPECT_TRUE(writer->Write(other).IsInvalid());
}

TEST(Shuffle, ChecksumsAreVerifiedBeforeARowIsReturned) {
  TempFolder folder;
  const auto batch = Numbered(0, 5000);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeHashPartitioner(batch->schema(), {"key"}, 3),
                        {.blocks = {.codec = ShuffleCodec::kNone}, .checksums = true})
                  .ok());
  auto bytes = testing::ReadText(folder / "shuffle_0_0_0.data");
  const auto index = ShuffleReader::Open(folder.path()).ValueOrDie()->tasks()[0].index;
  const auto flipped = static_cast<size_t>(index.offsets[2] - 200);  // a value near the end of partition 1
  bytes[flipped] = static_cast<char>(bytes[flipped] ^ 1);
  testing::WriteText(folder / "shuffle_0_0_0.data", bytes);
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_NE(ReadAll(reader->ReadPartition(0)), nullptr);
  EXPECT_NE(ReadAll(reader->ReadPartition(2)), nullptr);
  const auto status = (*reader->ReadPartition(1))->Next().status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_NE(status.message().find("partition 1 at byte " + std::to_string(index.offsets[1])), std::string::npos)
      << status;
  const auto trusting = ShuffleReader::Open(folder.path(), {.verify_checksums = false}).ValueOrDie();
  EXPECT_TRUE((*trusting->ReadPartition(1))->Next().ok());
}

TEST(Shuffle, DataThatIsNotTheIndexsIsRefused) {
  TempFolder folder;
  const auto batch = Numbered(0, 500);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeSinglePartitioner()).ok());
  const auto bytes = testing::ReadText(folder / "shuffle_0_0_0.data");
  testing::WriteText(folder / "shuffle_0_0_0.data", bytes.substr(0, bytes.size() - 1));
  const auto cut = ShuffleReader::Open(folder.path()).status();
  EXPECT_TRUE(cut.IsInvalid());
  EXPECT_NE(cut.message().find("shuffle_0_0_0.index"), std::string::npos) << cut;
  fs::remove(folder / "shuffle_0_0_0.data");
  EXPECT_TRUE(ShuffleReader::Open(folder.path()).status().IsInvalid());
}

/// Runs `body` in a child process; its exit code.
int InChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A file may not grow beyond a limit, as on a full disk: spilling, or the data file, fails and nothing is left.
TEST(Shuffle, AFullDiskLeavesNothing) {
  const auto batches = Cut(Numbered(0, 20000), 1000);
  for (const int64_t budget : {int64_t{600} << 10, int64_t{64} << 20}) {
    for (const rlim_t limit : {rlim_t{1000}, rlim_t{60000}}) {
      TempFolder folder;
      const int code = InChild([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit most{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &most);
        const auto status = WriteTask(folder.path(), 0, batches, MakeHashPartitioner(batches[0]->schema(), {"key"}, 10),
                                      {.memory_budget_bytes = budget})
                                .status();
        return status.IsIOError() && status.message().find(folder.path()) != std::string::npos ? 7 : 1;
      });
      EXPECT_EQ(code, 7);
      EXPECT_EQ(testing::FileNames(folder.path()), std::vector<std::string>{"shuffle_0.schema"});
    }
  }
}

// Readers see the tasks that are committed, whole, while others are being written.
TEST(Shuffle, TwoReadersAndAWriterAtOnce) {
  TempFolder folder;
  constexpr int64_t kRows = 5000;
  constexpr int kTasks = 8;
  const auto schema = Numbered(0, 1)->schema();
  const auto write = [&](int task) {
    return WriteTask(folder.path(), task, Cut(Numbered(task * kRows, kRows), 500),
                     MakeHashPartitioner(schema, {"key"}, 20), {.memory_budget_bytes = 600 << 10});
  };
  ASSERT_TRUE(write(0).ok());
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      bool last = false;
      while (!last) {
        last = done;
        const auto reader = ShuffleReader::Open(folder.path());
        ASSERT_TRUE(reader.ok()) << reader.status();
        const auto tasks = static_cast<int64_t>((*reader)->tasks().size());
        ASSERT_EQ(CheckNumbered(**reader, kRows, Every(20)), tasks * kRows);
      }
    });
  }
  for (int task = 1; task < kTasks; ++task) EXPECT_TRUE(write(task).ok());
  done = true;
  for (auto& reader : readers) reader.join();
}

TEST(Shuffle, TasksRunAtOnce) {
  TempFolder folder;
  const auto schema = Numbered(0, 1)->schema();
  std::vector<ShuffleInput> inputs;
  for (int64_t task = 0; task < 6; ++task) {
    inputs.push_back({task, [=] { return arrow::RecordBatchReader::Make(Cut(Numbered(task * 3000, 3000), 500)); }});
  }
  const auto partitioner = [&](int64_t) { return MakeHashPartitioner(schema, {"key"}, 5); };
  const auto results = WriteShuffle(folder.path(), schema, inputs, partitioner, {.memory_budget_bytes = 4 << 20});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->size(), 6u);
  EXPECT_EQ((*results)[4].task, 4);
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_EQ(CheckNumbered(*reader, 3000, Every(5)), 18000);
  const auto again = WriteShuffle(folder.path(), schema, inputs, partitioner).status();
  EXPECT_TRUE(again.IsAlreadyExists()) << again;
  EXPECT_NE(again.message().find("task 0"), std::string::npos) << again;
}

}  // namespace
}  // namespace calve
