#include "calve/parquet/variant_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

/// {"a", "b", "cc"}: header (version 1, offsets of a byte), size, offsets, bytes.
const std::string kNames = "\x01\x03\x00\x01\x02\x04"s + "abcc";
/// {"a": 1, "cc": [true, "hi"]} over kNames, written out by hand from the specification's diagrams.
const std::string kNested = "\x02\x02"s + "\x00\x02"s +
                            "\x00\x02\x0b"s +  // object of two: ids 0 and 2, offsets 0 and 2, 11 bytes in all
                            "\x0c\x01"s +      // int8 1
                            "\x03\x02\x00\x01\x04\x04\x09hi"s;  // array of two: true; short string "hi"

VariantMetadata Metadata(const std::string& bytes) { return VariantMetadata::Parse(bytes).ValueOrDie(); }

std::string Why(const Status& status) { return status.message(); }

TEST(VariantMetadata, NamesOfEveryOffsetSize) {
  for (int size = 1; size <= 4; ++size) {
    SCOPED_TRACE(size);
    const std::string pad(static_cast<size_t>(size - 1), '\0');
    std::string bytes(1, static_cast<char>(1 | (size - 1) << 6));
    for (char number : {2, 0, 3, 4}) bytes += number + pad;
    bytes += "foox";
    const auto metadata = Metadata(bytes);
    ASSERT_EQ(metadata.size(), 2u);
    EXPECT_EQ(metadata.name(0), "foo");
    EXPECT_EQ(metadata.name(1), "x");
    EXPECT_EQ(metadata.Find("x"), 1u);
    EXPECT_EQ(metadata.Find("y"), std::nullopt);
  }
}

TEST(VariantMetadata, EmptyWithAndWithoutItsOffset) {
  EXPECT_EQ(Metadata("\x01\x00\x00"s).size(), 0u);
  EXPECT_EQ(Metadata("\x01\x00"s).size(), 0u);
}

TEST(VariantMetadata, TruncatedAtEveryByte) {
  for (size_t size = 0; size < kNames.size(); ++size) {
    EXPECT_TRUE(VariantMetadata::Parse(std::string_view(kNames).substr(0, size)).status().IsInvalid()) << size;
  }
}

TEST(VariantMetadata, RefusesWhatContradictsItself) {
  EXPECT_THAT(Why(VariantMetadata::Parse("\x02\x00\x00"s).status()), HasSubstr("version 2"));
  EXPECT_THAT(Why(VariantMetadata::Parse("\x01\x01\x01\x01x"s).status()), HasSubstr("name 0"));
  EXPECT_THAT(Why(VariantMetadata::Parse("\x01\x02\x00\x02\x01xy"s).status()), HasSubstr("name 1"));
  EXPECT_THAT(Why(VariantMetadata::Parse("\x01\x01\x00\x01xy"s).status()), HasSubstr("expected 1"));
  EXPECT_THAT(Why(VariantMetadata::Parse("\x01\x01\x00\x01\xff"s).status()), HasSubstr("UTF-8"));
  // Four billion names in ten bytes.
  EXPECT_TRUE(VariantMetadata::Parse("\xc1\xff\xff\xff\xff\x00\x00\x00\x00x"s).status().IsInvalid());
}

TEST(VariantValue, ReadsFieldsAndElements) {
  const auto metadata = Metadata(kNames);
  ASSERT_TRUE(CheckVariantValue(metadata, kNested).ok()) << CheckVariantValue(metadata, kNested);
  const auto fields = VariantFields(metadata, kNested).ValueOrDie();
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(metadata.name(fields[1].id), "cc");
  EXPECT_EQ(fields[0].value, "\x0c\x01"s);
  const auto elements = VariantElements(fields[1].value).ValueOrDie();
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(elements[0], "\x04"s);
  EXPECT_EQ(elements[1], "\x09hi"s);
}

TEST(VariantValue, TruncatedAtEveryByte) {
  const auto metadata = Metadata(kNames);
  for (size_t size = 0; size < kNested.size(); ++size) {
    EXPECT_FALSE(CheckVariantValue(metadata, std::string_view(kNested).substr(0, size)).ok()) << size;
  }
}

