// What decoding allocates, and what its arrays report.
#include "allocation_counter.h"
#include "calve/ipc/schema_cache.h"
#include "shuffle_testing.h"

#include <arrow/c/bridge.h>
#include <arrow/util/byte_size.h>
#include <gtest/gtest.h>

#include <thread>

namespace calve {
namespace {

using testing::Allocations;
using testing::BlockOf;
using testing::StreamOf;

std::shared_ptr<arrow::Array> Numbers(int64_t rows) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < rows; ++i) EXPECT_TRUE(builder.Append(i * 7919).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::Array> Texts(int64_t rows) {
  arrow::StringBuilder builder;
  for (int64_t i = 0; i < rows; ++i) EXPECT_TRUE(builder.Append("text " + std::to_string(i * 31)).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::Array> Dictionaries(int64_t rows) {
  arrow::StringDictionary32Builder builder;
  for (int64_t i = 0; i < rows; ++i) EXPECT_TRUE(builder.Append("entry " + std::to_string(i % 64)).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::RecordBatch> BatchOf(std::vector<std::shared_ptr<arrow::Array>> columns) {
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns.size(); ++i)
    fields.push_back(arrow::field("c" + std::to_string(i), columns[i]->type()));
  return arrow::RecordBatch::Make(arrow::schema(fields), columns[0]->length(), columns);
}

std::shared_ptr<arrow::RecordBatch> Flat(int columns, int64_t rows) {
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (int i = 0; i < columns; ++i) arrays.push_back(i % 2 == 0 ? Numbers(rows) : Texts(rows));
  return BatchOf(arrays);
}

std::shared_ptr<arrow::Array> Lists(const std::shared_ptr<arrow::Array>& values) {
  arrow::Int32Builder offsets;
  for (int64_t i = 0; i <= values->length() / 2; ++i) EXPECT_TRUE(offsets.Append(static_cast<int32_t>(2 * i)).ok());
  return *arrow::ListArray::FromArrays(**offsets.Finish(), *values);
}

std::string Repeat(const std::string& block, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += block;
  return all;
}

int64_t ArraysIn(const arrow::ArrayData& array) {
  int64_t count = 1 + (array.dictionary ? ArraysIn(*array.dictionary) : 0);
  for (const auto& child : array.child_data) count += ArraysIn(*child);
  return count;
}

/// Allocations of each block of `blocks` after the first few, the most of them.
int64_t MostAllocationsABlock(const std::string& block, bool keep, bool from_stream = false) {
  Allocations counted;
  testing::CountingPool pool(&counted);
  Context context;
  context.pool = &pool;
  const auto buffer = testing::BufferOf(Repeat(block, 20));
  auto reader = from_stream ? ShuffleBlockReader::Make(std::make_shared<arrow::io::BufferReader>(buffer), {}, context)
                            : ShuffleBlockReader::Make(buffer, {}, context);
  std::vector<std::shared_ptr<arrow::RecordBatch>> kept;
  kept.reserve(32);
  int64_t most = 0;
  for (int i = 0; i < 20; ++i) {
    counted.count = 0;
    const testing::CountNew count(&counted);
    auto batch = *reader->Next();
    if (i >= 5) most = std::max(most, counted.count);
    if (keep) kept.push_back(std::move(batch));
  }
  kept.clear();
  EXPECT_LE(pool.bytes_allocated(), 0);
  return most;
}

const std::vector<ShuffleCodec> kCodecs = {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd};

TEST(BlockMemory, SteadyStateTakesTwoAllocationsOrFewerABlock) {
  for (const ShuffleCodec codec : kCodecs) {
    for (const auto& batch : {Flat(5, 64), Flat(50, 512), Flat(5, 8192), BatchOf({Dictionaries(64), Dictionaries(64)}),
                              BatchOf({Dictionaries(8192), Numbers(8192), Dictionaries(8192)}),
                              BatchOf({Lists(Texts(100)), Lists(Lists(Numbers(200)))})}) {
      const std::string block = BlockOf(StreamOf(*batch), codec);
      EXPECT_LE(MostAllocationsABlock(block, false), 2) << ToString(codec) << batch->schema()->ToString();
      EXPECT_LE(MostAllocationsABlock(block, false, true), 2) << "stream, " << ToString(codec);
    }
  }
}

TEST(BlockMemory, KeptBatchesTakeFourAndTwoAnArray) {
  for (const ShuffleCodec codec : kCodecs) {
    for (const auto& batch : {Flat(1, 64), Flat(5, 64), Flat(50, 512), BatchOf({Dictionaries(64), Dictionaries(64)}),
                              BatchOf({Lists(Texts(100))}), BatchOf({Lists(Lists(Numbers(200))), Numbers(50)})}) {
      int64_t arrays = 0;
      for (const auto& column : batch->columns()) arrays += ArraysIn(*column->data());
      const std::string block = BlockOf(StreamOf(*batch), codec);
      EXPECT_LE(MostAllocationsABlock(block, true), 4 + 2 * arrays) << ToString(codec) << batch->schema()->ToString();
    }
  }
}

TEST(BlockMemory, TheCDataInterfaceTakesOneBodyAndOneArena) {
  for (const ShuffleCodec codec : kCodecs) {
    Allocations counted;
    testing::CountingPool pool(&counted);
    Context context;
    context.pool = &pool;
    const auto batch = BatchOf({Numbers(100), Texts(100), Dictionaries(100), Lists(Texts(200))});
    auto reader = ShuffleBlockReader::Make(testing::BufferOf(Repeat(BlockOf(StreamOf(*batch), codec), 9)), {}, context);
    for (int i = 0; i < 9; ++i) {
      ArrowArray array;
      counted.count = 0;
      {
        const testing::CountNew count(&counted);
        ASSERT_TRUE(*reader->Next(&array));
      }
      if (i > 4) {
        EXPECT_LE(counted.count, 2) << ToString(codec);
      }
      const auto imported = *arrow::ImportRecordBatch(&array, reader->schema());
      EXPECT_TRUE(imported->Equals(*batch));
      EXPECT_TRUE(imported->ValidateFull().ok());
    }
    EXPECT_LE(pool.bytes_allocated(), 0);
  }
}

TEST(BlockMemory, EqualMemoryToAPlainStreamDecode) {
  for (const auto& batch :
       {Flat(5, 100), BatchOf({Dictionaries(100), Lists(Texts(200)), Lists(Lists(Numbers(400)))})}) {
    const std::string stream = StreamOf(*batch);
    const auto plain = testing::ArrowsBatch(stream);
    for (const ShuffleCodec codec : kCodecs) {
      const auto ours = *testing::DecodeOne(BlockOf(stream, codec));
      EXPECT_EQ(arrow::util::TotalBufferSize(*ours), arrow::util::TotalBufferSize(*plain));
      EXPECT_EQ(*arrow::util::ReferencedBufferSize(*ours), *arrow::util::ReferencedBufferSize(*plain));
      for (int i = 0; i < batch->num_columns(); ++i) {
        EXPECT_EQ(arrow::util::TotalBufferSize(*ours->column(i)), arrow::util::TotalBufferSize(*plain->column(i)));
      }
    }
  }
}

/// `block` so in memory that its bodies are as aligned as in the stream, `misaligned` bytes off.
std::shared_ptr<arrow::Buffer> AlignedBlock(const std::string& block, int64_t misaligned) {
  constexpr int64_t kBodyEven = 64 - ShuffleBlockHeader::kSize;
  std::shared_ptr<arrow::Buffer> whole = *arrow::AllocateBuffer(static_cast<int64_t>(block.size()) + 128);
  std::memcpy(whole->mutable_data() + kBodyEven + misaligned, block.data(), block.size());
  return arrow::SliceBuffer(whole, kBodyEven + misaligned, static_cast<int64_t>(block.size()));
}

/// Arrow's own decode of a stream, from a buffer that it does not copy.
Allocations ArrowsAllocations(const std::string& stream) {
  Allocations counted;
  testing::CountingPool pool(&counted);
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = &pool;
  const auto input = std::make_shared<arrow::io::BufferReader>(testing::BufferOf(stream));
  const testing::CountNew count(&counted);
  auto reader = *arrow::ipc::RecordBatchStreamReader::Open(input, options);
  std::shared_ptr<arrow::RecordBatch> batch;
  EXPECT_TRUE(reader->ReadNext(&batch).ok());
  return counted;
}

Allocations OurAllocations(const std::shared_ptr<arrow::Buffer>& block, bool in_place) {
  Allocations counted;
  testing::CountingPool pool(&counted);
  Context context;
  context.pool = &pool;
  for (const bool warm : {false, true}) {
    auto reader = ShuffleBlockReader::Make(block, {}, context);
    counted = {};
    const testing::CountNew count(&counted);
    std::vector<std::shared_ptr<arrow::RecordBatch>> kept = {*reader->Next()};
    EXPECT_EQ(reader->metrics().in_place, in_place ? 1 : 0);
    EXPECT_EQ(reader->metrics().schema_hits, warm ? 1 : 0);
  }
  return counted;
}

TEST(BlockMemory, FewerAllocationsThanAPlainStreamDecode) {
  for (const auto& batch : {Flat(5, 64), Flat(50, 64), BatchOf({Dictionaries(64), Lists(Texts(128))})}) {
    const std::string stream = StreamOf(*batch), block = BlockOf(stream);
    ipc::ThreadSchemaCache().Clear();
    const Allocations arrows = ArrowsAllocations(stream), ours = OurAllocations(AlignedBlock(block, 0), true);
    EXPECT_LT(ours.count, arrows.count);
    EXPECT_LT(ours.bytes, arrows.bytes);
    EXPECT_LT(ours.peak, arrows.peak);
    // Where the body has to be copied, that is all that is added.
    ipc::ThreadSchemaCache().Clear();
    const Allocations copied = OurAllocations(AlignedBlock(block, 2), false);
    EXPECT_EQ(copied.count, ours.count + 1);
    EXPECT_LT(copied.bytes, ours.bytes + static_cast<int64_t>(stream.size()));
  }
}

TEST(BlockMemory, ABodyIsFreedWhenItsBatchIsDropped) {
  Allocations counted;
  testing::CountingPool pool(&counted);
  Context context;
  context.pool = &pool;
  const std::string block = BlockOf(StreamOf(*Flat(3, 100)), ShuffleCodec::kLz4);
  auto reader = ShuffleBlockReader::Make(testing::BufferOf(Repeat(block, 4)), {}, context);
  auto batch = *reader->Next();
  EXPECT_GT(pool.bytes_allocated(), 0);
  batch.reset();
  EXPECT_EQ(pool.bytes_allocated(), 0);
  // One buffer kept keeps its bytes, and the batch's other objects are not used again while it is.
  batch = *reader->Next();
  const auto kept = batch->column_data(1)->buffers[2];
  const std::string text = kept->ToString();
  batch.reset();
  EXPECT_GT(pool.bytes_allocated(), 0);
  batch = *reader->Next();
  EXPECT_EQ(reader->metrics().skeletons_reused, 1);
  EXPECT_EQ(kept->ToString(), text);
}

TEST(BlockMemory, PartsOfABatchOutliveIt) {
  const auto batch = BatchOf({Lists(Texts(200)), Dictionaries(100)});
  const std::string block = BlockOf(StreamOf(*batch));
  auto reader = ShuffleBlockReader::Make(testing::BufferOf(Repeat(block, 40)));
  std::vector<std::shared_ptr<arrow::ArrayData>> kept;
  arrow::ArrayVector arrays;
  for (int i = 0; i < 40; ++i) {
    const auto read = *reader->Next();
    if (i % 4 == 0) kept.push_back(read->column_data(0)->child_data[0]);
    if (i % 4 == 1) kept.push_back(read->column_data(1)->dictionary);
    if (i % 4 == 2) arrays.push_back(read->column(0));
    if (i % 4 == 3) arrays.push_back(read->Slice(10, 20)->column(1));
  }
  reader.reset();
  const auto lists = std::static_pointer_cast<arrow::ListArray>(batch->column(0));
  const auto dictionary = std::static_pointer_cast<arrow::DictionaryArray>(batch->column(1))->dictionary();
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_TRUE(arrow::MakeArray(kept[i])->Equals(i % 2 == 0 ? *lists->values() : *dictionary));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_TRUE(arrays[i]->Equals(i % 2 == 0 ? *lists : *batch->column(1)->Slice(10, 20)));
  }
}

TEST(BlockMemory, BatchesMayBeDroppedOnAnyThread) {
  const auto batch = Flat(4, 50);
  auto reader = ShuffleBlockReader::Make(testing::BufferOf(Repeat(BlockOf(StreamOf(*batch)), 200)));
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      auto read = *reader->Next();
      threads.emplace_back([&batch, mine = std::move(read)]() mutable {
        EXPECT_TRUE(mine->Equals(*batch));
        mine.reset();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_GT(reader->metrics().skeletons_reused, 100);
}

TEST(BlockMemory, AHugeLengthInASmallFileAllocatesNothing) {
  const std::string stream = StreamOf(*Flat(2, 10));
  std::string length = BlockOf(stream);
  length[3] = 0x7F;  // of the block: 2 GiB
  std::string metadata = BlockOf(stream);
  metadata[ShuffleBlockHeader::kSize + 7] = 0x7F;  // of the schema message
  for (const std::string& block : {length, metadata}) {
    for (const bool from_stream : {false, true}) {
      Allocations counted;
      testing::CountingPool pool(&counted);
      Context context;
      context.pool = &pool;
      const auto buffer = testing::BufferOf(block);
      auto reader = from_stream
                        ? ShuffleBlockReader::Make(std::make_shared<arrow::io::BufferReader>(buffer), {}, context)
                        : ShuffleBlockReader::Make(buffer, {}, context);
      const testing::CountNew count(&counted);
      EXPECT_TRUE(reader->Next().status().IsInvalid());
      EXPECT_LT(counted.peak, int64_t{3} << 20);
      if (!from_stream) {
        EXPECT_LT(counted.peak, 20000);
      }
    }
  }
}

}  // namespace
}  // namespace calve
