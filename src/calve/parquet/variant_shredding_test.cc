#include "calve/parquet/variant_shredding.h"

#include "calve/parquet/variant_shape.h"
#include "calve/parquet/variant_value.h"
#include "read_parquet.h"
#include "test_data.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace calve::parquet {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using calve::testing::ReadWithCalve;
using calve::testing::TableResult;

const arrow::StructArray& StorageOf(const arrow::Array& array) {
  return static_cast<const arrow::StructArray&>(*static_cast<const arrow::ExtensionArray&>(array).storage());
}

std::string BytesOf(const arrow::StructArray& group, const char* name, int64_t row) {
  return std::string(static_cast<const arrow::BinaryArray&>(*group.GetFieldByName(name)).GetView(row));
}

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TableResult ReadWhole(const std::string& path) {
  ParquetReadOptions options;
  options.whole_variants = true;
  return ReadWithCalve(path, options);
}

/// The files of a case's rows; null where the variant is null.
std::vector<Json> VariantFiles(const Json& test) {
  if (test.contains("variant_files")) return test["variant_files"].get<std::vector<Json>>();
  return {test["variant_file"]};
}

/// Names stand for ids, and values are compared to the bottom: two encodings of one variant are equal.
bool SameVariant(const VariantMetadata& left_names, std::string_view left, const VariantMetadata& right_names,
                 std::string_view right) {
  if (left == right && !IsVariantObject(left)) return true;
  if (IsVariantObject(left) != IsVariantObject(right)) return false;
  if (IsVariantObject(left)) {
    const auto a = VariantFields(left_names, left).ValueOrDie(), b = VariantFields(right_names, right).ValueOrDie();
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const VariantField& x, const VariantField& y) {
      return left_names.name(x.id) == right_names.name(y.id) && SameVariant(left_names, x.value, right_names, y.value);
    });
  }
  const auto a = VariantElements(left), b = VariantElements(right);
  if (!a.ok() || !b.ok()) return false;
  return std::equal(a->begin(), a->end(), b->begin(), b->end(),
                    [&](std::string_view x, std::string_view y) { return SameVariant(left_names, x, right_names, y); });
}

/// `file` is the metadata and the value, one after the other.
void ExpectVariant(const std::string& metadata, const std::string& value, const std::string& file) {
  ASSERT_TRUE(file.starts_with(metadata)) << ::testing::PrintToString(file);
  const std::string expected = file.substr(metadata.size());
  const auto names = VariantMetadata::Parse(metadata);
  ASSERT_TRUE(names.ok()) << names.status();
  ASSERT_TRUE(CheckVariantValue(*names, expected).ok()) << CheckVariantValue(*names, expected);
  EXPECT_TRUE(SameVariant(*names, value, *names, expected))
      << ::testing::PrintToString(value) << "\nexpected " << ::testing::PrintToString(expected);
}

void CheckCase(const std::string& folder, const Json& test) {
  const TableResult table = ReadWhole(folder + test["parquet_file"].get<std::string>());
  ASSERT_TRUE(table.ok()) << table.status();
  const auto column = (*table)->GetColumnByName("var");
  ASSERT_TRUE(column->type()->Equals(*WholeVariantType())) << column->type()->ToString();
  const auto files = VariantFiles(test);
  ASSERT_EQ(column->length(), static_cast<int64_t>(files.size()));
  ASSERT_EQ(column->num_chunks(), 1);
  ASSERT_TRUE(column->chunk(0)->ValidateFull().ok());
  const auto& group = StorageOf(*column->chunk(0));
  for (size_t row = 0; row < files.size(); ++row) {
    SCOPED_TRACE(row);
    const auto i = static_cast<int64_t>(row);
    ASSERT_EQ(group.IsNull(i), files[row].is_null());
    if (files[row].is_null()) continue;
    ExpectVariant(BytesOf(group, "metadata", i), BytesOf(group, "value", i),
                  FileBytes(folder + files[row].get<std::string>()));
  }
}

