#include "documented_differences.h"
#include "encrypted_parquet.h"
#include "parquet_testing_keys.h"
#include "read_parquet.h"
#include "test_data.h"

#include <arrow/array.h>
#include <arrow/csv/api.h>
#include <arrow/extension_type.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

// Files that other systems wrote, read by calve and by libparquet: schema and values must be the same. Where they are
// not, docs/format/parquet-conformance.md says so and why; a row of it that no longer differs fails here too.

namespace calve {
namespace {

namespace fs = std::filesystem;
using testing::Difference;
using testing::ExpectSameTable;
using testing::ReadWithCalve;
using testing::ReadWithLibparquet;
using testing::TableResult;

/// Two rows of a gibibyte each: read by a long test of its own.
constexpr char kLargeMap[] = "parquet-testing/data/large_string_map.brotli.parquet";

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

bool SameLayout(const arrow::DataType& a, const arrow::DataType& b) {
  const auto storage = [](const arrow::DataType& type) -> const arrow::DataType& {
    return type.id() == arrow::Type::EXTENSION ? *static_cast<const arrow::ExtensionType&>(type).storage_type() : type;
  };
  const arrow::DataType &left = storage(a), &right = storage(b);
  const auto bytes = [](const arrow::DataType& type) {
    return type.id() == arrow::Type::STRING || type.id() == arrow::Type::BINARY;
  };
  if (left.num_fields() != right.num_fields()) return false;
  for (int i = 0; i < left.num_fields(); ++i) {
    if (!SameLayout(*left.field(i)->type(), *right.field(i)->type())) return false;
  }
  return left.num_fields() > 0 ? left.id() == right.id() : left.Equals(right) || (bytes(left) && bytes(right));
}

std::shared_ptr<arrow::ArrayData> Retyped(const arrow::ArrayData& data, const std::shared_ptr<arrow::DataType>& type) {
  auto result = data.Copy();
  result->type = type;
  const auto& storage =
      type->id() == arrow::Type::EXTENSION ? *static_cast<const arrow::ExtensionType&>(*type).storage_type() : *type;
  for (size_t i = 0; i < data.child_data.size(); ++i) {
    result->child_data[i] = Retyped(*data.child_data[i], storage.field(static_cast<int>(i))->type());
  }
  return result;
}

/// `column` as values of `type`: the same buffers where they fit, cast otherwise.
arrow::Result<std::shared_ptr<arrow::ChunkedArray>> AsType(const std::shared_ptr<arrow::ChunkedArray>& column,
                                                           const std::shared_ptr<arrow::DataType>& type) {
  if (!SameLayout(*column->type(), *type)) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, arrow::compute::Cast(column, type));
    return cast.chunked_array();
  }
  arrow::ArrayVector chunks;
  for (const auto& chunk : column->chunks()) chunks.push_back(arrow::MakeArray(Retyped(*chunk->data(), type)));
  return std::make_shared<arrow::ChunkedArray>(chunks, type);
}

bool SameValues(const arrow::ChunkedArray& a, const arrow::ChunkedArray& b) {
  return a.Equals(b, arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false));
}

/// How two readers differ about a column; "" when they do not.
std::string ColumnDifference(const arrow::Table& got, const arrow::Table& expected, int column) {
  const bool same_field = got.field(column)->Equals(*expected.field(column), false);
  if (same_field) return SameValues(*got.column(column), *expected.column(column)) ? "" : "values";
  const auto cast = AsType(expected.column(column), got.field(column)->type());
  return cast.ok() && SameValues(*got.column(column), **cast) ? "type" : "values";
}

void AddDifferences(const std::string& name, const TableResult& got, const TableResult& expected,
                    std::set<Difference>* out) {
  if (!got.ok() && !expected.ok()) return;
  if (!got.ok()) {
    out->insert({name, "", "calve refuses"});
  } else if (!expected.ok()) {
    out->insert({name, "", "pyarrow refuses"});
  } else if ((*got)->num_columns() != (*expected)->num_columns() || (*got)->num_rows() != (*expected)->num_rows()) {
    out->insert({name, "", "values"});
  } else {
    for (int column = 0; column < (*got)->num_columns(); ++column) {
      const std::string kind = ColumnDifference(**got, **expected, column);
      if (!kind.empty()) out->insert({name, (*expected)->field(column)->name(), kind});
    }
  }
}

