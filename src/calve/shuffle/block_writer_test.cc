#include "calve/partitioner.h"
#include "calve/shuffle/offsets_as_lengths.h"
#include "calve/shuffle_block.h"
#include "comet_data.h"
#include "json_arrays.h"

#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace calve {
namespace {

using testing::Batch;
using Bytes = std::span<const uint8_t>;

constexpr int64_t kMost = 64 << 20;

/// Decoding by Arrow's own codecs; snappy's frames by hand around its raw snappy.
std::string Decoded(ShuffleCodec codec, Bytes payload) {
  if (codec == ShuffleCodec::kNone) return {payload.begin(), payload.end()};
  if (codec == ShuffleCodec::kSnappy) {
    std::string out;
    auto snappy = arrow::util::Codec::Create(arrow::Compression::SNAPPY).ValueOrDie();
    EXPECT_EQ(std::string(payload.begin(), payload.begin() + 10), std::string("\xff\x06\0\0sNaPpY", 10));
    for (size_t at = 10; at < payload.size();) {
      const size_t size = payload[at + 1] | payload[at + 2] << 8 | payload[at + 3] << 16;
      const uint8_t* content = payload.data() + at + 8;
      std::string chunk(65536, 0);
      if (payload[at] == 1) {
        chunk.assign(content, content + size - 4);
      } else {
        EXPECT_EQ(payload[at], 0);
        chunk.resize(static_cast<size_t>(
            snappy->Decompress(static_cast<int64_t>(size - 4), content, 65536, reinterpret_cast<uint8_t*>(chunk.data()))
                .ValueOrDie()));
      }
      out += chunk;
      at += 4 + size;
    }
    return out;
  }
  const auto type = codec == ShuffleCodec::kLz4 ? arrow::Compression::LZ4_FRAME : arrow::Compression::ZSTD;
  auto stream = arrow::util::Codec::Create(type).ValueOrDie()->MakeDecompressor().ValueOrDie();
  std::string out(static_cast<size_t>(kMost), 0);
  int64_t read = 0, written = 0;
  while (!stream->IsFinished()) {
    auto step = stream->Decompress(static_cast<int64_t>(payload.size()) - read, payload.data() + read, kMost - written,
                                   reinterpret_cast<uint8_t*>(out.data()) + written);
    EXPECT_TRUE(step.ok()) << step.status();
    if (!step.ok() || (step->bytes_read == 0 && step->bytes_written == 0)) break;
    read += step->bytes_read;
    written += step->bytes_written;
  }
  EXPECT_EQ(read, static_cast<int64_t>(payload.size())) << "bytes after the frame";
  out.resize(static_cast<size_t>(written));
  return out;
}

std::shared_ptr<arrow::RecordBatch> ReadByArrow(Bytes block, ShuffleCodec codec) {
  const auto header = ParseShuffleBlockHeader(block);
  EXPECT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->codec, codec);
  EXPECT_EQ(header->block_size(), static_cast<int64_t>(block.size()));
  arrow::io::BufferReader input(arrow::Buffer::FromString(Decoded(codec, block.subspan(20))));
  auto reader = arrow::ipc::RecordBatchStreamReader::Open(&input);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return nullptr;
  auto batch = (*reader)->Next();
  EXPECT_TRUE(batch.ok()) << batch.status();
  if (!batch.ok()) return nullptr;
  EXPECT_EQ(header->field_count, (*batch)->num_columns());
  EXPECT_TRUE((*batch)->ValidateFull().ok()) << (*batch)->ValidateFull();
  return *batch;
}

constexpr ShuffleCodec kCodecs[] = {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd,
                                    ShuffleCodec::kSnappy};

