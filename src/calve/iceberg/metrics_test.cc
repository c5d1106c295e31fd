#include "calve/iceberg/metrics.h"

#include "calve/iceberg/truncated_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace calve::iceberg {
namespace {

using std::string_literals::operator""s;

Schema TestSchema() {
  Schema schema;
  schema.fields = {
      Field{1, "i", false, Primitive(TypeId::kInt)},
      Field{2, "s", false, Primitive(TypeId::kString)},
      Field{3, "d", false, Primitive(TypeId::kDouble)},
      Field{4, "b", false, Primitive(TypeId::kBinary)},
      Field{5, "l", false, List(Field{6, "element", false, Primitive(TypeId::kInt)})},
      Field{7, "st", false, Struct({Field{8, "x", false, Primitive(TypeId::kFloat)}})},
      Field{9, "g", false, Primitive(TypeId::kGeometry)},
  };
  return schema;
}

LeafMetrics Leaf(int id, Value lower, Value upper) {
  LeafMetrics leaf;
  leaf.field_id = id;
  leaf.column_size_bytes = 100 + id;
  leaf.value_count = 10;
  leaf.null_count = 1;
  leaf.nan_count = 2;
  leaf.lower = std::move(lower);
  leaf.upper = std::move(upper);
  return leaf;
}

DataFile Metrics(std::map<std::string, std::string> properties, const std::vector<LeafMetrics>& leaves) {
  TableMetadata metadata;
  metadata.properties = std::move(properties);
  DataFile file;
  const Status status = SetMetrics(metadata, TestSchema(), leaves, &file);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return file;
}

TEST(Metrics, KeyedByFieldId) {
  const DataFile file = Metrics({}, {Leaf(1, int32_t{-1}, int32_t{2}), Leaf(99, int32_t{0}, int32_t{0})});
  EXPECT_EQ(file.column_sizes, (std::map<int, int64_t>{{1, 101}}));
  EXPECT_EQ(file.value_counts, (std::map<int, int64_t>{{1, 10}}));
  EXPECT_EQ(file.null_value_counts, (std::map<int, int64_t>{{1, 1}}));
  EXPECT_EQ(file.lower_bounds.at(1), "\xff\xff\xff\xff"s);
  EXPECT_EQ(file.upper_bounds.at(1), "\2\0\0\0"s);
}

TEST(Metrics, NanCountsOnlyOfFloatingColumns) {
  const DataFile file = Metrics({}, {Leaf(1, {}, {}), Leaf(3, {}, {}), Leaf(8, {}, {})});
  EXPECT_EQ(file.nan_value_counts, (std::map<int, int64_t>{{3, 2}, {8, 2}}));
}

TEST(Metrics, NoBoundsOfNullsNanRepeatedAndGeometry) {
  LeafMetrics element = Leaf(6, int32_t{1}, int32_t{2});
  element.inside_repeated = true;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const DataFile file = Metrics({}, {Leaf(1, {}, {}), Leaf(3, nan, nan), element, Leaf(9, "ab"s, "cd"s)});
  EXPECT_TRUE(file.lower_bounds.empty());
  EXPECT_TRUE(file.upper_bounds.empty());
  EXPECT_EQ(file.value_counts.at(6), 10);
}

TEST(Metrics, ZeroBoundsCoverBothZeros) {
  const DataFile file = Metrics({}, {Leaf(3, 0.0, -0.0), Leaf(8, 0.0f, 0.0f)});
  EXPECT_EQ(file.lower_bounds.at(3), "\0\0\0\0\0\0\0\x80"s);
  EXPECT_EQ(file.upper_bounds.at(3), "\0\0\0\0\0\0\0\0"s);
  EXPECT_EQ(file.lower_bounds.at(8), "\0\0\0\x80"s);
  EXPECT_EQ(file.upper_bounds.at(8), "\0\0\0\0"s);
}

TEST(Metrics, Modes) {
  const std::vector<LeafMetrics> leaves = {Leaf(2, "abcdef"s, "uvwxyz"s), Leaf(1, int32_t{1}, int32_t{2})};
  DataFile file = Metrics({{"write.metadata.metrics.default", "truncate(3)"}}, leaves);
  EXPECT_EQ(file.lower_bounds.at(2), "abc");
  EXPECT_EQ(file.upper_bounds.at(2), "uvx");
  file = Metrics({{"write.metadata.metrics.default", "none"}, {"write.metadata.metrics.column.s", "FULL"}}, leaves);
  EXPECT_EQ(file.upper_bounds.at(2), "uvwxyz");
  EXPECT_EQ(file.column_sizes.count(1), 1u);
  EXPECT_EQ(file.value_counts.count(1), 0u);
  file = Metrics({{"write.metadata.metrics.column.s", "counts"}}, leaves);
  EXPECT_EQ(file.value_counts.count(2), 1u);
  EXPECT_EQ(file.lower_bounds.count(2), 0u);
  EXPECT_EQ(file.lower_bounds.count(1), 1u);
  file = Metrics({{"write.metadata.metrics.column.st.x", "none"}}, {Leaf(8, 1.0f, 2.0f)});
  EXPECT_EQ(file.value_counts.count(8), 0u);
}

TEST(Metrics, UnknownModeNamesTheProperty) {
  TableMetadata metadata;
  DataFile file;
  metadata.properties["write.metadata.metrics.column.s"] = "truncate(0)";
  EXPECT_EQ(SetMetrics(metadata, TestSchema(), {}, &file).message(),
            "table property 'write.metadata.metrics.column.s': expected none, counts, truncate(LENGTH) or full, got "
            "'truncate(0)'");
  metadata.properties = {{"write.metadata.metrics.default", "most"}};
  EXPECT_TRUE(MetricsModeOf(metadata, TestSchema(), 1).status().IsInvalid());
}

TEST(Metrics, ColumnsBeyondTheInferredOnesHaveNone) {
  TableMetadata metadata;
  metadata.properties = {{"write.metadata.metrics.max-inferred-column-defaults", "2"},
                         {"write.metadata.metrics.column.b", "counts"}};
  auto kind = [&](int id) { return MetricsModeOf(metadata, TestSchema(), id)->kind; };
  EXPECT_EQ(kind(2), MetricsMode::Kind::kTruncate);
  EXPECT_EQ(kind(3), MetricsMode::Kind::kNone);
  EXPECT_EQ(kind(4), MetricsMode::Kind::kCounts);
  metadata.properties["write.metadata.metrics.default"] = "full";
  EXPECT_EQ(kind(3), MetricsMode::Kind::kFull);
}

TEST(Metrics, SortedColumnsKeepBounds) {
  TableMetadata metadata;
  metadata.properties["write.metadata.metrics.default"] = "counts";
  metadata.sort_orders = {SortOrder{}, SortOrder{1, {SortField{3}}}};
  metadata.default_sort_order_id = 1;
  EXPECT_EQ(MetricsModeOf(metadata, TestSchema(), 3)->kind, MetricsMode::Kind::kTruncate);
  EXPECT_EQ(MetricsModeOf(metadata, TestSchema(), 2)->kind, MetricsMode::Kind::kCounts);
}

// Fault 11 of the list: a character of several bytes at the place of the cut.
TEST(TruncatedBound, MultibyteCharacterAtTheCut) {
  const std::string text = "aaaaaaaaaaaaaaa\xc3\xa9zz"s;  // 15 letters, then an e with an accent as the 16th
  EXPECT_EQ(TruncateTextDown(text, 16), "aaaaaaaaaaaaaaa\xc3\xa9"s);
  EXPECT_EQ(TruncateTextUp(text, 16), "aaaaaaaaaaaaaaa\xc3\xaa"s);
  // A bound that came cut inside the character stays a bound, and becomes text again.
  const std::string cut = text.substr(0, 16);
  EXPECT_EQ(TruncateTextDown(cut, 16), "aaaaaaaaaaaaaaa"s);
  EXPECT_EQ(TruncateTextUp(cut, 16), "aaaaaaaaaaaaaab"s);
}

TEST(TruncatedBound, RaisesCodePoints) {
  EXPECT_EQ(TruncateTextUp("abc", 3), "abc");
  EXPECT_EQ(TruncateTextUp("", 3), "");
  EXPECT_EQ(TruncateTextUp("a\x7fz", 2), "a\xc2\x80"s);
  EXPECT_EQ(TruncateTextUp("\xed\x9f\xbfz", 1), "\xee\x80\x80"s);      // over the surrogates
  EXPECT_EQ(TruncateTextUp("\xef\xbf\xbfz", 1), "\xf0\x90\x80\x80"s);  // into four bytes
  EXPECT_EQ(TruncateTextUp("a\xf4\x8f\xbf\xbfz", 2), "b");             // the largest code point cannot be raised
  EXPECT_EQ(TruncateTextUp("\xf4\x8f\xbf\xbfz", 1), std::nullopt);
}

TEST(TruncatedBound, StaysABoundForAllTextOfTwoCodePoints) {
  const std::string points[] = {"\0"s,
                                "a",
                                "\x7f",
                                "\xc2\x80",
                                "\xdf\xbf",
                                "\xe0\xa0\x80",
                                "\xed\x9f\xbf",
                                "\xee\x80\x80",
                                "\xef\xbf\xbf",
                                "\xf0\x90\x80\x80",
                                "\xf4\x8f\xbf\xbf"};
  for (const std::string& first : points) {
    for (const std::string& second : points) {
      const std::string text = first + second;
      EXPECT_LE(TruncateTextDown(text, 1), text);
      auto upper = TruncateTextUp(text, 1);
      if (upper) {
        EXPECT_GT(*upper, text);
      }
      EXPECT_EQ(upper.has_value(), first != "\xf4\x8f\xbf\xbf");
    }
  }
}

TEST(TruncatedBound, Bytes) {
  EXPECT_EQ(TruncateBytesDown("abcd", 2), "ab");
  EXPECT_EQ(TruncateBytesUp("abcd", 2), "ac");
  EXPECT_EQ(TruncateBytesUp("ab", 2), "ab");
  EXPECT_EQ(TruncateBytesUp("a\xff\x01", 2), "b");
  EXPECT_EQ(TruncateBytesUp("\xff\xff\x01", 2), std::nullopt);
}

}  // namespace
}  // namespace calve::iceberg
