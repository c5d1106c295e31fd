#include "calve/arrow_file.h"

#include "json_arrays.h"
#include "random_array.h"
#include "temp_folder.h"
#include "test_data.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/initialize.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/table.h>
#include <arrow/util/compression.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace calve {
namespace {

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;
using ::testing::HasSubstr;

enum class Form { kFile, kStream };

std::string Written(const Batches& batches, Form form,
                    arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults()) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto schema = batches[0]->schema();
  const auto writer = (form == Form::kFile ? arrow::ipc::MakeFileWriter(sink, schema, options)
                                           : arrow::ipc::MakeStreamWriter(sink, schema, options))
                          .ValueOrDie();
  for (const auto& batch : batches) EXPECT_TRUE(writer->WriteRecordBatch(*batch).ok());
  EXPECT_TRUE(writer->Close().ok());
  return sink->Finish().ValueOrDie()->ToString();
}

class ArrowFile : public ::testing::TestWithParam<Form> {
 protected:
  std::string Save(const std::string& bytes) {
    const std::string path = fmt::format("{}/{}.arrow", folder_.path(), saved_++);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  arrow::Result<Batches> Read(const std::string& bytes, bool memory_map = false) {
    ARROW_ASSIGN_OR_RAISE(const auto reader, OpenArrowFile(Save(bytes), {memory_map}));
    return reader->ToRecordBatches();
  }
  void ExpectRead(const Batches& batches, const std::string& bytes) {
    for (const bool memory_map : {false, true}) ExpectRead(batches, bytes, memory_map);
  }
  void ExpectRead(const Batches& batches, const std::string& bytes, bool memory_map) {
    const auto read = Read(bytes, memory_map);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), batches.size());
    for (size_t i = 0; i < batches.size(); ++i) {
      ASSERT_TRUE((*read)[i]->ValidateFull().ok()) << (*read)[i]->ValidateFull();
      EXPECT_TRUE((*read)[i]->Equals(*batches[i], /*check_metadata=*/true, arrow::EqualOptions().nans_equal(true)))
          << i;
    }
  }

  testing::TempFolder folder_;
  int saved_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Forms, ArrowFile, ::testing::Values(Form::kFile, Form::kStream),
                         [](const auto& form) { return form.param == Form::kFile ? "File" : "Stream"; });

Batches RandomBatches(int seed) {
  const auto row = arrow::struct_({arrow::field("a", arrow::utf8()), arrow::field("b", arrow::list(arrow::int64()))});
  const auto schema = arrow::schema(
      {arrow::field("i", arrow::int64()), arrow::field("f", arrow::float32(), false), arrow::field("t", arrow::utf8()),
       arrow::field("v", arrow::utf8_view()), arrow::field("l", arrow::large_list(row)),
       arrow::field("b", arrow::boolean()), arrow::field("d", arrow::decimal128(30, 2)),
       arrow::field("n", arrow::null()), arrow::field("m", arrow::map(arrow::utf8(), arrow::int32()))},
      arrow::key_value_metadata({{"key", "value"}}));
  testing::RandomArrays arrays(static_cast<uint64_t>(seed), {.null_probability = seed % 3 * 0.2});
  Batches batches;
  for (int64_t rows : {40, 0, 7}) {
    arrow::ArrayVector columns;
    for (const auto& field : schema->fields()) columns.push_back(arrays.Make(*field, rows));
    batches.push_back(arrow::RecordBatch::Make(schema, rows, columns));
  }
  return batches;
}

TEST_P(ArrowFile, BatchesAsArrowWroteThem) {
  for (int seed = 0; seed < (testing::LongTests() ? 100 : 6); ++seed) {
    const auto batches = RandomBatches(seed);
    ExpectRead(batches, Written(batches, GetParam()));
  }
}

std::shared_ptr<arrow::RecordBatch> Encoded(const char* entries, const char* indices) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto column = arrow::DictionaryArray::FromArrays(type, testing::Array(arrow::int8(), indices),
                                                         testing::Array(arrow::utf8(), entries))
                          .ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("d", type)}), column->length(), {column});
}

