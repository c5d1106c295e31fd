// Blocks whose bytes are wrong: what is refused, in which words, and that nothing else happens.
#include "calve/ipc/schema_cache.h"
#include "ipc_messages.h"
#include "shuffle_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using testing::BlockOf;
using testing::DecodeOne;
using testing::FindPair;
using ::testing::HasSubstr;
using testing::MessagesOf;
using testing::Put;
using testing::StreamOf;

std::shared_ptr<arrow::RecordBatch> OneColumn(const std::shared_ptr<arrow::Array>& column) {
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("a", column->type())}), column->length(), {column});
}

std::shared_ptr<arrow::Array> Texts(const std::vector<std::string>& values) {
  arrow::StringBuilder builder;
  EXPECT_TRUE(builder.AppendValues(values).ok());
  return *builder.Finish();
}

/// A stream of one batch of one column, and where its buffers lie.
struct Damaged {
  explicit Damaged(const std::shared_ptr<arrow::Array>& column) : stream(StreamOf(*OneColumn(column))) {
    places = MessagesOf(stream);
  }
  const testing::MessagePlace& batch() const { return places.back(); }
  /// Decodes what became of it with a warm cache, validated.
  std::string Error(bool trusted = false) const {
    const auto status = DecodeOne(BlockOf(stream), trusted).status();
    return status.ToString();
  }

  std::string stream;
  std::vector<testing::MessagePlace> places;
};

/// Runs `check` with a cold cache and with a warm one.
template <typename Check>
void ColdAndWarm(const std::string& good_stream, Check check) {
  ipc::ThreadSchemaCache().Clear();
  check();
  ipc::ThreadSchemaCache().Clear();
  ASSERT_TRUE(DecodeOne(BlockOf(good_stream)).ok());
  check();
}

// The body of three texts: offsets in 64 bytes or 8, then characters.
TEST(BlockFaults, CorruptOffsetsUnderAWarmCacheFailValidation) {
  const Damaged good(Texts({"one", "two", "three"}));
  const size_t offsets = good.batch().body;
  ColdAndWarm(good.stream, [&] {
    Damaged bad = good;
    Put<int32_t>(&bad.stream, offsets + 4, 7);
    EXPECT_THAT(bad.Error(), HasSubstr("column 'a': offsets are not monotonic: 6 after 7 at value 1"));
    bad = good;
    Put<int32_t>(&bad.stream, offsets + 12, 1000000);
    EXPECT_THAT(bad.Error(), HasSubstr("column 'a': offset 1000000 leaves the 11 values or bytes"));
    bad = good;
    Put<int32_t>(&bad.stream, offsets, -1);
    EXPECT_THAT(bad.Error(), HasSubstr("column 'a': first offset -1 is negative"));
    EXPECT_THAT(bad.Error(),
                HasSubstr("shuffle block at byte 0: payload byte " + std::to_string(good.batch().begin) + ": "));
    // Trusted, the same bytes are believed.
    EXPECT_TRUE(DecodeOne(BlockOf(bad.stream), true).ok());
  });
}

TEST(BlockFaults, TextMustBeUtf8AndOffsetsMayNotPointIntoACharacter) {
  const Damaged good(Texts({"one", "tw\xC3\xA4", "three"}));
  const size_t offsets = good.batch().body, text = good.stream.find("onetw", offsets);
  ASSERT_TRUE(DecodeOne(BlockOf(good.stream)).ok());
  Damaged bad = good;
  bad.stream[text + 1] = '\xFF';
  EXPECT_THAT(bad.Error(), HasSubstr("column 'a': value 0 is not UTF-8"));
  bad = good;
  bad.stream[text + 6] = 'x';  // the character's second byte
  EXPECT_THAT(bad.Error(), HasSubstr("value 1 is not UTF-8"));
  bad = good;
  Put<int32_t>(&bad.stream, offsets + 8, 6);  // between the character's bytes
  EXPECT_THAT(bad.Error(), HasSubstr("value 1 is not UTF-8"));
  EXPECT_TRUE(DecodeOne(BlockOf(bad.stream), true).ok());
}

TEST(BlockFaults, WhatLiesUnderNullsNeedNotBeText) {
  auto column = Texts({"one", "two"})->data()->Copy();
  column->null_count = 1;
  column->buffers[0] = arrow::Buffer::FromString("\x01");
  column->buffers[2] = arrow::Buffer::FromString("one\xFF\xFE\xFD");
  const auto read = DecodeOne(BlockOf(StreamOf(*OneColumn(arrow::MakeArray(column)))));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE((*read)->column(0)->IsNull(1));
}