bool IsEncrypted(const std::string& name) { return name.ends_with(".encrypted"); }

ParquetReadOptions OptionsFor(const std::string& path) {
  return IsEncrypted(path) ? testing::Decrypting(testing::ParquetTestingKeys(path)) : ParquetReadOptions();
}

TableResult Expected(const std::string& path) {
  if (!IsEncrypted(path)) return ReadWithLibparquet(path);
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  return ReadWithLibparquet(file, testing::ParquetTestingKeys(path));
}

/// The differences of a folder are the rows of the table, no more and no less.
void CheckFolder(const std::string& data, const std::string& folder, int expected_read) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  std::set<Difference> differences, rows;
  for (const Difference& row : testing::DocumentedDifferences()) {
    const bool of_pyarrow = row.kind != "hyparquet's values";
    if (row.file.rfind(folder + "/", 0) == 0 && row.file != kLargeMap && of_pyarrow) rows.insert(row);
  }
  int read = 0;
  for (const std::string& name : ParquetFilesUnder(data, folder)) {
    if (name == kLargeMap) continue;
    SCOPED_TRACE(name);
    const std::string path = data + "/" + name;
    ParquetReadOptions options = OptionsFor(path);
    const TableResult got = ReadWithCalve(path, options);
    AddDifferences(name, got, Expected(path), &differences);
    if (!got.ok()) continue;
    // Batches that end inside pages and runs.
    options.batch_rows = 7;
    ExpectSameTable(ReadWithCalve(path, options), got);
    ++read;
  }
  EXPECT_EQ(read, expected_read);
  for (const Difference& found : differences) {
    EXPECT_EQ(rows.count(found), 1u) << "differs, and has no row in the table: " << found;
  }
  for (const Difference& row : rows) {
    EXPECT_EQ(differences.count(row), 1u) << "has a row in the table, and does not differ: " << row;
  }
}

TEST(ParquetConformance, ParquetTesting) {
  CALVE_SHARED_DATA(data);
  CheckFolder(data, "parquet-testing/data", 87);
}

TEST(ParquetConformance, Hyparquet) {
  CALVE_SHARED_DATA(data);
  CheckFolder(data, "hyparquet", 18);
}

TEST(ParquetConformance, IcebergEncodings) {
  CALVE_SHARED_DATA(data);
  CheckFolder(data, "iceberg-encodings", 32);
}

std::string Contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

/// The type under which JSON shows the values: it has no decimals.
std::shared_ptr<arrow::DataType> JsonType(const std::shared_ptr<arrow::DataType>& type) {
  return arrow::is_decimal(type->id()) ? arrow::float64() : type;
}

/// 8-4-4-4-12 hexadecimal digits as bytes.
std::string UuidBytes(std::string text) {
  std::erase(text, '-');
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

bool SameAsUuids(const nlohmann::json& values, const arrow::ChunkedArray& got) {
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& array = static_cast<const arrow::ExtensionArray&>(*got.chunk(0));
    const auto& storage = static_cast<const arrow::FixedSizeBinaryArray&>(*array.storage());
    if (storage.GetView(static_cast<int64_t>(i)) != UuidBytes(values[i])) return false;
  }
  return true;
}

/// Column `column` of rows of JSON against `got`.
bool SameAsJson(const nlohmann::json& rows, int column, const std::shared_ptr<arrow::ChunkedArray>& got) {
  auto values = nlohmann::json::array();
  for (const auto& row : rows) values.push_back(row.at(static_cast<size_t>(column)));
  if (got->type()->id() == arrow::Type::EXTENSION) return SameAsUuids(values, *got);
  const auto type = JsonType(got->type());
  const auto array = arrow::json::ArrayFromJSONString(type, values.dump());
  const auto cast = arrow::compute::Cast(got, type);
  return array.ok() && cast.ok() && SameValues(*cast->chunked_array(), arrow::ChunkedArray(*array));
}