// Partitions of what Comet shuffled, as blocks: decoded by Arrow they are the rows that Take chooses.
TEST(ShuffleBlockWriter, ArrowReadsTheInputsRows) {
  CALVE_SHARED_DATA(shared);
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  for (const char* input : {"input", "input2"}) {
    const auto batches = testing::CometInput(shared + "/comet", input);
    auto partitioner = MakeHashPartitioner(batches[0]->schema(), {"id"}, 5).ValueOrDie();
    for (const ShuffleCodec codec : kCodecs) {
      SCOPED_TRACE(std::string(input) + " " + std::string(ToString(codec)));
      auto writer = ShuffleBlockWriter::Make(batches[0]->schema(), {.codec = codec}).ValueOrDie();
      for (uint32_t partition = 0; partition < 5; ++partition) {
        std::vector<std::vector<uint32_t>> rows(batches.size());
        std::vector<ShuffleRows> some;
        std::vector<std::shared_ptr<arrow::RecordBatch>> expected;
        for (size_t b = 0; b < batches.size(); ++b) {
          std::vector<uint32_t> partitions(static_cast<size_t>(batches[b]->num_rows()));
          ASSERT_TRUE(partitioner->Assign(*batches[b], partitions).ok());
          for (uint32_t row = 0; row < partitions.size(); ++row) {
            if (partitions[row] == partition) rows[b].push_back(row);
          }
          some.push_back({batches[b].get(), rows[b].data(), static_cast<int64_t>(rows[b].size())});
          arrow::UInt32Builder builder;
          ASSERT_TRUE(builder.AppendValues(rows[b]).ok());
          expected.push_back(
              arrow::compute::Take(batches[b], builder.Finish().ValueOrDie()).ValueOrDie().record_batch());
        }
        const auto block = writer->Encode(some);
        ASSERT_TRUE(block.ok()) << block.status();
        const auto batch = ReadByArrow(*block, codec);
        ASSERT_NE(batch, nullptr);
        const auto equal = arrow::EqualOptions::Defaults().nans_equal(true);
        EXPECT_TRUE(batch->Equals(*arrow::ConcatenateRecordBatches(expected).ValueOrDie(), false, equal));
      }
    }
  }
}

// What does not get smaller, what fills more than one chunk of the codec, what is shorter than one.
TEST(ShuffleBlockWriter, CodecsOfAnySize) {
  const auto schema = arrow::schema({arrow::field("v", arrow::uint64())});
  for (const int64_t rows : {1, 100, 8192, 50000}) {
    for (const bool random : {false, true}) {
      arrow::UInt64Builder builder;
      uint64_t value = 1;
      for (int64_t i = 0; i < rows; ++i) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        ASSERT_TRUE(builder.Append(random ? value ^ value >> 29 : value % 3).ok());
      }
      const auto batch = arrow::RecordBatch::Make(schema, rows, {builder.Finish().ValueOrDie()});
      for (const ShuffleCodec codec : kCodecs) {
        auto writer = ShuffleBlockWriter::Make(schema, {.codec = codec}).ValueOrDie();
        const auto block = writer->Encode(*batch).ValueOrDie();
        EXPECT_TRUE(ReadByArrow(block, codec)->Equals(*batch)) << ToString(codec) << " " << rows;
        EXPECT_EQ(writer->metrics().block_bytes, static_cast<int64_t>(block.size()));
        EXPECT_EQ(writer->metrics().rows, rows);
      }
    }
  }
}

// By hand from the specification.
TEST(OffsetsAsLengths, FourPlanes) {
  const uint32_t offsets[] = {0, 3, 3, 0x10203};
  std::vector<uint8_t> bytes(16), scratch;
  std::memcpy(bytes.data(), offsets, 16);
  shuffle::StoreOffsetsAsLengths(bytes, &scratch);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0, 3, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0}));
}