TEST_P(ArrowFile, Dictionaries) {
  const Batches batches = {Encoded(R"(["a", "b"])", "[0, 1, null]"), Encoded(R"(["a", "b"])", "[1, 1]")};
  ExpectRead(batches, Written(batches, GetParam()));
}

TEST_F(ArrowFile, DictionariesOfStreamsAreReplaced) {
  const Batches batches = {Encoded(R"(["a", "b"])", "[0, 1, null]"), Encoded(R"(["c", "d", "e"])", "[1, 2]")};
  ExpectRead(batches, Written(batches, Form::kStream));
}

// A dictionary is checked with the first batch that it is there for, and keys with every one.
TEST_F(ArrowFile, DamagedKeysAndDictionariesOfLaterBatches) {
  const Batches batches = {Encoded(R"(["a", "b"])", "[0, 1, null]"), Encoded(R"(["c", "defgh", "e"])", "[1, 2, 1, 2]")};
  const std::string bytes = Written(batches, Form::kStream);
  const size_t text = bytes.find("cdefghe");
  const size_t keys = bytes.rfind("\x01\x02\x01\x02");
  ASSERT_NE(text, std::string::npos);
  ASSERT_GT(keys, text);
  for (const auto& [at, error] : {std::pair(text + 2, "not UTF-8"), std::pair(keys + 2, "dictionary key 127")}) {
    std::string changed = bytes;
    changed[at] = at == keys + 2 ? '\x7f' : '\xff';
    const auto reader = OpenArrowFile(Save(changed)).ValueOrDie();
    EXPECT_TRUE(reader->Next().ValueOrDie()->Equals(*batches[0]));
    EXPECT_THAT(reader->Next().status().message(), HasSubstr(error));
  }
}

// The second batch has the dictionary of the first, and a key beyond it. Metadata of version 4 is left to Arrow's
// reader.
TEST_F(ArrowFile, DamagedKeysIntoADictionaryThatStays) {
  const Batches batches = {Encoded(R"(["a", "b"])", "[0, 1, null]"), Encoded(R"(["a", "b"])", "[1, 0, 1, 0]")};
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  for (const char* error : {"dictionary key 2", "Index 2 out of bounds"}) {
    std::string bytes = Written(batches, Form::kFile, options);
    bytes[bytes.rfind(std::string("\x01\0\x01\0", 4)) + 2] = '\x02';
    const auto reader = OpenArrowFile(Save(bytes)).ValueOrDie();
    EXPECT_TRUE(reader->Next().ValueOrDie()->Equals(*batches[0]));
    EXPECT_THAT(reader->Next().status().message(), HasSubstr(error));
    options.metadata_version = arrow::ipc::MetadataVersion::V4;
  }
}

// What is left to Arrow's reader.
TEST_P(ArrowFile, CompressedBodiesAndDeltas) {
  const auto batches = RandomBatches(1);
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.codec = arrow::util::Codec::Create(arrow::Compression::ZSTD).ValueOrDie();
  ExpectRead(batches, Written(batches, GetParam(), options));
  options = arrow::ipc::IpcWriteOptions::Defaults();
  options.emit_dictionary_deltas = true;
  const Batches growing = {Encoded(R"(["a", "b"])", "[0, 1]"), Encoded(R"(["a", "b", "c"])", "[2, 0]")};
  const auto read = Read(Written(growing, Form::kStream, options));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE((*read)[1]->Equals(*growing[1]));
  options.metadata_version = arrow::ipc::MetadataVersion::V4;
  ExpectRead(growing, Written({growing[0], growing[1]}, Form::kStream, options));
}