TEST(BlockFaults, DictionaryKeysMustBeInTheirDictionary) {
  arrow::StringDictionary32Builder builder;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(builder.Append(i % 2 == 0 ? "x" : "y").ok());
  const Damaged good(*builder.Finish());
  ColdAndWarm(good.stream, [&] {
    for (const int32_t key : {2, -1, INT32_MIN, INT32_MAX}) {
      Damaged bad = good;
      Put<int32_t>(&bad.stream, good.batch().body + 4 * 77, key);
      EXPECT_THAT(bad.Error(), HasSubstr("dictionary key " + std::to_string(key) +
                                         " of value 77 is out of range (dictionary has 2 values)"));
    }
  });
}

TEST(BlockFaults, NullCountsMustBeThoseOfTheBitmap) {
  arrow::Int64Builder builder;
  ASSERT_TRUE(builder.AppendValues({1, 2, 3, 4, 5}, {true, false, true, true, false}).ok());
  const Damaged good(*builder.Finish());
  Damaged bad = good;
  const size_t node = FindPair(good.stream, good.batch(), 5, 2);
  Put<int64_t>(&bad.stream, node + 8, 3);
  EXPECT_THAT(bad.Error(), HasSubstr("column 'a': null count 3, its validity bitmap has 2"));
  Put<int64_t>(&bad.stream, node + 8, -1);
  EXPECT_THAT(bad.Error(), HasSubstr("length 5 with -1 nulls"));
  Put<int64_t>(&bad.stream, node + 8, 6);
  EXPECT_THAT(bad.Error(true), HasSubstr("length 5 with 6 nulls"));
  // Where nothing is null the bitmap is not looked at, whatever its bits.
  Put<int64_t>(&bad.stream, node + 8, 0);
  EXPECT_TRUE(DecodeOne(BlockOf(bad.stream)).ok());
}

TEST(BlockFaults, LengthsThatDoNotFitAreRefusedTrustedToo) {
  arrow::Int64Builder builder;
  ASSERT_TRUE(builder.AppendValues({1, 2, 3, 4, 5}).ok());
  const Damaged good(*builder.Finish());
  Damaged bad = good;
  const size_t node = FindPair(good.stream, good.batch(), 5, 0);
  Put<int64_t>(&bad.stream, node, 6);
  EXPECT_THAT(bad.Error(true), HasSubstr("column 'a': values of 40 bytes for 6 values of 8 bytes"));
  Put<int64_t>(&bad.stream, node, 4);
  EXPECT_THAT(bad.Error(true), HasSubstr("column 'a': 4 values in a batch of 5 rows"));
  Put<int64_t>(&bad.stream, node, INT64_MAX);
  EXPECT_THAT(bad.Error(true), HasSubstr("values of 40 bytes"));
  Put<int64_t>(&bad.stream, node, -5);
  EXPECT_THAT(bad.Error(true), HasSubstr("length -5"));
  bad = good;
  const size_t buffer = FindPair(good.stream, good.batch(), 0, 40);
  for (const auto& [offset, size] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 4000}, {8000, 40}, {-8, 40}, {INT64_MAX, 40}, {0, INT64_MAX}, {0, -1}}) {
    Put<int64_t>(&bad.stream, buffer, offset);
    Put<int64_t>(&bad.stream, buffer + 8, size);
    EXPECT_THAT(bad.Error(true), HasSubstr("leaves the body"));
  }
  Put<int64_t>(&bad.stream, buffer, 4);
  Put<int64_t>(&bad.stream, buffer + 8, 36);
  EXPECT_THAT(bad.Error(true), HasSubstr("begins at byte 4 of the body, not at a multiple of 8"));
}

