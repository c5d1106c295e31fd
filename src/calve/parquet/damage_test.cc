#include "calve/parquet/footer.h"
#include "calve/parquet/metadata_reader.h"
#include "calve/parquet_reader.h"

#include "random_array.h"
#include "read_parquet.h"
#include "test_data.h"

#include <arrow/io/memory.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

// Small files with each byte changed in four ways, and cut at each byte. What calve returns of them is an error or what
// libparquet returns; memory and work stay within what the file justifies. The few where libparquet refuses, or returns
// what is in no file, are left in the folder CALVE_UNDECIDED, if set, for tests/differential/test_damaged_files.py,
// which asks arrow-rs.
//
// With page CRCs that are checked, a change in the body of a page is an error. The CRC covers neither the page's header
// nor the footer: there the rule is the same as without CRCs.

namespace calve {
namespace {

using arrow::field;
using arrow::TimeUnit;
using testing::TableResult;
using Encoding = ::parquet::Encoding;
using Properties = ::parquet::WriterProperties::Builder;

/// The most batches that are read of a damaged file, whose row count may promise any number of null rows.
constexpr int kMostBatches = 20;
constexpr int64_t kBatchRows = 512;
/// Bytes held at a time. A batch may be large by right: 512 values of FIXED_LEN_BYTE_ARRAY(1 MiB), all null.
constexpr int64_t kMostMemory = int64_t{640} << 20;
/// Bytes and buffers taken over all batches: what the work is counted by.
constexpr int64_t kMostAllocated = int64_t{1} << 30;
constexpr int64_t kMostAllocations = 20000;

struct Outcome {
  /// Outlives the table's buffers.
  std::shared_ptr<arrow::ProxyMemoryPool> pool = std::make_shared<arrow::ProxyMemoryPool>(arrow::default_memory_pool());
  TableResult table = arrow::Status::Invalid("not read");
  int64_t peak = 0, allocated = 0, allocations = 0;
};

TableResult ReadSome(const std::shared_ptr<arrow::Buffer>& bytes, bool verify_crc, arrow::MemoryPool* pool) {
  ParquetReadOptions options;
  options.batch_rows = kBatchRows;
  options.verify_crc = verify_crc;
  Context context;
  context.pool = pool;
  context.threads = 1;
  auto source = std::make_shared<arrow::io::BufferReader>(bytes);
  ARROW_ASSIGN_OR_RAISE(auto file, ParquetReader::Open(source, "x.parquet", options, context));
  ARROW_ASSIGN_OR_RAISE(auto reader, file->ReadAll());
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  while (static_cast<int>(batches.size()) < kMostBatches) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(batch->Validate());
    batches.push_back(std::move(batch));
  }
  return arrow::Table::FromRecordBatches(reader->schema(), batches);
}

Outcome Read(const std::string& bytes, bool verify_crc = false) {
  Outcome outcome;
  // A copy of the exact size, so that a sanitizer sees what is read beyond it.
  const std::shared_ptr<arrow::Buffer> copy = arrow::Buffer::FromString(bytes);
  outcome.table = ReadSome(copy, verify_crc, outcome.pool.get());
  outcome.peak = outcome.pool->max_memory();
  outcome.allocated = outcome.pool->total_bytes_allocated();
  outcome.allocations = outcome.pool->num_allocations();
  return outcome;
}

TableResult ReadWithOracle(const std::string& bytes) {
  try {
    return testing::ReadWithLibparquet(std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
  } catch (const std::exception& error) {
    return arrow::Status::Invalid(error.what());
  }
}

/// The same values; the types may be others of the same values (a damaged annotation may make text of bytes).
bool SameValues(const arrow::Table& got, const arrow::Table& expected) {
  if (got.num_columns() != expected.num_columns() || got.num_rows() != expected.num_rows()) return false;
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  for (int i = 0; i < got.num_columns(); ++i) {
    std::shared_ptr<arrow::ChunkedArray> want = expected.column(i);
    if (!want->type()->Equals(got.column(i)->type())) {
      const auto cast = arrow::compute::Cast(want, got.column(i)->type());
      if (!cast.ok()) return false;
      want = cast->chunked_array();
    }
    if (!got.column(i)->Equals(*want, equal)) return false;
  }
  return true;
}

struct Counts {
  int tried = 0, refused = 0, without_effect = 0, undecided = 0;
};

/// Where page bodies lie: pairs of begin and end.
std::vector<std::pair<size_t, size_t>> PageBodies(const std::string& bytes) {
  arrow::io::BufferReader file(arrow::Buffer::FromString(bytes));
  const auto footer = parquet::Footer::Read(&file).ValueOrDie();
  std::vector<std::pair<size_t, size_t>> bodies;
  for (const auto& group : footer->metadata().row_groups) {
    for (const auto& column : group.columns) {
      const auto& chunk = *column.metadata;
      auto at = static_cast<size_t>(
          std::min(chunk.data_page_offset, chunk.dictionary_page_offset.value_or(chunk.data_page_offset)));
      const size_t end = at + static_cast<size_t>(chunk.total_compressed_size);
      while (at < end) {
        size_t size = 0;
        const auto header =
            parquet::ParsePageHeader({reinterpret_cast<const uint8_t*>(bytes.data()) + at, end - at}, &size)
                .ValueOrDie();
        at += size;
        bodies.emplace_back(at, at + static_cast<size_t>(header.compressed_page_size));
        at = bodies.back().second;
      }
    }
  }
  return bodies;
}

void ExpectBounded(const Outcome& outcome) {
  EXPECT_LT(outcome.peak, kMostMemory) << outcome.table.status();
  EXPECT_LT(outcome.allocated, kMostAllocated) << outcome.table.status();
  EXPECT_LT(outcome.allocations, kMostAllocations) << outcome.table.status();
}

/// The file for another oracle.
void LeaveForArrowRs(const std::string& bytes, const std::string& name) {
  const char* folder = std::getenv("CALVE_UNDECIDED");
  if (folder == nullptr) return;
  std::ofstream(fmt::format("{}/{}.parquet", folder, name), std::ios::binary) << bytes;
}

/// Reads `bytes`, damaged as `name` says, and holds the outcome against the rules.
void CheckDamaged(const std::string& bytes, const std::string& name, const TableResult& undamaged, bool verify_crc,
                  bool must_fail, Counts* counts) {
  const Outcome outcome = Read(bytes, verify_crc);
  ++counts->tried;
  ExpectBounded(outcome);
  if (!outcome.table.ok()) {
    const arrow::Status& status = outcome.table.status();
    EXPECT_TRUE(status.IsInvalid() || status.IsNotImplemented()) << status;
    ++counts->refused;
    return;
  }
  EXPECT_FALSE(must_fail) << "a page with a wrong CRC was read";
  if (SameValues(**outcome.table, **undamaged)) {
    ++counts->without_effect;
    return;
  }
  const TableResult oracle = ReadWithOracle(bytes);
  if (oracle.ok() && SameValues(**outcome.table, **oracle)) return;
  ++counts->undecided;
  LeaveForArrowRs(bytes, name);
}

void ChangeEveryByte(const std::string& name, const std::string& original, bool verify_crc = false) {
  SCOPED_TRACE(name);
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const Outcome read = Read(original, verify_crc);
  const TableResult& undamaged = read.table;
  ASSERT_TRUE(undamaged.ok()) << undamaged.status();
  std::vector<bool> in_body(original.size());
  if (verify_crc) {
    for (const auto& [begin, end] : PageBodies(original))
      std::fill(in_body.begin() + begin, in_body.begin() + end, true);
  }
  Counts counts;
  std::string bytes = original;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xFF, -1}) {
      bytes[i] = mask < 0 ? '\0' : static_cast<char>(original[i] ^ mask);
      if (bytes[i] == original[i]) continue;
      SCOPED_TRACE(fmt::format("byte {} of {}: {:02x} -> {:02x}", i, bytes.size(), static_cast<uint8_t>(original[i]),
                               static_cast<uint8_t>(bytes[i])));
      CheckDamaged(bytes, fmt::format("{}-{}-{:02x}", name, i, static_cast<uint8_t>(bytes[i])), undamaged, verify_crc,
                   in_body[i], &counts);
    }
    bytes[i] = original[i];
  }
  EXPECT_GT(counts.refused, 0);
  EXPECT_LT(counts.undecided * 50, counts.tried);
  std::printf("%-24s %5d changes: %5d refused, %5d without effect, %3d undecided\n", name.c_str(), counts.tried,
              counts.refused, counts.without_effect, counts.undecided);
}

