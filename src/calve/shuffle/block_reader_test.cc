#include "calve/ipc/schema_cache.h"
#include "ipc_messages.h"
#include "shuffle_testing.h"

#include <arrow/c/bridge.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/file.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using testing::BlockOf;
using testing::BufferOf;
using testing::DecodeOne;
using ::testing::HasSubstr;
using testing::MessagesOf;
using testing::StreamOf;

std::shared_ptr<arrow::RecordBatch> FromJson(const std::shared_ptr<arrow::Schema>& schema, int64_t rows,
                                             std::vector<std::shared_ptr<arrow::Array>> columns) {
  return arrow::RecordBatch::Make(schema, rows, std::move(columns));
}

std::shared_ptr<arrow::Array> Texts(const std::vector<std::string>& values) {
  arrow::StringBuilder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::Array> Numbers(const std::vector<int64_t>& values) {
  arrow::Int64Builder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return *builder.Finish();
}

std::shared_ptr<arrow::RecordBatch> Named(const std::string& name) {
  return FromJson(arrow::schema({arrow::field(name, arrow::int64()), arrow::field("text", arrow::utf8())}), 3,
                  {Numbers({1, 2, 3}), Texts({"one", "two", "three"})});
}

std::shared_ptr<arrow::RecordBatch> Encoded(const std::vector<std::string>& values) {
  arrow::StringDictionary32Builder builder;
  for (const auto& value : values) EXPECT_TRUE(builder.Append(value).ok());
  const auto column = *builder.Finish();
  return FromJson(arrow::schema({arrow::field("d", column->type())}), column->length(), {column});
}

/// Counts of the thread's cache since it was made.
struct CacheCounts {
  ipc::SchemaCache::Counts before = ipc::ThreadSchemaCache().counts();
  int64_t hits() const { return ipc::ThreadSchemaCache().counts().hits - before.hits; }
  int64_t misses() const { return ipc::ThreadSchemaCache().counts().misses - before.misses; }
  int64_t evicted() const { return ipc::ThreadSchemaCache().counts().evicted - before.evicted; }
};

class BlockReader : public ::testing::Test {
 protected:
  void SetUp() override { ipc::ThreadSchemaCache().Clear(); }
};

// ---- The schema cache.

TEST_F(BlockReader, ColdMissThenHit) {
  const std::string block = BlockOf(StreamOf(*Named("a")));
  const CacheCounts counts;
  auto reader = ShuffleBlockReader::Make(BufferOf(block + block + block));
  ASSERT_TRUE((*reader->Next())->Equals(*Named("a")));
  EXPECT_EQ(counts.misses(), 1);
  EXPECT_EQ(counts.hits(), 0);
  ASSERT_TRUE((*reader->Next())->Equals(*Named("a")));
  ASSERT_TRUE((*reader->Next())->Equals(*Named("a")));
  EXPECT_EQ(counts.misses(), 1);
  EXPECT_EQ(counts.hits(), 2);
  EXPECT_EQ(reader->metrics().schema_hits, 2);
  EXPECT_EQ(reader->metrics().schema_misses, 1);
  EXPECT_EQ(*reader->Next(), nullptr);
  // Another reader on this thread finds it too.
  EXPECT_TRUE(DecodeOne(block).ok());
  EXPECT_EQ(counts.hits(), 3);
}

TEST_F(BlockReader, AlternatingSchemasStayResident) {
  const CacheCounts counts;
  for (int round = 0; round < 5; ++round) {
    for (const char* name : {"a", "b", "c", "d"}) {
      ASSERT_TRUE((*DecodeOne(BlockOf(StreamOf(*Named(name)))))->Equals(*Named(name)));
    }
  }
  EXPECT_EQ(counts.misses(), 4);
  EXPECT_EQ(counts.hits(), 16);
}

TEST_F(BlockReader, EvictionPastCapacityIsOfWhatWasUsedLeastRecently) {
  const auto decode = [](size_t i) { return DecodeOne(BlockOf(StreamOf(*Named("column " + std::to_string(i))))); };
  const size_t capacity = ipc::SchemaCache::kCapacity;
  static_assert(ipc::SchemaCache::kCapacity >= 4);
  for (size_t i = 0; i < capacity; ++i) ASSERT_TRUE(decode(i).ok());
  ASSERT_TRUE(decode(0).ok());  // now 1 is the oldest
  const CacheCounts counts;
  ASSERT_TRUE(decode(capacity).ok());
  EXPECT_EQ(counts.evicted(), 1);
  ASSERT_TRUE(decode(0).ok());
  EXPECT_EQ(counts.misses(), 1);
  ASSERT_TRUE(decode(1).ok());
  EXPECT_EQ(counts.misses(), 2);
}

TEST_F(BlockReader, BatchesOutliveTheirSchemasEviction) {
  auto batch = *DecodeOne(BlockOf(StreamOf(*Named("kept"))));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(DecodeOne(BlockOf(StreamOf(*Named(std::to_string(i))))).ok());
  EXPECT_TRUE(batch->Equals(*Named("kept")));
  batch.reset();
}

// ---- Dictionaries.

TEST_F(BlockReader, ADictionaryOfOneBlockIsNeverSeenByTheNext) {
  const std::string first = BlockOf(StreamOf(*Encoded({"x", "y", "x"})));
  const std::string second = BlockOf(StreamOf(*Encoded({"p", "q"})));
  for (const bool trusted : {false, true}) {
    ShuffleBlockReadOptions options;
    options.trusted = trusted;
    auto reader = ShuffleBlockReader::Make(BufferOf(first + second + first), options);
    EXPECT_TRUE((*reader->Next())->Equals(*Encoded({"x", "y", "x"})));
    EXPECT_TRUE((*reader->Next())->Equals(*Encoded({"p", "q"})));
    EXPECT_TRUE((*reader->Next())->Equals(*Encoded({"x", "y", "x"})));
  }
}

TEST_F(BlockReader, ABlockWithoutItsDictionaryIsRefusedColdAndWarm) {
  const std::string whole = StreamOf(*Encoded({"x", "y", "x"}));
  const auto dictionary = MessagesOf(whole)[1];
  const std::string without = whole.substr(0, dictionary.begin) + whole.substr(dictionary.end);
  for (const bool trusted : {false, true}) {
    for (const bool warm : {false, true}) {
      ipc::ThreadSchemaCache().Clear();
      if (warm) {
        ASSERT_TRUE(DecodeOne(BlockOf(whole)).ok());
      }
      EXPECT_THAT(DecodeOne(BlockOf(without), trusted).status().message(),
                  HasSubstr("column 'd': its dictionary 0 is missing"));
    }
  }
}

TEST_F(BlockReader, DeltasAreNotImplemented) {
  std::string stream = StreamOf(*Encoded({"x", "y", "x"}));
  auto sink = *arrow::io::BufferOutputStream::Create();
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.emit_dictionary_deltas = true;
  auto writer = *arrow::ipc::MakeStreamWriter(sink.get(), Encoded({"x"})->schema(), options);
  ASSERT_TRUE(writer->WriteRecordBatch(*Encoded({"x"})).ok());
  ASSERT_TRUE(writer->WriteRecordBatch(*Encoded({"x", "y"})).ok());
  ASSERT_TRUE(writer->Close().ok());
  const std::string two = (*sink->Finish())->ToString();
  const auto places = MessagesOf(two);  // schema, dictionary, batch, delta, batch
  ASSERT_EQ(places.size(), 5U);
  const std::string one = two.substr(0, places[2].begin) + two.substr(places[3].begin);
  const auto status = DecodeOne(BlockOf(one)).status();
  EXPECT_TRUE(status.IsNotImplemented()) << status;
  EXPECT_THAT(status.message(), HasSubstr("delta of dictionary 0"));
}

// ---- The ends of streams.

TEST_F(BlockReader, TrailingBytesAfterTheEndMarkerAreRefusedColdAndWarm) {
  const std::string stream = StreamOf(*Named("a"));
  for (const ShuffleCodec codec : {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd}) {
    for (const std::string& extra : {std::string("x"), std::string(8, '\0'), std::string(300, 'y')}) {
      for (const bool warm : {false, true}) {
        ipc::ThreadSchemaCache().Clear();
        if (warm) {
          ASSERT_TRUE(DecodeOne(BlockOf(stream)).ok());
        }
        const auto status = DecodeOne(BlockOf(stream + extra, codec)).status();
        EXPECT_THAT(status.message(), HasSubstr("payload byte " + std::to_string(stream.size()) +
                                                ": bytes after the end-of-stream marker"));
      }
    }
  }
}

TEST_F(BlockReader, TruncationAtEveryByteIsRefusedColdAndWarm) {
  for (const auto& batch : {Named("a"), Encoded({"x", "y", "x"})}) {
    const std::string stream = StreamOf(*batch);
    const size_t marker = stream.size() - 8, last_begin = MessagesOf(stream).back().begin;
    for (const bool warm : {false, true}) {
      for (size_t size = 0; size < stream.size(); ++size) {
        if (size == marker) continue;  // that is a clean end
        ipc::ThreadSchemaCache().Clear();
        if (warm) {
          ASSERT_TRUE(DecodeOne(BlockOf(stream)).ok());
        }
        for (const bool trusted : {false, true}) {
          const auto status = DecodeOne(BlockOf(stream.substr(0, size)), trusted).status();
          ASSERT_TRUE(status.IsInvalid()) << size << status;
          ASSERT_THAT(status.message(), HasSubstr("payload byte "));
        }
      }
    }
    EXPECT_LT(last_begin, marker);
  }
}

TEST_F(BlockReader, TruncatedFilesAreRefusedAtEveryByte) {
  const std::string stream = StreamOf(*Named("a"));
  for (const ShuffleCodec codec : {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd}) {
    const std::string block = BlockOf(stream, codec);
    for (size_t size = 1; size < block.size(); ++size) {
      auto from_memory = ShuffleBlockReader::Make(BufferOf(block + block.substr(0, size)));
      ASSERT_TRUE(from_memory->Next().ok());
      ASSERT_TRUE(from_memory->Next().status().IsInvalid()) << size;
      ASSERT_TRUE(from_memory->Next().status().IsInvalid()) << "after an error comes no more";
      auto from_stream =
          ShuffleBlockReader::Make(std::make_shared<arrow::io::BufferReader>(BufferOf(block + block.substr(0, size))));
      ASSERT_TRUE(from_stream->Next().ok());
      const auto status = from_stream->Next().status();
      ASSERT_TRUE(status.IsInvalid()) << size << status;
      ASSERT_THAT(status.message(), HasSubstr("block at byte " + std::to_string(block.size())));
    }
  }
}

/// The codec's own data cut, the block's length right.
TEST_F(BlockReader, TruncatedPayloadsAreRefusedAtEveryByte) {
  const std::string stream = StreamOf(*Named("a"));
  for (const ShuffleCodec codec : {ShuffleCodec::kLz4, ShuffleCodec::kZstd}) {
    const std::string block = BlockOf(stream, codec);
    for (size_t size = ShuffleBlockHeader::kSize; size < block.size(); ++size) {
      std::string cut = block.substr(0, size);
      testing::Put<uint64_t>(&cut, 0, size - ShuffleBlockHeader::kLengthBytes);
      ASSERT_TRUE(DecodeOne(cut).status().IsInvalid()) << ToString(codec) << size;
    }
  }
}

TEST_F(BlockReader, AStreamThatEndsCleanlyWithoutItsMarkerIsValid) {
  for (const auto& batch : {Named("a"), Encoded({"x", "y", "x"})}) {
    std::string stream = StreamOf(*batch);
    stream.resize(stream.size() - 8);
    for (const ShuffleCodec codec : {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd}) {
      const auto read = DecodeOne(BlockOf(stream, codec));
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_TRUE((*read)->Equals(*batch));
    }
  }
}

TEST_F(BlockReader, ASecondOrAMissingBatchIsRefused) {
  const std::string stream = StreamOf(*Named("a"));
  const auto places = MessagesOf(stream);
  const std::string batch = stream.substr(places[1].begin, places[1].end - places[1].begin);
  const std::string end = stream.substr(places[1].end);
  const std::string two = stream.substr(0, places[1].end) + batch + end;
  EXPECT_THAT(DecodeOne(BlockOf(two)).status().message(),
              HasSubstr("payload byte " + std::to_string(places[1].end) + ": second record batch"));
  const std::string none = stream.substr(0, places[1].begin) + end;
  EXPECT_THAT(DecodeOne(BlockOf(none)).status().message(), HasSubstr("payload byte " + std::to_string(places[1].begin) +
                                                                     ": the stream ends without a record batch"));
  const std::string schemas = stream.substr(0, places[1].begin) + stream;
  EXPECT_THAT(DecodeOne(BlockOf(schemas)).status().message(), HasSubstr("second schema"));
}

// ---- Where blocks come from.

TEST_F(BlockReader, FromMemoryAMappedFileAFileAndAStreamTheSame) {
  const std::string path = ::testing::TempDir() + "/blocks.data";
  std::string blocks;
  for (const ShuffleCodec codec : {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd}) {
    blocks += BlockOf(StreamOf(*Named("a")), codec) + BlockOf(StreamOf(*Encoded({"x", "y", "x"})), codec);
  }
  std::ofstream(path, std::ios::binary) << blocks;
  std::vector<std::unique_ptr<ShuffleBlockReader>> readers;
  readers.push_back(ShuffleBlockReader::Make(BufferOf(blocks)));
  readers.push_back(*ShuffleBlockReader::Open(path));
  readers.push_back(ShuffleBlockReader::Make(*arrow::io::ReadableFile::Open(path)));
  readers.push_back(ShuffleBlockReader::Make(std::make_shared<arrow::io::BufferReader>(BufferOf(blocks))));
  for (auto& reader : readers) {
    for (int i = 0; i < 6; ++i) {
      const auto batch = reader->Next();
      ASSERT_TRUE(batch.ok()) << batch.status();
      EXPECT_TRUE((*batch)->Equals(i % 2 == 0 ? *Named("a") : *Encoded({"x", "y", "x"})));
    }
    EXPECT_EQ(*reader->Next(), nullptr);
  }
  EXPECT_THAT(ShuffleBlockReader::Open(path, 5, static_cast<int64_t>(blocks.size())).status().message(),
              HasSubstr(path));
  auto broken = *ShuffleBlockReader::Open(path, 5);
  EXPECT_THAT(broken->Next().status().message(), ::testing::AllOf(HasSubstr(path), HasSubstr("at byte 5")));
}

TEST_F(BlockReader, UncompressedBlocksAreDecodedInPlaceWhereTheirAlignmentAllows) {
  const std::string block = BlockOf(StreamOf(*Named("a")));
  const std::string texts =
      BlockOf(StreamOf(*FromJson(arrow::schema({arrow::field("t", arrow::utf8())}), 2, {Texts({"a", "bc"})})));
  std::shared_ptr<arrow::Buffer> memory = *arrow::AllocateBuffer(8192);
  for (int64_t shift = 0; shift < 16; ++shift) {
    for (const auto& [bytes, alignment] : {std::pair(block, 8), std::pair(texts, 4)}) {
      std::memcpy(memory->mutable_data() + shift, bytes.data(), bytes.size());
      auto reader = ShuffleBlockReader::Make(arrow::SliceBuffer(memory, shift, static_cast<int64_t>(bytes.size())));
      const auto batch = *reader->Next();
      const uint8_t* data = batch->column_data(0)->buffers[1]->data();
      const bool inside = data >= memory->data() && data < memory->data() + memory->size();
      EXPECT_EQ(inside, (shift + ShuffleBlockHeader::kSize) % alignment == 0) << shift;
      EXPECT_EQ(reader->metrics().in_place, inside ? 1 : 0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(inside ? alignment : 64), 0U);
    }
  }
}

TEST_F(BlockReader, ValuesAreGivenAsTheyLieWhereThatIsAskedFor) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto large = *arrow::compute::Cast(*Texts({"a", "bc"}), arrow::large_utf8());
  const std::shared_ptr<arrow::Array> runs = *arrow::RunEndEncodedArray::Make(2, Numbers({1, 2}), Numbers({5, 6}));
  const auto schema = arrow::schema(
      {arrow::field("n", arrow::int64()), arrow::field("t", arrow::large_utf8()), arrow::field("r", runs->type())});
  const auto expected = FromJson(schema, 2, {Numbers({7, 8}), large, runs});
  const std::string block = BlockOf(StreamOf(*expected));
  std::shared_ptr<arrow::Buffer> memory = *arrow::AllocateBuffer(8192);
  ShuffleBlockReadOptions options;
  options.align_values = false;
  for (int64_t shift = 0; shift < 8; ++shift) {
    std::memcpy(memory->mutable_data() + shift, block.data(), block.size());
    auto reader =
        ShuffleBlockReader::Make(arrow::SliceBuffer(memory, shift, static_cast<int64_t>(block.size())), options);
    const auto batch = *reader->Next();
    const auto lies_inside = [&](const arrow::ArrayData& array) {
      const uint8_t* data = array.buffers[1]->data();
      return data >= memory->data() && data < memory->data() + memory->size();
    };
    const auto inside = [&](int column) { return lies_inside(*batch->column_data(column)); };
    const bool aligned = (shift + ShuffleBlockHeader::kSize) % 8 == 0;
    EXPECT_TRUE(inside(0)) << shift;
    EXPECT_EQ(inside(1), aligned) << shift;
    EXPECT_EQ(lies_inside(*batch->column_data(2)->child_data[0]), aligned) << shift;
    EXPECT_TRUE(lies_inside(*batch->column_data(2)->child_data[1])) << shift;
    EXPECT_EQ(reader->metrics().in_place, aligned ? 1 : 0);
    EXPECT_EQ(std::memcmp(batch->column_data(0)->buffers[1]->data(), Numbers({7, 8})->data()->buffers[1]->data(), 16),
              0);
    EXPECT_TRUE(batch->column(1)->Equals(large));
  }
}

