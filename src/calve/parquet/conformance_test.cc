#include "encrypted_parquet.h"
#include "parquet_testing_keys.h"
#include "read_parquet.h"
#include "test_data.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

// Files that other systems wrote, read by calve and by libparquet: schema and values must be the same. Where they are
// not to be, the lists below say so, and why.

namespace calve {
namespace {

namespace fs = std::filesystem;
using testing::ExpectSameTable;
using testing::ReadWithCalve;
using testing::ReadWithLibparquet;
using testing::TableResult;

/// Legal, but not supported: what the refusal names.
const std::map<std::string, std::string> kRefused = {
    {"hyparquet/shredded-sparse-timestamp.parquet", "shredded VARIANT"},
};

/// Read by calve as libparquet does not; each has its own test here.
const std::set<std::string> kOwnTest = {
    "parquet-testing/data/incorrect_map_schema.parquet",     // libparquet refuses optional keys
    "parquet-testing/data/large_string_map.brotli.parquet",  // libparquet refuses 2 GiB of keys
    "parquet-testing/data/int96_from_spark.parquet",         // libparquet wraps other values
};

/// Files whose types are others of the same layout: ENUM is text to calve and bytes to libparquet, UUID an extension
/// type also where the writer's ARROW:schema does not ask for it.
const std::set<std::string> kSameLayout = {"hyparquet/issue23.parquet", "hyparquet/uuid.parquet"};

/// The same values under another type: field -> calve's type.
const std::map<std::string, std::map<std::string, std::shared_ptr<arrow::DataType>>> kOtherTypes = {
    // The writer's ARROW:schema makes libparquet read large strings.
    {"hyparquet/duckdb4442.parquet", {{"call_type", arrow::utf8()}, {"skills", arrow::utf8()}}},
};

std::vector<std::string> ParquetFilesUnder(const std::string& data, const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(data + "/" + folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".parquet") == std::string::npos || entry.path().extension() == ".json") continue;
    names.push_back(entry.path().string().substr(data.size() + 1));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsEncrypted(const std::string& name) { return name.ends_with(".encrypted"); }

/// Casts what libparquet reads to the types that calve gives.
TableResult Expected(const std::string& data, const std::string& name) {
  if (IsEncrypted(name)) {
    ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(data + "/" + name));
    return ReadWithLibparquet(file, testing::ParquetTestingKeys(data + "/" + name));
  }
  ARROW_ASSIGN_OR_RAISE(auto table, ReadWithLibparquet(data + "/" + name));
  const auto other = kOtherTypes.find(name);
  if (other == kOtherTypes.end()) return table;
  for (const auto& [field, type] : other->second) {
    const int index = table->schema()->GetFieldIndex(field);
    ARROW_ASSIGN_OR_RAISE(auto cast, arrow::compute::Cast(table->column(index), type));
    ARROW_ASSIGN_OR_RAISE(table, table->SetColumn(index, table->field(index)->WithType(type), cast.chunked_array()));
  }
  return table;
}

std::shared_ptr<arrow::ArrayData> Retyped(const arrow::ArrayData& data, const std::shared_ptr<arrow::DataType>& type) {
  auto result = data.Copy();
  result->type = type;
  for (size_t i = 0; i < data.child_data.size(); ++i) {
    result->child_data[i] = Retyped(*data.child_data[i], type->field(static_cast<int>(i))->type());
  }
  return result;
}

/// The buffers of `table` under the types of `schema`.
std::shared_ptr<arrow::Table> Retyped(const arrow::Table& table, const std::shared_ptr<arrow::Schema>& schema) {
  std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
  for (int i = 0; i < table.num_columns(); ++i) {
    arrow::ArrayVector chunks;
    for (const auto& chunk : table.column(i)->chunks()) {
      chunks.push_back(arrow::MakeArray(Retyped(*chunk->data(), schema->field(i)->type())));
    }
    columns.push_back(std::make_shared<arrow::ChunkedArray>(chunks, schema->field(i)->type()));
  }
  return arrow::Table::Make(schema, columns, table.num_rows());
}

void CheckFolder(const std::string& data, const std::string& folder, int expected_same) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  int same = 0;
  for (const std::string& name : ParquetFilesUnder(data, folder)) {
    SCOPED_TRACE(name);
    if (kOwnTest.count(name) != 0) continue;
    if (const auto refused = kRefused.find(name); refused != kRefused.end()) {
      const TableResult got = ReadWithCalve(data + "/" + name);
      EXPECT_TRUE(got.status().IsNotImplemented()) << got.status();
      EXPECT_THAT(got.status().message(), ::testing::HasSubstr(refused->second));
      continue;
    }
    ParquetReadOptions options;
    if (IsEncrypted(name)) options = testing::Decrypting(testing::ParquetTestingKeys(data + "/" + name));
    const TableResult got = ReadWithCalve(data + "/" + name, options);
    TableResult expected = Expected(data, name);
    if (kSameLayout.count(name) != 0 && got.ok()) expected = Retyped(**expected, (*got)->schema());
    ExpectSameTable(got, expected);
    // Batches that end inside pages and runs.
    options.batch_rows = 7;
    ExpectSameTable(ReadWithCalve(data + "/" + name, options), expected);
    ++same;
  }
  EXPECT_EQ(same, expected_same);
}

TEST(ParquetConformance, ParquetTesting) {
  CALVE_SHARED_DATA(data);
  CheckFolder(data, "parquet-testing/data", 85);
}

TEST(ParquetConformance, Hyparquet) {
  CALVE_SHARED_DATA(data);
  CheckFolder(data, "hyparquet", 17);
}