// Undone as the specification says, the stream is the one that the ZSTD tag has.
TEST(ShuffleBlockWriter, TheFifthTag) {
  const auto schema = arrow::schema({arrow::field("s", arrow::utf8()), arrow::field("l", arrow::list(arrow::utf8()))});
  const auto batch = Batch(schema, R"([["a", ["x", "yy"]], [null, null], ["a longer text", []]])");
  auto plain = ShuffleBlockWriter::Make(schema, {.codec = ShuffleCodec::kZstd}).ValueOrDie();
  auto lengths = ShuffleBlockWriter::Make(schema, {.codec = ShuffleCodec::kZstdOffsetsAsLengths}).ValueOrDie();
  const std::string expected = Decoded(ShuffleCodec::kZstd, plain->Encode(*batch).ValueOrDie().subspan(20));
  const auto block = lengths->Encode(*batch).ValueOrDie();
  EXPECT_EQ(block[16], 0xDA);
  const std::string got = Decoded(ShuffleCodec::kZstd, block.subspan(20));
  ASSERT_EQ(got.size(), expected.size());
  // Offsets of s: [0, 1, 1, 14] are lengths 0, 1, 0, 13; of l: 0, 2, 2, 2; of its texts: 0, 1, 3.
  const std::pair<std::vector<uint32_t>, std::vector<uint8_t>> buffers[] = {
      {{0, 1, 1, 14}, {0, 1, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{0, 2, 2, 2}, {0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {{0, 1, 3}, {0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}}};
  std::string undone = got;
  for (const auto& [offsets, planes] : buffers) {
    const std::string coded(planes.begin(), planes.end());
    size_t at = 64;  // every buffer lies on a multiple of 64
    while (at < undone.size() && undone.compare(at, coded.size(), coded) != 0) at += 64;
    ASSERT_LT(at, undone.size());
    std::memcpy(undone.data() + at, offsets.data(), offsets.size() * 4);
  }
  EXPECT_TRUE(undone == expected);
}

TEST(ShuffleBlockWriter, TheFifthTagOnlyWhereItIsDefined) {
  for (const auto& type : {arrow::large_utf8(), arrow::utf8_view(), arrow::list(arrow::large_utf8()),
                           arrow::dictionary(arrow::int32(), arrow::utf8())}) {
    EXPECT_FALSE(shuffle::CanStoreOffsetsAsLengths(*arrow::schema({arrow::field("a", type)}))) << type->ToString();
  }
  const auto schema = arrow::schema({arrow::field("a", arrow::large_utf8())});
  auto writer = ShuffleBlockWriter::Make(schema, {.codec = ShuffleCodec::kZstdOffsetsAsLengths}).ValueOrDie();
  const auto batch = Batch(schema, R"([["x"]])");
  EXPECT_TRUE(ReadByArrow(writer->Encode(*batch).ValueOrDie(), ShuffleCodec::kZstd)->Equals(*batch));
}

TEST(ShuffleBlockWriter, ViewsAreCompacted) {
  arrow::StringViewBuilder builder;
  for (int i = 0; i < 10000; ++i)
    ASSERT_TRUE(builder.Append("a text of more than twelve bytes " + std::to_string(i)).ok());
  const auto array = builder.Finish().ValueOrDie();
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("v", array->type())}), array->length(), {array});
  ShuffleBlockWriteOptions options;
  options.codec = ShuffleCodec::kNone;
  const auto writer = ShuffleBlockWriter::Make(batch->schema(), options).ValueOrDie();
  const uint32_t rows[] = {17, 9000, 3};
  const ShuffleRows some = {batch.get(), rows, 3, 0};
  const Bytes block = writer->Encode(std::span(&some, 1)).ValueOrDie();
  // Three views and three texts, not the 370 kB that they point into.
  EXPECT_LT(block.size(), 1500u);
  const auto copy = arrow::Buffer::FromString(std::string(block.begin(), block.end()));
  const auto got = ShuffleBlockReader::Make(copy)->Next().ValueOrDie();
  const auto& texts = static_cast<const arrow::StringViewArray&>(*got->column(0));
  EXPECT_EQ(texts.GetView(0), "a text of more than twelve bytes 17");
  EXPECT_EQ(texts.GetView(1), "a text of more than twelve bytes 9000");
  EXPECT_EQ(texts.GetView(2), "a text of more than twelve bytes 3");
}

TEST(ShuffleBlockWriter, NoRowsAreNoBytes) {
  const auto schema = arrow::schema({arrow::field("a", arrow::int32())});
  auto writer = ShuffleBlockWriter::Make(schema).ValueOrDie();
  EXPECT_TRUE(writer->Encode(*Batch(schema, "[]")).ValueOrDie().empty());
  EXPECT_EQ(writer->metrics().blocks, 0);
  const auto no_columns = arrow::RecordBatch::Make(arrow::schema(arrow::FieldVector{}), 3, arrow::ArrayVector{});
  auto counts = ShuffleBlockWriter::Make(no_columns->schema(), {.codec = ShuffleCodec::kNone}).ValueOrDie();
  EXPECT_EQ(ReadByArrow(counts->Encode(*no_columns).ValueOrDie(), ShuffleCodec::kNone)->num_rows(), 3);
}

