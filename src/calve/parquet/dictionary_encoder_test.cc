#include "calve/parquet/dictionary_encoder.h"

#include "calve/parquet/value_encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace calve::parquet {
namespace {

template <typename T>
struct Encoded {
  explicit Encoded(bool fixed = false, int64_t limit = 1 << 20)
      : encoder(fixed, limit, arrow::default_memory_pool()), ids(arrow::default_memory_pool()) {}
  bool Add(const std::vector<T>& values) { return encoder.Append(values, &ids).ValueOrDie(); }
  std::vector<uint32_t> Ids() const { return {ids.data(), ids.data() + ids.size()}; }

  DictionaryEncoder<T> encoder;
  PoolVector<uint32_t> ids;
};

TEST(DictionaryEncoder, IdsInTheOrderOfFirstSight) {
  Encoded<std::string_view> encoded;
  EXPECT_TRUE(encoded.Add({"b", "a", "", "b", "", "a", "c"}));
  EXPECT_EQ(encoded.Ids(), (std::vector<uint32_t>{0, 1, 2, 0, 2, 1, 3}));
  EXPECT_EQ(encoded.encoder.value(3), "c");
  EXPECT_EQ(encoded.encoder.bit_width(), 2);
  const auto page = encoded.encoder.Finish().ValueOrDie();
  EXPECT_EQ(page->ToString(), std::string("\1\0\0\0b\1\0\0\0a\0\0\0\0\1\0\0\0c", 19));
  EXPECT_EQ(encoded.encoder.size(), 0);
}

TEST(DictionaryEncoder, FixedLengthValuesHaveNoLengths) {
  Encoded<std::string_view> encoded(/*fixed=*/true);
  EXPECT_TRUE(encoded.Add({"xy", "ab", "xy"}));
  EXPECT_EQ(encoded.encoder.value(1), "ab");
  EXPECT_EQ(encoded.encoder.Finish().ValueOrDie()->ToString(), "xyab");
}

TEST(DictionaryEncoder, FloatsAreDistinctByTheirBits) {
  Encoded<double> encoded;
  const double nan = std::nan("1"), other_nan = std::nan("2");
  EXPECT_TRUE(encoded.Add({0.0, -0.0, nan, other_nan, 0.0, nan}));
  EXPECT_EQ(encoded.Ids(), (std::vector<uint32_t>{0, 1, 2, 3, 0, 2}));
  EXPECT_TRUE(std::signbit(encoded.encoder.value(1)));
}

TEST(DictionaryEncoder, ManyValuesGrowTheTable) {
  Encoded<int64_t> encoded(false, 1 << 30);
  std::mt19937_64 random(1);
  std::vector<int64_t> values;
  for (int i = 0; i < 200000; ++i) values.push_back(static_cast<int64_t>(random() % 50000) << 20);
  EXPECT_TRUE(encoded.Add(values));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(encoded.encoder.value(encoded.ids[static_cast<int64_t>(i)]), values[i]);
  EXPECT_LE(encoded.encoder.size(), 50000);
  EXPECT_EQ(encoded.encoder.page_bytes(), encoded.encoder.size() * 8);
}

TEST(DictionaryEncoder, StopsAtItsLimit) {
  Encoded<int32_t> encoded(false, 12);
  EXPECT_FALSE(encoded.Add({1, 2, 1, 3, 2, 4, 5}));
  EXPECT_EQ(encoded.Ids(), (std::vector<uint32_t>{0, 1, 0, 2, 1}));
  EXPECT_EQ(encoded.encoder.page_bytes(), 12);
  EXPECT_TRUE(encoded.Add({3, 2, 1}));
}

/// Values appended in pieces, each page's encoding as it comes.
struct Pages {
  explicit Pages(ColumnOptions options)
      : element([] {
          SchemaElement e;
          e.type = PhysicalType::kInt64;
          return e;
        }()),
        encoder(element, options, arrow::default_memory_pool()) {}

  bool Add(const std::vector<int64_t>& values) { return encoder.Append(values, &bounds).ValueOrDie(); }
  Encoding Seal(bool last = false) {
    const Encoding encoding = encoder.EncodePage(last, &bounds)->encoding;
    encoder.ClearPage();
    return encoding;
  }

