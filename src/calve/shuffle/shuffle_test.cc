#include "calve/shuffle.h"

#include "json_arrays.h"
#include "shuffle_files_testing.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using testing::Batch;
using testing::CheckNumbered;
using testing::Cut;
using testing::Every;
using testing::Ids;
using testing::Numbered;
using testing::ReadAll;
using testing::TempFolder;
using testing::WriteTask;

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

}  // namespace
}  // namespace calve
