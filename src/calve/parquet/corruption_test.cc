#include "calve/base/memory_budget.h"
#include "calve/parquet_reader.h"

#include "random_array.h"
#include "test_data.h"

#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <fstream>
#include <iterator>

// Damaged files: an error or other values, but never a crash, and no memory that the file does not justify.

namespace calve {
namespace {

using arrow::field;

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

/// Reads everything, with every batch checked; `*peak` gets the most memory held at once.
arrow::Status ReadThrough(const std::string& bytes, int64_t* peak) {
  MemoryBudget budget(arrow::default_memory_pool(), int64_t{1} << 30);
  Context context;
  context.pool = &budget;
  arrow::Status status = [&]() -> arrow::Status {
    auto source = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
    ParquetReadOptions options;
    options.batch_rows = 1024;
    ARROW_ASSIGN_OR_RAISE(auto file, ParquetReader::Open(source, "x.parquet", options, context));
    ARROW_ASSIGN_OR_RAISE(auto reader, file->ReadAll());
    // A damaged row count may promise any number of rows, all null.
    for (int batches = 0; batches < 100; ++batches) {
      ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(batch->Validate());
    }
    return arrow::Status::OK();
  }();
  *peak = budget.max_memory();
  return status;
}

std::shared_ptr<arrow::Schema> SmallSchema() {
  using namespace arrow;  // NOLINT
  return schema({field("i", int32()), field("s", utf8()), field("b", boolean()), field("d", decimal128(20, 2), false),
                 field("l", list(field("element", struct_({field("x", int64()), field("y", utf8(), false)})))),
                 field("m", map(utf8(), int32()))});
}

std::string SmallFile(::parquet::WriterProperties::Builder& properties, int64_t rows = 20) {
  testing::RandomArrays arrays(7, {.null_probability = 0.2, .distinct = 5});
  arrow::ArrayVector columns;
  const auto schema = SmallSchema();
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, rows));
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto table = arrow::Table::Make(schema, columns, rows);
  const auto status = ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 12,
                                                   properties.disable_statistics()->build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie()->ToString();
}

constexpr int64_t kMostMemory = int64_t{64} << 20;

/// In a long run every byte, otherwise one in four: damage_test.cc goes through all of other files.
void FlipEveryByte(std::string bytes) {
  const size_t step = testing::LongTests() ? 1 : 4;
  int64_t peak = 0;
  ASSERT_TRUE(ReadThrough(bytes, &peak).ok());
  int refused = 0;
  for (size_t i = 0; i < bytes.size(); i += step) {
    const char original = bytes[i];
    for (const int mask : {0x01, 0x80, 0xff, -1}) {
      bytes[i] = mask < 0 ? '\0' : static_cast<char>(original ^ mask);
      const arrow::Status status = ReadThrough(bytes, &peak);
      refused += status.ok() ? 0 : 1;
      ASSERT_TRUE(status.ok() || status.IsInvalid() || status.IsNotImplemented())
          << "byte " << i << " " << mask << " " << status;
      ASSERT_LT(peak, kMostMemory) << "byte " << i << " " << mask << " " << status;
    }
    bytes[i] = original;
  }
  EXPECT_GT(refused, 0);
}

void CutEverywhere(const std::string& bytes) {
  for (size_t size = 0; size < bytes.size(); ++size) {
    int64_t peak = 0;
    const arrow::Status status = ReadThrough(bytes.substr(0, size), &peak);
    ASSERT_TRUE(status.IsInvalid()) << size << " " << status;
    ASSERT_EQ(status.message().substr(0, 11), "x.parquet: ") << status;
  }
}

TEST(ParquetCorruption, CutAtEveryByte) {
  ::parquet::WriterProperties::Builder properties;
  CutEverywhere(SmallFile(properties));
}

TEST(ParquetCorruption, FlippedPlainV1) {
  ::parquet::WriterProperties::Builder properties;
  FlipEveryByte(SmallFile(*properties.disable_dictionary()));
}

TEST(ParquetCorruption, FlippedDictionarySnappyV2) {
  ::parquet::WriterProperties::Builder properties;
  FlipEveryByte(SmallFile(
      *properties.compression(arrow::Compression::SNAPPY)->data_page_version(::parquet::ParquetDataPageVersion::V2)));
}

TEST(ParquetCorruption, FlippedDelta) {
  ::parquet::WriterProperties::Builder properties;
  properties.disable_dictionary()->data_page_version(::parquet::ParquetDataPageVersion::V2);
  using E = ::parquet::Encoding;
  properties.encoding("i", E::DELTA_BINARY_PACKED)->encoding("s", E::DELTA_BYTE_ARRAY)->encoding("b", E::RLE);
  properties.encoding("d", E::DELTA_BYTE_ARRAY)->encoding("l.list.element.x", E::BYTE_STREAM_SPLIT);
  properties.encoding("l.list.element.y", E::DELTA_LENGTH_BYTE_ARRAY);
  FlipEveryByte(SmallFile(properties));
}

TEST(ParquetCorruption, FlippedZstd) {
  ::parquet::WriterProperties::Builder properties;
  FlipEveryByte(SmallFile(*properties.compression(arrow::Compression::ZSTD)));
}

TEST(ParquetCorruption, FlippedFilesOfOthers) {
  CALVE_SHARED_DATA(data);
  for (const char* name :
       {"datapage_v2.snappy", "nested_lists.snappy", "int96_from_spark", "fixed_length_decimal_legacy",
        "repeated_no_annotation", "rle_boolean_encoding", "null_list"}) {
    SCOPED_TRACE(name);
    FlipEveryByte(Contents(data + "/parquet-testing/data/" + name + ".parquet"));
  }
}

}  // namespace
}  // namespace calve