TEST(VariantValue, EveryByteChanged) {
  // No outcome is wrong, but each must come.
  const auto metadata = Metadata(kNames);
  for (size_t i = 0; i < kNested.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = kNested;
      changed[i] = static_cast<char>(value);
      if (CheckVariantValue(metadata, changed).ok() && IsVariantObject(changed)) {
        EXPECT_TRUE(VariantFields(metadata, changed).ok());
      }
    }
  }
}

TEST(VariantValue, ValuesOfAnObjectInAnyOrder) {
  // {"a": 1, "b": 2} with the value of b first.
  const std::string value = "\x02\x02\x00\x01\x02\x00\x04\x0c\x02\x0c\x01"s;
  const auto metadata = Metadata(kNames);
  ASSERT_TRUE(CheckVariantValue(metadata, value).ok());
  EXPECT_EQ(VariantFields(metadata, value).ValueOrDie()[0].value, "\x0c\x01"s);
}

TEST(VariantValue, RefusesWhatContradictsItself) {
  const auto metadata = Metadata(kNames);
  const auto check = [&](const std::string& value) { return Why(CheckVariantValue(metadata, value)); };
  EXPECT_THAT(check(""), HasSubstr("no bytes"));
  EXPECT_THAT(check("\x00x"s), HasSubstr("1 bytes in 2"));
  EXPECT_THAT(check("\x02\x01\x07\x00\x01\x00"s), HasSubstr("field id 7 out of range"));
  EXPECT_THAT(check("\x02\x02\x00\x00\x00\x01\x02\x00\x00"s), HasSubstr("two fields 'a'"));
  EXPECT_THAT(check("\x05\xff"s), HasSubstr("UTF-8"));
  EXPECT_THAT(check("\x20\x27\x00\x00\x00\x00"s), HasSubstr("scale 39"));
  EXPECT_TRUE(CheckVariantValue(metadata, "\x54"s).IsNotImplemented());  // primitive type 21
  // Two elements that are the same bytes.
  const auto shared = "\x03\x02\x00\x00\x02\x0c\x01"s;
  EXPECT_THAT(check(shared), HasSubstr("overlap"));
  // The same within an array that has bytes which are no value's.
  EXPECT_THAT(check("\x03\x01\x00\x0f"s + shared + std::string(8, '\0')), HasSubstr("overlap"));
}

TEST(VariantValue, NestingIsBounded) {
  const auto nested = [](int depth) {
    std::string value = "\x00"s;
    for (int i = 0; i < depth; ++i) {
      std::string outer;
      const std::string_view element = value;
      AppendVariantArray({&element, 1}, &outer);
      value = outer;
    }
    return value;
  };
  const auto metadata = Metadata(kNames);
  EXPECT_TRUE(CheckVariantValue(metadata, nested(kMaxVariantDepth)).ok());
  EXPECT_THAT(Why(CheckVariantValue(metadata, nested(kMaxVariantDepth + 1))), HasSubstr("nested deeper"));
}

TEST(VariantValue, WritesWhatTheSpecificationShows) {
  const auto metadata = Metadata(kNames);
  std::string text, array, object;
  AppendVariantString("n/a", &text);
  EXPECT_EQ(text, "\x0dn/a");
  const std::vector<std::string_view> elements = {"\x04", "\x09hi"};
  AppendVariantArray(elements, &array);
  ASSERT_TRUE(AppendVariantObject(metadata, {{2, array}, {0, std::string_view("\x0c\x01")}}, &object).ok());
  EXPECT_EQ(object, kNested);
  EXPECT_TRUE(AppendVariantObject(metadata, {{0, text}, {0, text}}, &object).IsInvalid());
}

TEST(VariantValue, LongStringsAndManyElements) {
  const auto metadata = Metadata(kNames);
  const std::string text(70000, 'x');
  std::string value, array;
  AppendVariantString(text, &value);
  EXPECT_EQ(value.substr(0, 5), "\x40\x70\x11\x01\x00"s);
  const std::vector<std::string_view> elements(300, value);
  AppendVariantArray(elements, &array);
  ASSERT_TRUE(CheckVariantValue(metadata, array).ok()) << CheckVariantValue(metadata, array);
  EXPECT_EQ(VariantElements(array).ValueOrDie().size(), 300u);
}

}  // namespace
}  // namespace calve::parquet