TEST(BlockFaults, ChildLengthsMustFitTheirParents) {
  arrow::Int32Builder values;
  ASSERT_TRUE(values.AppendValues({1, 2, 3, 4, 5, 6}).ok());
  const auto numbers = *values.Finish();
  arrow::Int32Builder offsets;
  ASSERT_TRUE(offsets.AppendValues({0, 2, 6}).ok());
  Damaged list(*arrow::ListArray::FromArrays(**offsets.Finish(), *numbers));
  Put<int64_t>(&list.stream, FindPair(list.stream, list.batch(), 6, 0), 5);
  EXPECT_THAT(list.Error(), HasSubstr("column 'a': offset 6 leaves the 5 values"));
  EXPECT_TRUE(DecodeOne(BlockOf(list.stream), true).ok());

  Damaged fixed(*arrow::FixedSizeListArray::FromArrays(numbers, 2));
  Put<int64_t>(&fixed.stream, FindPair(fixed.stream, fixed.batch(), 6, 0), 5);
  EXPECT_THAT(fixed.Error(true), HasSubstr("column 'a': child 0 of 5 values, 6 are needed"));

  Damaged group(
      *arrow::StructArray::Make({numbers, Texts({"a", "b", "c", "d", "e", "f"})}, std::vector<std::string>{"x", "y"}));
  Put<int64_t>(&group.stream, FindPair(group.stream, group.batch(), 6, 0), 3);  // the last node's
  EXPECT_THAT(group.Error(true), HasSubstr("column 'a': child 1 of 3 values, 6 are needed"));
}

TEST(BlockFaults, BodiesAndMetadataBeyondTheInputAreRefused) {
  const Damaged good(Texts({"one", "two", "three"}));
  Damaged bad = good;
  const auto body = static_cast<int64_t>(good.batch().end - good.batch().body);
  size_t found = 0;
  for (size_t at = good.batch().begin; at + 8 <= good.batch().body; ++at) {
    int64_t value = 0;
    std::memcpy(&value, good.stream.data() + at, 8);
    if (value != body || at % 8 != 0) continue;
    bad.stream = good.stream;
    Put<int64_t>(&bad.stream, at, int64_t{1} << 40);
    if (bad.Error().find("body of 1099511627776 bytes, at most") != std::string::npos) ++found;
  }
  EXPECT_EQ(found, 1U);
  bad.stream = good.stream;
  Put<int32_t>(&bad.stream, 4, INT32_MAX);
  EXPECT_THAT(bad.Error(), HasSubstr("payload byte 0: metadata of 2147483647 bytes, at most"));
  bad.stream = good.stream;
  Put<int32_t>(&bad.stream, 0, 0x1234);
  EXPECT_THAT(bad.Error(), HasSubstr("payload byte 0: message begins with 00001234"));
}

TEST(BlockFaults, CompressedBodiesAreNotImplemented) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.codec = *arrow::util::Codec::Create(arrow::Compression::ZSTD);
  auto sink = *arrow::io::BufferOutputStream::Create();
  const auto batch = OneColumn(Texts({"one", "two"}));
  auto writer = *arrow::ipc::MakeStreamWriter(sink.get(), batch->schema(), options);
  ASSERT_TRUE(writer->WriteRecordBatch(*batch).ok());
  ASSERT_TRUE(writer->Close().ok());
  const auto status = DecodeOne(BlockOf((*sink->Finish())->ToString())).status();
  EXPECT_TRUE(status.IsNotImplemented()) << status;
  EXPECT_THAT(status.message(), HasSubstr("compression of message bodies"));
}

/// Every byte of twenty blocks of Comet's, changed in four ways: an error, or a batch that Arrow finds valid.
TEST(BlockFaults, EveryByteOfTwentyGenuineBlocks) {
  CALVE_SHARED_DATA(shared);
  int64_t refused = 0, read = 0;
  const auto blocks = testing::GenuineBlocks(shared, 4);
  ASSERT_EQ(blocks.size(), 20U);
  for (const std::string& block : blocks) {
    const size_t step = testing::LongTests() ? 1 : block.size() / 100 + 1;
    for (size_t at = 0; at < block.size(); at += step) {
      const auto byte = static_cast<uint8_t>(block[at]);
      for (const uint8_t changed : {byte ^ 0x01, byte ^ 0x80, byte ^ 0xFF, 0}) {
        std::string bad = block;
        bad[at] = static_cast<char>(changed);
        for (const bool trusted : {false, true}) {
          const auto batch = DecodeOne(bad, trusted);
          ++(batch.ok() ? read : refused);
          if (!batch.ok() || trusted || *batch == nullptr) continue;
          ASSERT_TRUE(testing::IsWellFormed(**batch)) << "byte " << at << ": " << (*batch)->ValidateFull();
        }
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace calve