void CutEverywhere(const std::string& name, const std::string& original) {
  SCOPED_TRACE(name);
  for (size_t size = 0; size < original.size(); ++size) {
    const Outcome outcome = Read(original.substr(0, size));
    EXPECT_TRUE(outcome.table.status().IsInvalid()) << size << " " << outcome.table.status();
    ExpectBounded(outcome);
  }
}

// The files.

std::string Written(const std::shared_ptr<arrow::Schema>& schema, Properties& properties, int64_t rows = 9,
                    int64_t group_rows = 100, int distinct = 5) {
  testing::RandomArrays arrays(11, {.null_probability = 0.2, .largest_offset = 3, .distinct = distinct});
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) columns.push_back(arrays.Make(*f, rows));
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto status = ::parquet::arrow::WriteTable(*arrow::Table::Make(schema, columns, rows),
                                                   arrow::default_memory_pool(), sink, group_rows,
                                                   properties.disable_statistics()
                                                       ->created_by("x")
                                                       ->set_size_statistics_level(::parquet::SizeStatisticsLevel::None)
                                                       ->build());
  EXPECT_TRUE(status.ok()) << status;
  return sink->Finish().ValueOrDie()->ToString();
}

std::shared_ptr<arrow::Schema> Flat() {
  return arrow::schema({field("i", arrow::int32()), field("s", arrow::utf8()), field("b", arrow::boolean())});
}