TEST_F(BlockReader, ABatchInPlaceKeepsItsInput) {
  std::shared_ptr<arrow::RecordBatch> batch;
  {
    const std::string block = std::string(4, '\0') + BlockOf(StreamOf(*Named("a")));
    const auto all = BufferOf(block);
    auto reader = ShuffleBlockReader::Make(arrow::SliceBuffer(all, 4, static_cast<int64_t>(block.size()) - 4));
    batch = *reader->Next();
  }
  EXPECT_TRUE(batch->Equals(*Named("a")));
}

TEST_F(BlockReader, BatchesAreArrowsInEveryWay) {
  const auto batch = *DecodeOne(BlockOf(StreamOf(*Named("a"))));
  const auto plain = Named("a");
  EXPECT_TRUE(batch->Slice(1, 2)->Equals(*plain->Slice(1, 2)));
  EXPECT_TRUE((*batch->RemoveColumn(0))->Equals(**plain->RemoveColumn(0)));
  EXPECT_TRUE((*batch->AddColumn(1, "n", Numbers({4, 5, 6})))->Equals(**plain->AddColumn(1, "n", Numbers({4, 5, 6}))));
  EXPECT_TRUE((*batch->SetColumn(0, arrow::field("n", arrow::int64()), Numbers({4, 5, 6})))->ValidateFull().ok());
  EXPECT_EQ(batch->columns().size(), 2U);
  EXPECT_EQ(batch->column_data().size(), 2U);
  EXPECT_EQ(batch->column(1), batch->column(1));
  EXPECT_TRUE(batch->ReplaceSchemaMetadata(arrow::key_value_metadata({"k"}, {"v"}))->schema()->HasMetadata());
  EXPECT_EQ(batch->ToString(), plain->ToString());
}

TEST_F(BlockReader, AMemoryBudgetIsNamedWhenItIsExceeded) {
  Context context;
  context.memory_budget_bytes = 10;
  auto reader = ShuffleBlockReader::Make(BufferOf(BlockOf(StreamOf(*Named("a")), ShuffleCodec::kLz4)), {}, context);
  const auto status = reader->Next().status();
  EXPECT_TRUE(status.IsOutOfMemory()) << status;
}

}  // namespace
}  // namespace calve