  SchemaElement element;
  Bounds<int64_t> bounds{BoundOrder::kSigned};
  ValueEncoder<int64_t> encoder;
};

std::vector<int64_t> Numbers(int64_t begin, int64_t end, int repeat) {
  std::vector<int64_t> values;
  for (int r = 0; r < repeat; ++r) {
    for (int64_t i = begin; i < end; ++i) values.push_back(i);
  }
  return values;
}

TEST(ValueEncoder, RepeatedValuesKeepTheDictionary) {
  Pages pages({});
  EXPECT_TRUE(pages.Add(Numbers(0, 100, 10)));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
  EXPECT_TRUE(pages.Add(Numbers(0, 100, 1)));
  EXPECT_EQ(pages.Seal(true), Encoding::kRleDictionary);
  EXPECT_EQ(pages.encoder.EndChunk()->value_count, 100);
}

TEST(ValueEncoder, DistinctValuesAbandonItOnTheFirstPage) {
  Pages pages({});
  EXPECT_TRUE(pages.Add(Numbers(0, 1000, 1)));
  EXPECT_EQ(pages.Seal(), Encoding::kPlain);
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 100)));
  EXPECT_EQ(pages.Seal(), Encoding::kPlain);
  EXPECT_EQ(pages.encoder.EndChunk()->values, nullptr);
  // The next chunk tries again.
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 100)));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
}

TEST(ValueEncoder, PagesWithoutValuesDecideNothing) {
  Pages pages({});
  EXPECT_TRUE(pages.Add({}));
  EXPECT_EQ(pages.Seal(), Encoding::kPlain);
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 100)));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
}

TEST(ValueEncoder, FullDictionaryStaysForThePagesThatUseIt) {
  ColumnOptions options;
  options.dictionary_bytes = 800;
  Pages pages(options);
  EXPECT_TRUE(pages.Add(Numbers(0, 60, 3)));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
  EXPECT_TRUE(pages.Add(Numbers(0, 60, 1)));
  EXPECT_FALSE(pages.Add(Numbers(60, 200, 1)));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
  EXPECT_TRUE(pages.Add(Numbers(60, 200, 1)));
  EXPECT_EQ(pages.Seal(), Encoding::kPlain);
  EXPECT_LE(pages.encoder.EndChunk()->values->size(), 800);
  EXPECT_EQ(pages.bounds.max(), std::string("\xC7\0\0\0\0\0\0\0", 8));
}

// Seven values for each entry, then one entry too many: the open page is not blown up to PLAIN.
TEST(ValueEncoder, FullDictionaryThatPaysIsKeptBeforeTheFirstPageEnds) {
  ColumnOptions options;
  options.dictionary_bytes = 80;
  Pages pages(options);
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 7)));
  EXPECT_FALSE(pages.Add({11}));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
  EXPECT_TRUE(pages.Add({11}));
  EXPECT_EQ(pages.Seal(true), Encoding::kPlain);
}

// Of eight values and more for each entry it grows, to sixteen times the size and no further.
TEST(ValueEncoder, FullDictionaryOfFrequentValuesGrows) {
  ColumnOptions options;
  options.dictionary_bytes = 80;
  Pages pages(options);
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 1000)));
  EXPECT_TRUE(pages.Add(Numbers(10, 160, 1)));
  EXPECT_FALSE(pages.Add({160}));
  EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
  EXPECT_TRUE(pages.Add({160}));
  EXPECT_EQ(pages.Seal(true), Encoding::kPlain);
  EXPECT_EQ(pages.encoder.EndChunk()->values->size(), 16 * 80);
  // The next chunk begins with what was asked for.
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 2)));
  EXPECT_FALSE(pages.Add({11}));
}

// A page of one value may be long, and cut by content, and the value of the next page.
TEST(ValueEncoder, OneValueDecidesNothing) {
  Pages pages({});
  for (int page = 0; page < 3; ++page) {
    EXPECT_TRUE(pages.Add({7}));
    EXPECT_EQ(pages.Seal(), Encoding::kRleDictionary);
  }
}

TEST(ValueEncoder, SwitchedOff) {
  ColumnOptions options;
  options.dictionary = false;
  Pages pages(options);
  EXPECT_TRUE(pages.Add(Numbers(0, 10, 100)));
  EXPECT_EQ(pages.Seal(true), Encoding::kPlain);
  EXPECT_EQ(pages.encoder.EndChunk()->values, nullptr);
}

}  // namespace
}  // namespace calve::parquet