std::shared_ptr<arrow::Schema> Nested() {
  return arrow::schema({field("l", arrow::list(field("element", arrow::list(field("element", arrow::int32()))))),
                        field("m", arrow::map(arrow::utf8(), arrow::int64()))});
}

std::shared_ptr<arrow::Schema> Structs() {
  const auto inner = arrow::struct_({field("x", arrow::float64()), field("y", arrow::list(arrow::utf8()), false)});
  return arrow::schema({field("s", arrow::struct_({field("a", inner), field("b", arrow::int16(), false)}))});
}

std::shared_ptr<arrow::Schema> One(const std::shared_ptr<arrow::DataType>& a,
                                   const std::shared_ptr<arrow::DataType>& b) {
  return arrow::schema({field("a", a), field("b", b, false)});
}

std::string Encoded(const std::shared_ptr<arrow::Schema>& schema, Encoding::type encoding) {
  Properties properties;
  properties.disable_dictionary()->encoding(encoding)->data_page_version(::parquet::ParquetDataPageVersion::V2);
  return Written(schema, properties);
}

std::string Compressed(arrow::Compression::type codec) {
  Properties properties;
  // Alike enough to be compressed.
  return Written(One(arrow::int64(), arrow::utf8()), *properties.compression(codec), 40, 100, 2);
}

std::map<std::string, std::string> Files() {
  constexpr auto kV2 = ::parquet::ParquetDataPageVersion::V2;
  std::map<std::string, std::string> files;
  Properties plain, plain_v2, dictionary, dictionary_v2, fallback, nested, nested_v2, structs, groups;
  files["plain"] = Written(Flat(), *plain.disable_dictionary());
  files["plain_v2"] = Written(Flat(), *plain_v2.disable_dictionary()->data_page_version(kV2));
  files["dictionary"] = Written(Flat(), dictionary);
  files["dictionary_v2"] = Written(Flat(), *dictionary_v2.data_page_version(kV2));
  files["fallback"] =
      Written(One(arrow::int64(), arrow::utf8()),
              *fallback.dictionary_pagesize_limit(16)->write_batch_size(4)->data_pagesize(32), 20, 100, 0);
  files["nested"] = Written(Nested(), *nested.disable_dictionary());
  files["nested_v2"] = Written(Nested(), *nested_v2.data_page_version(kV2));
  files["structs"] = Written(Structs(), *structs.data_page_version(kV2)->write_batch_size(2)->data_pagesize(1));
  files["row_groups"] = Written(Flat(), *groups.disable_dictionary()->enable_write_page_index(), 9, 4);
  files["delta_binary_packed"] = Encoded(One(arrow::int32(), arrow::int64()), Encoding::DELTA_BINARY_PACKED);
  files["delta_length_byte_array"] = Encoded(One(arrow::utf8(), arrow::binary()), Encoding::DELTA_LENGTH_BYTE_ARRAY);
  files["delta_byte_array"] = Encoded(One(arrow::utf8(), arrow::fixed_size_binary(3)), Encoding::DELTA_BYTE_ARRAY);
  files["byte_stream_split"] = Encoded(One(arrow::float32(), arrow::fixed_size_binary(5)), Encoding::BYTE_STREAM_SPLIT);
  files["rle"] = Encoded(One(arrow::boolean(), arrow::boolean()), Encoding::RLE);
  files["types"] = Encoded(One(arrow::decimal128(20, 2), arrow::timestamp(TimeUnit::MICRO)), Encoding::PLAIN);
  files["snappy"] = Compressed(arrow::Compression::SNAPPY);
  files["gzip"] = Compressed(arrow::Compression::GZIP);
  files["zstd"] = Compressed(arrow::Compression::ZSTD);
  files["brotli"] = Compressed(arrow::Compression::BROTLI);
  files["lz4_raw"] = Compressed(arrow::Compression::LZ4);
  return files;
}

TEST(ParquetDamage, EveryByteOfTwentyFiles) {
  const auto files = Files();
  EXPECT_EQ(files.size(), 20u);
  for (const auto& [name, bytes] : files) ChangeEveryByte(name, bytes);
}

TEST(ParquetDamage, EveryByteOfPagesWithChecksums) {
  Properties v1, v2, dictionary;
  ChangeEveryByte("crc", Written(Flat(), *v1.disable_dictionary()->enable_page_checksum()), true);
  v2.data_page_version(::parquet::ParquetDataPageVersion::V2)->compression(arrow::Compression::SNAPPY);
  ChangeEveryByte("crc_nested_v2", Written(Nested(), *v2.enable_page_checksum()), true);
  ChangeEveryByte("crc_dictionary",
                  Written(Flat(), *dictionary.compression(arrow::Compression::ZSTD)->enable_page_checksum()), true);
}

TEST(ParquetDamage, CutAtEveryByteOfTwentyFiles) {
  for (const auto& [name, bytes] : Files()) CutEverywhere(name, bytes);
}

}  // namespace
}  // namespace calve