TEST(ShreddedVariant, TheCasesOfParquetTesting) {
  CALVE_SHARED_DATA(data);
  const std::string folder = data + "/parquet-testing/shredded_variant/";
  int read = 0, refused = 0;
  for (const Json& test : Json::parse(std::ifstream(folder + "cases.json"))) {
    const std::string file = test.value("parquet_file", "");
    if (file.empty() || !std::filesystem::exists(folder + file)) continue;
    SCOPED_TRACE(file);
    if (test.contains("error_message")) {
      const TableResult table = ReadWhole(folder + file);
      EXPECT_FALSE(table.ok());
      EXPECT_THAT(table.status().message(), HasSubstr("var"));
      ++refused;
    } else {
      CheckCase(folder, test);
      ++read;
    }
  }
  EXPECT_EQ(read, 128);
  EXPECT_EQ(refused, 6);
}

TEST(ShreddedVariant, WhatIsRefusedSaysWhy) {
  CALVE_SHARED_DATA(data);
  const std::string folder = data + "/parquet-testing/shredded_variant/case-";
  const auto why = [&](const char* number) { return ReadWhole(folder + number + ".parquet").status().message(); };
  EXPECT_THAT(why("040"), HasSubstr("both a value and a typed_value"));
  EXPECT_THAT(why("042"), HasSubstr("both a value and a typed_value"));
  EXPECT_THAT(why("087"), HasSubstr("a value that is no object"));
  EXPECT_THAT(why("127"), HasSubstr("a typed_value is INT32 (uint32)"));
  EXPECT_THAT(why("128"), HasSubstr("a value that is no object"));
  EXPECT_THAT(why("137"), HasSubstr("a typed_value is FIXED_LEN_BYTE_ARRAY"));
}

TEST(ShreddedVariant, IsTheCanonicalStructByDefault) {
  CALVE_SHARED_DATA(data);
  const TableResult table = ReadWithCalve(data + "/parquet-testing/shredded_variant/case-083.parquet");
  ASSERT_TRUE(table.ok()) << table.status();
  const auto& type = static_cast<const arrow::ExtensionType&>(*(*table)->GetColumnByName("var")->type());
  EXPECT_EQ(type.extension_name(), "arrow.parquet.variant");
  EXPECT_EQ(type.storage_type()->field(0)->ToString(), "metadata: binary not null");
  EXPECT_EQ(type.storage_type()->field(1)->ToString(), "value: binary");
  EXPECT_EQ(type.storage_type()->field(2)->name(), "typed_value");
}

TEST(ShreddedVariant, APartOfOneIsAStruct) {
  CALVE_SHARED_DATA(data);
  const std::string path = data + "/parquet-testing/shredded_variant/case-083.parquet";
  auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  const TableResult part = ReadWithCalve(file, {}, {"var.typed_value.d.typed_value"});
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ((*part)->schema()->field(0)->type()->ToString(),
            "struct<typed_value: struct<d: struct<typed_value: double> not null>>");
  // One that is put together is not taken apart.
  ParquetReadOptions whole;
  whole.whole_variants = true;
  const TableResult all = ReadWithCalve(file, whole, {"var.typed_value.d.typed_value"});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_TRUE((*all)->schema()->field(0)->type()->Equals(*WholeVariantType()));
}

TEST(ShreddedVariant, OptionalGroupsOfDuckDb) {
  CALVE_SHARED_DATA(data);
  const TableResult table = ReadWhole(data + "/hyparquet/shredded-sparse-timestamp.parquet");
  ASSERT_TRUE(table.ok()) << table.status();
  const auto& group = StorageOf(*(*table)->column(0)->chunk(0));
  ASSERT_EQ(group.length(), 4);
  std::vector<std::string> names;
  for (int64_t i = 0; i < 4; ++i) {
    const std::string metadata = BytesOf(group, "metadata", i), value = BytesOf(group, "value", i);
    const auto parsed = VariantMetadata::Parse(metadata).ValueOrDie();
    ASSERT_TRUE(CheckVariantValue(parsed, value).ok());
    std::string row;
    for (const VariantField& field : VariantFields(parsed, value).ValueOrDie()) {
      row += std::string(parsed.name(field.id)) + ",";
    }
    names.push_back(row);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("count,event_type,", "event_type,", "count,event_type,", "d,event_type,"));
}

}  // namespace
}  // namespace calve::parquet