TEST_P(ArrowFile, TruncatedAtEveryByte) {
  const Batches batches = {Encoded(R"(["a", "b"])", "[0, 1, null]"), Encoded(R"(["a", "b"])", "[1, 1]")};
  const std::string bytes = Written(batches, GetParam());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = Read(bytes.substr(0, size));
    if (GetParam() == Form::kFile) {
      EXPECT_FALSE(read.ok()) << size;
    } else if (read.ok()) {  // a clean boundary: what came before is there
      EXPECT_LE(read->size(), batches.size());
      for (size_t i = 0; i < read->size(); ++i) EXPECT_TRUE((*read)[i]->Equals(*batches[i])) << size;
    } else {
      EXPECT_THAT(read.status().message(), HasSubstr(folder_.path()));
    }
  }
}

TEST_P(ArrowFile, EveryByteChanged) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("t", arrow::utf8())}), 3,
                                              {testing::Array(arrow::utf8(), R"(["a", "bc", null])")});
  const std::string bytes = Written({batch}, GetParam());
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto read = Read(changed);
      if (!read.ok()) continue;
      for (const auto& some : *read) EXPECT_TRUE(some->ValidateFull().ok()) << at;
    }
  }
}

TEST_P(ArrowFile, DamagedOffsetsAndTextAreErrors) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("t", arrow::utf8())}), 3,
                                              {testing::Array(arrow::utf8(), R"(["abc", "defg", "hijkl"])")});
  const std::string bytes = Written({batch}, GetParam());
  std::string text = bytes;
  const size_t characters = bytes.find("abcdefghijkl");
  text[characters + 3] = '\xff';
  EXPECT_THAT(Read(text).status().message(),
              ::testing::AllOf(HasSubstr(folder_.path()), HasSubstr("record batch at byte"), HasSubstr("column 't'")));
  std::string offsets = bytes;
  const size_t ends = bytes.rfind(std::string("\x03\0\0\0\x07\0\0\0", 8), characters);
  ASSERT_NE(ends, std::string::npos);
  offsets[ends] = 9;
  EXPECT_THAT(Read(offsets).status().message(), HasSubstr("not monotonic"));
}

/// Two batches of numbers, large enough that the second begins on a page of its own.
Batches LargeBatches() {
  Batches batches;
  for (const int64_t first : {1, 2}) {
    arrow::Int64Builder builder;
    for (int64_t i = 0; i < 10000; ++i) EXPECT_TRUE(builder.Append(first * i).ok());
    const auto column = builder.Finish().ValueOrDie();
    batches.push_back(arrow::RecordBatch::Make(arrow::schema({arrow::field("i", arrow::int64())}), 10000, {column}));
  }
  return batches;
}

TEST_P(ArrowFile, CutShortWhileItIsRead) {
  const auto batches = LargeBatches();
  const std::string bytes = Written(batches, GetParam());
  for (const bool memory_map : {false, true}) {
    const std::string path = Save(bytes);
    const auto reader = OpenArrowFile(path, {memory_map}).ValueOrDie();
    const auto first = reader->Next().ValueOrDie();
    std::filesystem::resize_file(path, bytes.size() / 2);
    const auto second = reader->Next();
    EXPECT_TRUE(second.status().IsIOError()) << second.status();
    EXPECT_THAT(second.status().message(), ::testing::AllOf(HasSubstr(path), HasSubstr("cut short")));
    // Of what is mapped, the values are gone.
    if (!memory_map) EXPECT_TRUE(first->Equals(*batches[0]));
  }
}

TEST_P(ArrowFile, WhatWasReadStaysWhenTheFileChanges) {
  const auto batches = LargeBatches();
  const std::string path = Save(Written(batches, GetParam()));
  const auto reader = OpenArrowFile(path).ValueOrDie();
  const auto first = reader->Next().ValueOrDie();
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1000);
    file << std::string(50000, '\xff');
  }
  EXPECT_TRUE(first->Equals(*batches[0]));
}