TEST(ParquetConformance, IcebergEncodings) {
  CALVE_SHARED_DATA(data);
  CheckFolder(data, "iceberg-encodings", 32);
}

TEST(ParquetConformance, IcebergEncodingsAreTheirPlainTwins) {
  CALVE_SHARED_DATA(data);
  int compared = 0;
  for (const std::string& name : ParquetFilesUnder(data, "iceberg-encodings")) {
    const fs::path path = data + "/" + name;
    const fs::path twin = path.parent_path().parent_path() / "PLAIN" / path.filename();
    if (path == twin || !fs::exists(twin)) continue;
    SCOPED_TRACE(name);
    ExpectSameTable(ReadWithCalve(path.string()), ReadWithCalve(twin.string()));
    ++compared;
  }
  EXPECT_EQ(compared, 16);
}

TEST(ParquetConformance, ShreddedVariantsAreRefused) {
  CALVE_SHARED_DATA(data);
  int refused = 0, plain = 0;
  for (const std::string& name : ParquetFilesUnder(data, "parquet-testing/shredded_variant")) {
    SCOPED_TRACE(name);
    const TableResult got = ReadWithCalve(data + "/" + name);
    if (got.ok()) {
      // Not shredded: metadata and value as they stand.
      EXPECT_EQ((*got)->GetColumnByName("var")->type()->num_fields(), 2);
      ++plain;
      continue;
    }
    EXPECT_TRUE(got.status().IsNotImplemented()) << got.status();
    EXPECT_THAT(got.status().message(), ::testing::HasSubstr("shredded VARIANT"));
    ++refused;
  }
  EXPECT_EQ(refused, 98);
  EXPECT_EQ(plain, 36);
}

TEST(ParquetConformance, MapWithOptionalKeys) {
  CALVE_SHARED_DATA(data);
  const TableResult got = ReadWithCalve(data + "/parquet-testing/data/incorrect_map_schema.parquet");
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ((*got)->num_columns(), 1);
  const auto type = arrow::map(arrow::utf8(), arrow::utf8());
  ASSERT_TRUE((*got)->field(0)->type()->Equals(*type)) << (*got)->schema()->ToString();
  auto expected = arrow::json::ArrayFromJSONString(type, R"([[["parent", "another"], ["name", "report"]]])");
  EXPECT_TRUE((*got)->column(0)->chunk(0)->Equals(*expected)) << (*got)->ToString();
}

TEST(ParquetConformance, Int96OfAnyYear) {
  CALVE_SHARED_DATA(data);
  const TableResult got = ReadWithCalve(data + "/parquet-testing/data/int96_from_spark.parquet");
  ASSERT_TRUE(got.ok()) << got.status();
  auto expected = arrow::json::ArrayFromJSONString(
      arrow::timestamp(arrow::TimeUnit::MICRO),
      "[1704141296123456, 1704070800000000, 253402225200000000, 1735599600000000, null, 9089380393200000000]");
  EXPECT_TRUE((*got)->column(0)->chunk(0)->Equals(*expected)) << (*got)->ToString();
}

TEST(ParquetConformance, TwoRowsOfOneGibibyteEach) {
  if (std::getenv("CALVE_LONG_TESTS") == nullptr) GTEST_SKIP() << "takes a quarter of a minute (set CALVE_LONG_TESTS)";
  CALVE_SHARED_DATA(data);
  auto file = ParquetReader::Open(data + "/parquet-testing/data/large_string_map.brotli.parquet");
  ASSERT_TRUE(file.ok()) << file.status();
  auto reader = (*file)->ReadAll();
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (int row = 0; row < 2; ++row) {
    auto batch = (*reader)->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    ASSERT_NE(*batch, nullptr);
    ASSERT_EQ((*batch)->num_rows(), 1);
    const auto& map = static_cast<const arrow::MapArray&>(*(*batch)->column(0));
    ASSERT_EQ(map.value_length(0), 1);
    const std::string_view key = static_cast<const arrow::StringArray&>(*map.keys()).GetView(0);
    EXPECT_EQ(key.size(), 1073741824u);
    EXPECT_EQ(key.front(), 'a');
    EXPECT_EQ(std::memcmp(key.data(), key.data() + 1, key.size() - 1), 0);
    EXPECT_EQ(static_cast<const arrow::Int32Array&>(*map.items()).Value(0), 1);
  }
  EXPECT_EQ((*reader)->Next().ValueOrDie(), nullptr);
}

TEST(ParquetConformance, ChecksumsAreVerifiedWhenAsked) {
  CALVE_SHARED_DATA(data);
  ParquetReadOptions verify;
  verify.verify_crc = true;
  for (const char* right : {"datapage_v1-snappy-compressed-checksum", "datapage_v1-uncompressed-checksum",
                            "plain-dict-uncompressed-checksum", "rle-dict-snappy-checksum"}) {
    const TableResult got = ReadWithCalve(data + "/parquet-testing/data/" + right + ".parquet", verify);
    EXPECT_TRUE(got.ok()) << right << got.status();
  }
  for (const char* wrong : {"datapage_v1-corrupt-checksum", "rle-dict-uncompressed-corrupt-checksum"}) {
    const TableResult got = ReadWithCalve(data + "/parquet-testing/data/" + wrong + ".parquet", verify);
    EXPECT_TRUE(got.status().IsInvalid()) << wrong;
    EXPECT_THAT(got.status().message(), ::testing::HasSubstr("the header says")) << wrong;
  }
}

}  // namespace
}  // namespace calve
