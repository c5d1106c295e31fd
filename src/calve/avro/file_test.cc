#include "calve/avro/reader.h"
#include "calve/avro/writer.h"
#include "test_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace calve::avro {
namespace {

using ::testing::HasSubstr;
using List = Value::List;

std::string Contents(const std::string& name) {
  std::ifstream file(testing::Data("avro/" + name), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Record `i` as tests/data/avro/make.py writes it.
Value Row(int64_t i) {
  auto number = std::to_string(i);
  List longs, sizes, names;
  for (int64_t j = 0; j < i % 4; ++j) longs.push_back(j == 1 ? Value() : Value(i * j));
  for (int64_t j = 0; j < i % 3; ++j) sizes.push_back(List{j, i + j});
  for (int64_t j = 0; j < i % 2; ++j) names.push_back(List{"k" + std::to_string(j), "v" + number});
  return List{i % 2 == 1,
              i * 1000003 - 2147483648,
              (i - 50) * 123456789012345,
              static_cast<float>(i) * 0.5f,
              static_cast<double>(i) * -0.25,
              i % 3 == 0 ? Value() : Value("t\u00e9xt " + number),
              std::string(static_cast<size_t>(i % 5), static_cast<char>(i)),
              std::string("\0\1\2", 3) + static_cast<char>(i),
              i % 2 == 1 ? "GREEN" : "RED",
              longs,
              sizes,
              names,
              "abcd",
              Value(),
              List{i % 2 == 1 ? Value() : Value("d" + number)}};
}

/// All records, or the first error.
Result<List> ReadRecords(std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(auto reader, FileReader::Make(bytes));
  List records;
  while (true) {
    Value record;
    ARROW_ASSIGN_OR_RAISE(bool more, reader->Next(&record));
    if (!more) return records;
    records.push_back(std::move(record));
  }
}

std::string ErrorOf(std::string_view bytes) { return ReadRecords(bytes).status().ToString(); }

List Rows(int64_t count) {
  List rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(Row(i));
  return rows;
}

TEST(FileReader, ReadsEveryCodec) {
  for (const char* codec : {"null", "deflate", "snappy", "zstandard"}) {
    auto bytes = Contents(std::string(codec) + ".avro");
    auto records = ReadRecords(bytes).ValueOrDie();
    ASSERT_EQ(records.size(), 100u) << codec;
    for (int64_t i = 0; i < 100; ++i) ASSERT_EQ(records[static_cast<size_t>(i)], Row(i)) << codec << " " << i;
    auto reader = FileReader::Make(bytes).ValueOrDie();
    EXPECT_EQ(reader->Metadata("avro.codec"), codec);
    EXPECT_EQ(reader->Metadata("content"), "rows");
    EXPECT_EQ(reader->Metadata("missing"), std::nullopt);
  }
}

TEST(FileReader, UnknownCodecsAreNamed) {
  for (const char* codec : {"bzip2", "xz"}) {
    auto bytes = Contents(std::string(codec) + ".avro");
    auto status = ReadRecords(bytes).status();
    EXPECT_TRUE(status.IsNotImplemented());
    EXPECT_THAT(status.message(), HasSubstr(std::string("'") + codec + "'"));
  }
}

TEST(FileReader, EmptyFile) {
  EXPECT_EQ(ReadRecords(Contents("empty.avro")).ValueOrDie().size(), 0u);
  EXPECT_THAT(ErrorOf(""), HasSubstr("no Avro file"));
  EXPECT_THAT(ErrorOf("PAR1PAR1PAR1"), HasSubstr("no Avro file"));
}

/// Where the blocks of a file end, and where its header does.
std::vector<size_t> Boundaries(const std::string& bytes) {
  std::vector<size_t> result;
  std::string sync;
  for (char c = 0; c < 16; ++c) sync.push_back(c);
  for (size_t at = bytes.find(sync); at != std::string::npos; at = bytes.find(sync, at + 1)) result.push_back(at + 16);
  return result;
}

TEST(FileReader, TruncatedAtEveryByte) {
  for (const char* name : {"null.avro", "deflate.avro", "snappy.avro", "zstandard.avro"}) {
    auto bytes = Contents(name);
    auto boundaries = Boundaries(bytes);
    ASSERT_GE(boundaries.size(), 3u);
    for (size_t size = 0; size < bytes.size(); ++size) {
      std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
      auto records = ReadRecords({cut.data(), cut.size()});
      if (std::find(boundaries.begin(), boundaries.end(), size) != boundaries.end()) {
        ASSERT_LT(records.ValueOrDie().size(), 100u);  // a whole file, but shorter
      } else {
        ASSERT_TRUE(records.status().IsInvalid()) << name << " cut at " << size;
      }
    }
  }
}

TEST(FileReader, CorruptionNeverCrashes) {
  for (const char* name : {"small.avro", "deflate.avro", "snappy.avro", "zstandard.avro"}) {
    auto bytes = Contents(name);
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (uint8_t flip : {0x01, 0xff}) {
        auto bad = bytes;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        auto status = ReadRecords(bad).status();
        ASSERT_TRUE(status.ok() || status.IsInvalid() || status.IsNotImplemented()) << status;
      }
    }
  }
}

TEST(FileReader, SnappyChecksumAndSyncMarker) {
  auto bytes = Contents("snappy.avro");
  auto first_block_end = Boundaries(bytes)[1];
  auto bad_checksum = bytes;
  bad_checksum[first_block_end - 17] ^= 1;
  EXPECT_THAT(ErrorOf(bad_checksum), HasSubstr("checksum"));
  auto bad_sync = bytes;
  bad_sync[first_block_end - 1] ^= 1;
  EXPECT_THAT(ErrorOf(bad_sync), HasSubstr("sync marker"));
}

TEST(FileReader, ErrorsStay) {
  auto bytes = Contents("null.avro");
  bytes.resize(bytes.size() - 20);
  auto reader = FileReader::Make(bytes).ValueOrDie();
  Value record;
  Result<bool> result = true;
  while (result.ok() && *result) result = reader->Next(&record);
  EXPECT_EQ(reader->Next(&record).status(), result.status());
  EXPECT_THAT(result.status().message(), HasSubstr("Avro block at byte"));
}

std::string Header(const std::string& schema) {
  std::string header("Obj\x01", 4);
  AppendLong(1, &header);
  AppendText("avro.schema", &header);
  AppendText(schema, &header);
  AppendLong(0, &header);
  return header + std::string(16, 's');
}

std::string Block(int64_t records, const std::string& data) {
  std::string block;
  AppendLong(records, &block);
  AppendText(data, &block);
  return block + std::string(16, 's');
}

TEST(FileReader, CountsThatTheBytesCannotHold) {
  EXPECT_THAT(ErrorOf(Header("\"long\"") + Block(int64_t{1} << 60, "\x02")), HasSubstr("records in 1 bytes"));
  EXPECT_THAT(ErrorOf(Header("\"null\"") + Block(int64_t{1} << 60, "")), HasSubstr("records in 0 bytes"));
  EXPECT_THAT(ErrorOf(Header("\"long\"") + Block(-1, "\x02")), HasSubstr("-1 records"));
  EXPECT_THAT(ErrorOf(Header("\"long\"") + Block(1, "\x02\x02")), HasSubstr("1 bytes are left over"));
  std::string items;
  AppendLong(int64_t{1} << 60, &items);
  for (auto* type : {"null", "long"}) {
    auto schema = std::string(R"({"type":"array","items":")") + type + "\"}";
    EXPECT_THAT(ErrorOf(Header(schema) + Block(1, items)), HasSubstr("items where")) << type;
  }
  std::string text;
  AppendLong(int64_t{1} << 60, &text);
  EXPECT_THAT(ErrorOf(Header("\"string\"") + Block(1, text)), HasSubstr("a value of 1152921504606846976 bytes"));
  EXPECT_EQ(ReadRecords(Header("\"null\"") + Block(3, "")).ValueOrDie(), List(3));
}

TEST(FileReader, NegativeItemCountsCarryASize) {
  std::string data;
  AppendLong(-2, &data);
  AppendLong(2, &data);
  AppendLong(7, &data);
  AppendLong(-8, &data);
  AppendLong(1, &data);
  AppendLong(9, &data);
  AppendLong(0, &data);
  auto records = ReadRecords(Header(R"({"type":"array","items":"long"})") + Block(1, data)).ValueOrDie();
  EXPECT_EQ(records[0], Value(List{7, -8, 9}));
  std::string bad;
  AppendLong(INT64_MIN, &bad);
  EXPECT_THAT(ErrorOf(Header(R"({"type":"array","items":"long"})") + Block(1, bad)), HasSubstr("item count"));
}

TEST(FileReader, ValuesOutOfRange) {
  EXPECT_THAT(ErrorOf(Header("\"boolean\"") + Block(1, "\x02")), HasSubstr("boolean of value 2"));
  EXPECT_THAT(ErrorOf(Header("[\"null\",\"int\"]") + Block(1, "\x04")), HasSubstr("union index 2"));
  EXPECT_THAT(ErrorOf(Header(R"({"type":"enum","name":"e","symbols":["A"]})") + Block(1, "\x02")),
              HasSubstr("enum index 1"));
  std::string large;
  AppendLong(int64_t{1} << 31, &large);
  EXPECT_THAT(ErrorOf(Header("\"int\"") + Block(1, large)), HasSubstr("more than 32 bits"));
  EXPECT_THAT(ErrorOf(Header("\"string\"") + Block(1, "\x01")), HasSubstr("negative size"));
}

SchemaPtr FileSchema() {
  auto bytes = Contents("empty.avro");
  return ParseSchema(*FileReader::Make(bytes).ValueOrDie()->Metadata("avro.schema")).ValueOrDie();
}

TEST(FileWriter, RoundTripWithEveryCodec) {
  auto rows = Rows(3000);  // several blocks
  for (const char* codec : {"null", "deflate", "snappy", "zstandard"}) {
    auto writer = FileWriter::Make(FileSchema(), {{"content", "rows"}, {"empty", ""}}, codec).ValueOrDie();
    for (const auto& row : rows) ASSERT_TRUE(writer->Append(row).ok());
    auto bytes = writer->Finish().ValueOrDie();
    ASSERT_EQ(ReadRecords(bytes).ValueOrDie(), rows) << codec;
    auto reader = FileReader::Make(bytes).ValueOrDie();
    EXPECT_EQ(reader->Metadata("content"), "rows");
    EXPECT_EQ(reader->Metadata("empty"), "");
    EXPECT_EQ(reader->Metadata("avro.codec"), codec);
  }
  EXPECT_TRUE(FileWriter::Make(FileSchema(), {}, "bzip2").status().IsNotImplemented());
}

TEST(FileWriter, UnionsTakeTheBranchThatHoldsTheValue) {
  auto schema =
      ParseSchema(R"(["null","int","long",{"type":"enum","name":"e","symbols":["A"]},"string"])").ValueOrDie();
  auto writer = FileWriter::Make(schema, {}, "null").ValueOrDie();
  const List values{Value(), 7, int64_t{1} << 40, "A", "text"};
  for (const auto& value : values) ASSERT_TRUE(writer->Append(value).ok());
  EXPECT_TRUE(writer->Append(true).IsInvalid());
  EXPECT_EQ(ReadRecords(writer->Finish().ValueOrDie()).ValueOrDie(), values);
}

TEST(FileWriter, RecordsOfAnotherTypeAreRefused) {
  auto writer = FileWriter::Make(FileSchema(), {}, "null").ValueOrDie();
  ASSERT_TRUE(writer->Append(Row(1)).ok());
  auto bad = *Row(2).As<List>();
  bad[1] = Value("text");
  EXPECT_THAT(writer->Append(bad).message(), HasSubstr("field 'small': the value is no int"));
  bad = *Row(2).As<List>();
  bad[1] = Value(int64_t{1} << 40);
  EXPECT_THAT(writer->Append(bad).message(), HasSubstr("does not fit an int"));
  bad = *Row(2).As<List>();
  bad[7] = Value("abc");
  EXPECT_THAT(writer->Append(bad).message(), HasSubstr("3 bytes for a fixed of 4"));
  bad.pop_back();
  EXPECT_THAT(writer->Append(bad).message(), HasSubstr("has 15 fields, the value 14"));
  EXPECT_EQ(ReadRecords(writer->Finish().ValueOrDie()).ValueOrDie(), List{Row(1)});
}

}  // namespace
}  // namespace calve::avro