std::string Little64(int64_t value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

constexpr size_t kBlockBytes = 24;

/// Where the footer has the block of the first message after the schema.
size_t BlockOfFirstBatch(const std::string& file) {
  constexpr size_t kHead = 8;
  int32_t schema_size = 0;
  std::memcpy(&schema_size, file.data() + kHead + 4, sizeof(schema_size));
  const size_t block = file.rfind(Little64(static_cast<int64_t>(kHead) + 8 + schema_size));
  EXPECT_NE(block, std::string::npos);
  return block;
}

/// The file of two batches whose footer has the first of them twice, instead of the second.
std::string WithFirstBatchTwice(std::string file) {
  const size_t block = BlockOfFirstBatch(file);
  return file.replace(block + kBlockBytes, kBlockBytes, file.substr(block, kBlockBytes));
}

// Read by calve and left to Arrow's reader.
TEST_F(ArrowFile, FootersThatNameABatchTwiceAreErrors) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  for (const bool compressed : {false, true}) {
    if (compressed) options.codec = arrow::util::Codec::Create(arrow::Compression::ZSTD).ValueOrDie();
    const std::string bytes = Written(LargeBatches(), Form::kFile, options);
    ASSERT_TRUE(Read(bytes).ok());
    const auto status = Read(WithFirstBatchTwice(bytes)).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    EXPECT_THAT(status.message(), HasSubstr("two messages that overlap"));
  }
}

TEST_F(ArrowFile, FootersThatNameBytesOutsideTheFileAreErrors) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  const std::string bytes = Written(LargeBatches(), Form::kFile);
  const auto end = static_cast<int64_t>(bytes.size());
  for (const auto& [first, second] : {std::pair(kLeast, kMost), std::pair(kMost, kLeast), std::pair(end, end + 8)}) {
    std::string changed = bytes;
    const size_t block = BlockOfFirstBatch(bytes);
    changed.replace(block, 8, Little64(first)).replace(block + kBlockBytes, 8, Little64(second));
    const auto status = Read(changed).status();
    EXPECT_TRUE(status.IsInvalid()) << status;
    EXPECT_THAT(status.message(), HasSubstr("outside the file's messages"));
  }
}

std::string Little32(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

/// What a file of 1 GiB holds of zeros takes no room on disk.
class SparseArrowFile : public ArrowFile {
 protected:
  static constexpr uintmax_t kSize = uintmax_t{1} << 30;
  /// Begins with `head` and ends with `tail`.
  std::string Sparse(const std::string& head, const std::string& tail) {
    const std::string path = Save(head);
    std::filesystem::resize_file(path, kSize - tail.size());
    std::ofstream(path, std::ios::binary | std::ios::app) << tail;
    return path;
  }
  static arrow::Status Opened(const std::string& path) {
    Context context;
    context.memory_budget_bytes = 16 << 20;
    return OpenArrowFile(path, {}, context).status();
  }
};

TEST_F(SparseArrowFile, ClaimedLengthsAreReadWithinTheBudget) {
  const auto footer = [](uint32_t size) { return Little32(size) + "ARROW1"; };
  const std::string magic("ARROW1\0\0", 8), continuation = "\xff\xff\xff\xff";
  for (const uint32_t size : {100 << 20, 900 << 20}) {
    for (const std::string& path : {Sparse(magic, footer(size)), Sparse(continuation + Little32(size), "")}) {
      const auto status = Opened(path);
      if (size < 256 << 20) {
        EXPECT_TRUE(status.IsOutOfMemory()) << status;
        EXPECT_THAT(status.message(), HasSubstr("budget"));
      } else {
        EXPECT_TRUE(status.IsInvalid()) << status;
        EXPECT_THAT(status.message(), HasSubstr("metadata of 943718400 bytes, at most"));
      }
    }
  }
}

// Read by calve and left to Arrow's reader.
TEST_P(ArrowFile, BodiesAreReadWithinTheBudget) {
  const auto batches = LargeBatches();
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  for (const bool of_version_4 : {false, true}) {
    if (of_version_4) options.metadata_version = arrow::ipc::MetadataVersion::V4;
    const std::string path = Save(Written(batches, GetParam(), options));
    for (const int64_t budget : {50'000, 500'000}) {
      Context context;
      context.memory_budget_bytes = budget;
      const auto read = OpenArrowFile(path, {}, context).ValueOrDie()->ToRecordBatches();
      EXPECT_EQ(read.ok(), budget == 500'000) << read.status();
      if (!read.ok()) EXPECT_TRUE(read.status().IsOutOfMemory()) << read.status();
    }
  }
}

/// A dictionary of many numbers that all batches share.
Batches ManyOfOneDictionary(int64_t numbers, int count) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < numbers; ++i) EXPECT_TRUE(builder.Append(i).ok());
  const auto entries = builder.Finish().ValueOrDie();
  const auto type = arrow::dictionary(arrow::int8(), arrow::int64());
  const auto keys = testing::Array(arrow::int8(), "[0, 100, null]");
  const auto column = arrow::DictionaryArray::FromArrays(type, keys, entries).ValueOrDie();
  return Batches(static_cast<size_t>(count),
                 arrow::RecordBatch::Make(arrow::schema({arrow::field("d", type)}), 3, {column}));
}