TEST(ShuffleBlockWriter, RefusesLevelsThatACodecHasNot) {
  const auto schema = arrow::schema({arrow::field("a", arrow::int32())});
  EXPECT_TRUE(ShuffleBlockWriter::Make(schema, {.codec = ShuffleCodec::kLz4, .level = 3}).status().IsInvalid());
  EXPECT_TRUE(ShuffleBlockWriter::Make(schema, {.codec = ShuffleCodec::kZstd, .level = 99}).status().IsInvalid());
  EXPECT_TRUE(ShuffleBlockWriter::Make(schema, {.codec = ShuffleCodec::kZstd, .level = 7}).ok());
}

// Columns of other kinds share no codes of a zstd frame: it is smaller than the codec makes the stream as a whole.
TEST(ShuffleBlockWriter, ZstdCodesColumnsApart) {
  arrow::Int64Builder noise;
  arrow::Int32Builder digits;
  arrow::StringBuilder letters;
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(noise.Append(static_cast<int64_t>(random())).ok());
    ASSERT_TRUE(digits.Append(static_cast<int32_t>(random() % 10)).ok());
    ASSERT_TRUE(letters.Append(std::string(1, static_cast<char>('a' + random() % 4))).ok());
  }
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema(
          {arrow::field("n", arrow::int64()), arrow::field("d", arrow::int32()), arrow::field("l", arrow::utf8())}),
      20000, {noise.Finish().ValueOrDie(), digits.Finish().ValueOrDie(), letters.Finish().ValueOrDie()});
  auto plain = ShuffleBlockWriter::Make(batch->schema(), {.codec = ShuffleCodec::kNone}).ValueOrDie();
  const auto stream = plain->Encode(*batch).ValueOrDie().subspan(ShuffleBlockHeader::kSize);
  auto zstd = ShuffleBlockWriter::Make(batch->schema(), {.codec = ShuffleCodec::kZstd}).ValueOrDie();
  const auto frame = zstd->Encode(*batch).ValueOrDie().subspan(ShuffleBlockHeader::kSize);
  EXPECT_EQ(Decoded(ShuffleCodec::kZstd, frame), std::string(stream.begin(), stream.end()));
  auto codec = arrow::util::Codec::Create(arrow::Compression::ZSTD, 1).ValueOrDie();
  std::vector<uint8_t> whole(static_cast<size_t>(codec->MaxCompressedLen(stream.size(), stream.data())));
  const int64_t whole_size = codec->Compress(stream.size(), stream.data(), whole.size(), whole.data()).ValueOrDie();
  EXPECT_LT(static_cast<int64_t>(frame.size()), whole_size * 98 / 100);
}

// The same rows as Comet, in the same partition, take no more bytes.
TEST(ShuffleBlockWriter, BlocksAreNoLargerThanComets) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  const std::pair<const char*, ShuffleCodec> variants[] = {{"native_none_single", ShuffleCodec::kNone},
                                                           {"native_lz4_single", ShuffleCodec::kLz4},
                                                           {"native_zstd_single", ShuffleCodec::kZstdOffsetsAsLengths},
                                                           {"native_snappy_single", ShuffleCodec::kSnappy}};
  for (const auto& [variant, codec] : variants) {
    int64_t comets = 0, ours = 0;
    for (const auto& entry : std::filesystem::directory_iterator(comet + "/" + variant)) {
      if (entry.path().extension() == ".data") comets += static_cast<int64_t>(entry.file_size());
    }
    for (const auto& batch : testing::CometInput(comet, "input")) {
      auto writer = ShuffleBlockWriter::Make(batch->schema(), {.codec = codec}).ValueOrDie();
      ours += static_cast<int64_t>(writer->Encode(*batch).ValueOrDie().size());
    }
    EXPECT_LE(ours, comets) << variant;
    RecordProperty(std::string(variant), std::to_string(ours) + " of " + std::to_string(comets));
  }
}

}  // namespace
}  // namespace calve