TEST(ParquetConformance, HyparquetsExpectedValues) {
  CALVE_SHARED_DATA(data);
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto rows = testing::DocumentedDifferences();
  int compared = 0;
  for (const std::string& name : ParquetFilesUnder(data, "hyparquet")) {
    const fs::path json = fs::path(data + "/" + name).replace_extension(".json");
    if (!fs::exists(json) || rows.count({name, "", "calve refuses"}) != 0) continue;
    SCOPED_TRACE(name);
    const TableResult got = ReadWithCalve(data + "/" + name);
    ASSERT_TRUE(got.ok()) << got.status();
    const auto expected = nlohmann::json::parse(Contents(json));
    ASSERT_EQ(static_cast<int64_t>(expected.size()), (*got)->num_rows());
    for (int i = 0; i < (*got)->num_columns(); ++i) {
      const arrow::DataType& type = *(*got)->field(i)->type();
      const bool opaque = type.id() == arrow::Type::EXTENSION &&
                          static_cast<const arrow::ExtensionType&>(type).extension_name() != "arrow.uuid";
      if (opaque) continue;  // variants: variant_shredding_test.cc
      const Difference difference{name, (*got)->field(i)->name(), "hyparquet's values"};
      EXPECT_EQ(SameAsJson(expected, i, (*got)->column(i)), rows.count(difference) == 0) << difference;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 53);
}

/// A file of comma-separated values under the names and types of `schema`.
TableResult ReadCsv(const std::string& path, const std::shared_ptr<arrow::Schema>& schema) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  // The names of the columns are spelt otherwise in the first line.
  auto read = arrow::csv::ReadOptions::Defaults();
  read.column_names = schema->field_names();
  read.skip_rows = 1;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  for (const auto& field : schema->fields()) convert.column_types[field->name()] = field->type();
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = false;
  convert.null_values = {""};
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::csv::TableReader::Make(arrow::io::default_io_context(), file, read,
                                                                   arrow::csv::ParseOptions::Defaults(), convert));
  return reader->Read();
}

TEST(ParquetConformance, ExpectedCsvOfTheDeltaEncodings) {
  CALVE_SHARED_DATA(data);
  for (const char* name : {"delta_binary_packed", "delta_byte_array", "delta_encoding_optional_column",
                           "delta_encoding_required_column"}) {
    SCOPED_TRACE(name);
    const std::string path = data + "/parquet-testing/data/" + name;
    const TableResult got = ReadWithCalve(path + ".parquet");
    ASSERT_TRUE(got.ok()) << got.status();
    const TableResult expected = ReadCsv(path + "_expect.csv", (*got)->schema());
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_EQ((*got)->num_columns(), (*expected)->num_columns());
    for (int i = 0; i < (*got)->num_columns(); ++i) {
      EXPECT_TRUE(SameValues(*(*got)->column(i), *(*expected)->column(i))) << (*got)->field(i)->ToString();
    }
  }
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

TEST(ParquetConformance, Int96InTheUnitAskedFor) {
  CALVE_SHARED_DATA(data);
  const std::string path = data + "/parquet-testing/data/int96_from_spark.parquet";
  // The last value is of the year -294,000: as microseconds it wraps around, as milliseconds it does not.
  const std::vector<std::pair<arrow::TimeUnit::type, std::string>> units = {
      {arrow::TimeUnit::SECOND, "[1704141296, 1704070800, 253402225200, 1735599600, null, -9357363680509]"},
      {arrow::TimeUnit::MILLI,
       "[1704141296123, 1704070800000, 253402225200000, 1735599600000, null, -9357363680509551]"},
      // Nanoseconds of the years 9999 and 290000 wrap around.
      {arrow::TimeUnit::NANO,
       "[1704141296123456000, 1704070800000000000, -4852191831933722624, 1735599600000000000, null, "
       "-4864435138808946688]"}};
  for (const auto& [unit, values] : units) {
    ParquetReadOptions options;
    options.int96_unit = unit;
    const TableResult got = ReadWithCalve(path, options);
    ASSERT_TRUE(got.ok()) << got.status();
    auto expected = arrow::json::ArrayFromJSONString(arrow::timestamp(unit), values);
    EXPECT_TRUE((*got)->column(0)->chunk(0)->Equals(*expected)) << (*got)->ToString();
  }
}

TEST(ParquetConformance, TwoRowsOfOneGibibyteEach) {
  if (!testing::LongTests()) GTEST_SKIP() << "takes a quarter of a minute (set CALVE_LONG_TESTS)";
  CALVE_SHARED_DATA(data);
  EXPECT_EQ(testing::DocumentedDifferences().count({kLargeMap, "", "pyarrow refuses"}), 1u);
  EXPECT_FALSE(ReadWithLibparquet(data + "/" + kLargeMap).ok());
  auto file = ParquetReader::Open(data + "/" + kLargeMap);
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