// At an odd address, and in a stream whose schema's metadata is padded to 4 bytes and not to 8.
TEST_F(ArrowFile, DictionariesThatDoNotLieAlignedAreCopiedOnce) {
  constexpr int64_t kNumbers = 20000, kBytes = kNumbers * 8;
  const auto batches = ManyOfOneDictionary(kNumbers, 100);
  const std::string stream = Written(batches, Form::kStream);
  uint32_t schema_size = 0;
  std::memcpy(&schema_size, stream.data() + 4, sizeof(schema_size));
  std::string moved = stream;
  moved.insert(8 + schema_size, 4, '\0').replace(4, 4, Little32(schema_size + 4));
  const auto odd = arrow::SliceBuffer(arrow::Buffer::FromString("x" + stream), 1);
  for (const bool in_memory : {true, false}) {
    arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
    Context context;
    context.pool = &pool;
    const auto reader =
        in_memory ? OpenArrowBytes(odd, "bytes", context) : OpenArrowFile(Save(moved), {.memory_map = true}, context);
    const auto read = (*reader)->ToRecordBatches().ValueOrDie();
    ASSERT_EQ(read.size(), batches.size());
    for (const auto& batch : read) {
      ASSERT_TRUE(batch->Equals(*batches[0]));
      const auto& entries = batch->column_data(0)->dictionary->buffers[1];
      EXPECT_EQ(entries->address() % 8, 0);
    }
    EXPECT_GE(pool.total_bytes_allocated(), kBytes);
    EXPECT_LT(pool.total_bytes_allocated(), 3 * kBytes);
  }
}

// Every dictionary would be checked anew when one of them is replaced: left to Arrow's reader, as its errors tell.
TEST_F(ArrowFile, LargeDictionariesBesideOnesThatAreReplaced) {
  for (const int count : {2, 20}) {
    auto batches = ManyOfOneDictionary(20000, count);
    for (size_t i = 0; i < batches.size(); ++i) {
      const auto small = Encoded(i % 2 == 0 ? R"(["a"])" : R"(["b"])", "[0, 0, null]");
      batches[i] = batches[i]->AddColumn(1, "small", small->column(0)).ValueOrDie();
    }
    std::string bytes = Written(batches, Form::kStream);
    ExpectRead(batches, bytes);
    bytes[bytes.rfind(std::string("\0\x64\0", 3)) + 1] = '\xff';
    EXPECT_THAT(Read(bytes).status().message(), HasSubstr(count == 2 ? "dictionary key -1" : "Index -1 out of bounds"));
  }
}

TEST(ArrowFileErrors, NameWhatIsMissing) {
  EXPECT_TRUE(OpenArrowFile("/nowhere/a.arrow").status().IsIOError());
  testing::TempFolder folder;
  const std::string path = folder.path() + "/empty.arrow";
  std::ofstream(path).close();
  const auto status = OpenArrowFile(path).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr(path));
}

}  // namespace
}  // namespace calve
