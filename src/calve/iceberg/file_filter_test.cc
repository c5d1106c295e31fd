#include "calve/iceberg/file_filter.h"

#include "calve/expression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace calve::iceberg {
namespace {

using Decision = FileFilter::Decision;

class FileFilterTest : public ::testing::Test {
 protected:
  FileFilterTest() {
    schema_.fields = {Field{1, "id", false, Primitive(TypeId::kLong)},
                      Field{2, "s", false, Primitive(TypeId::kString)},
                      Field{3, "f", false, Primitive(TypeId::kDouble)},
                      Field{4, "ts", false, Primitive(TypeId::kTimestamp)},
                      Field{5, "d", false, Decimal(9, 2)},
                      Field{6, "day", false, Primitive(TypeId::kDate)}};
    PartitionSpec spec;
    spec.spec_id = 1;
    // The source of the first field was dropped; the second is an identity, the third a day.
    spec.fields = {PartitionField{77, 1000, "gone", {TransformKind::kVoid, 0, "void"}},
                   PartitionField{2, 1001, "s", {TransformKind::kIdentity, 0, "identity"}},
                   PartitionField{4, 1002, "ts_day", {TransformKind::kDay, 0, "day"}}};
    metadata_.partition_specs = {PartitionSpec{}, spec};
    metadata_.schemas = {schema_};
  }

  FileFilter Filter(std::string_view text) const {
    auto expression = Expression::Parse(text);
    EXPECT_TRUE(expression.ok()) << expression.status().ToString();
    auto bound = expr::Bind(expression->root(), **ToArrow(schema_));
    EXPECT_TRUE(bound.ok()) << bound.status().ToString();
    FileFilter filter(metadata_, schema_, bound.ok() ? *bound : expr::True());
    for (int spec_id : {0, 1}) {
      const Status status = filter.AddSpec(spec_id);
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    return filter;
  }

  Decision Decide(std::string_view text, const DataFile& file) const { return Filter(text).Decide(file); }

  std::string Residual(std::string_view text, const DataFile& file) const {
    return expr::ToString(Filter(text).ResidualFor(file));
  }

  static std::string Bytes(TypeId type, const Value& value) { return *ValueToBytes(*Primitive(type), value); }

  static DataFile WithBounds(int id, std::string lower, std::string upper) {
    DataFile file;
    file.lower_bounds[id] = std::move(lower);
    file.upper_bounds[id] = std::move(upper);
    file.value_counts[id] = 3;
    file.null_value_counts[id] = 0;
    return file;
  }

  static DataFile InPartition(Value s, Value day) {
    DataFile file;
    file.spec_id = 1;
    file.partition = {Value(), std::move(s), std::move(day)};
    return file;
  }

  Schema schema_;
  TableMetadata metadata_;
};

TEST_F(FileFilterTest, BoundsOfPromotedColumns) {
  const DataFile ints = WithBounds(1, Bytes(TypeId::kInt, int32_t{-5}), Bytes(TypeId::kInt, int32_t{5}));
  EXPECT_EQ(Decide("id > 5", ints), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("id >= 5", ints), Decision::kKeep);
  EXPECT_EQ(Decide("id < -5", ints), Decision::kSkipByBounds);
  DataFile floats = WithBounds(3, Bytes(TypeId::kFloat, 1.5f), Bytes(TypeId::kFloat, 2.5f));
  floats.nan_value_counts[3] = 0;
  EXPECT_EQ(Decide("f > 2.5", floats), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("f >= 2.5", floats), Decision::kKeep);
  const DataFile dates = WithBounds(4, Bytes(TypeId::kDate, int32_t{-1}), Bytes(TypeId::kDate, int32_t{-1}));
  EXPECT_EQ(Decide("ts < TIMESTAMP '1969-12-31 00:00:00'", dates), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("ts <= TIMESTAMP '1969-12-31 00:00:00'", dates), Decision::kKeep);
}

TEST_F(FileFilterTest, BoundsThatAreNoValuesAreIgnored) {
  EXPECT_EQ(Decide("id > 5", WithBounds(1, "abc", "abc")), Decision::kKeep);
  EXPECT_EQ(Decide("id > 5", WithBounds(1, "", "")), Decision::kKeep);
  EXPECT_EQ(Decide("d > 5", WithBounds(5, std::string(17, 'x'), std::string(17, 'x'))), Decision::kKeep);
}

// Fault 11 of the list: the 16th byte of the text lies inside a character.
TEST_F(FileFilterTest, BoundsCutInsideACharacter) {
  const std::string text = "aaaaaaaaaaaaaaa\xc3\xa9";
  const DataFile file = WithBounds(2, text.substr(0, 16), "aaaaaaaaaaaaaaa\xc4");
  EXPECT_EQ(Decide("s = 'aaaaaaaaaaaaaaa\xc3\xa9'", file), Decision::kKeep);
  EXPECT_EQ(Decide("s LIKE 'aaaaaaaaaaaaaaa\xc3\xa9%'", file), Decision::kKeep);
  EXPECT_EQ(Decide("s = 'aaaaaaaaaaaaaaa'", file), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("s = 'b'", file), Decision::kSkipByBounds);
}

// Fault 12 of the list: [3, NaN, 3] has a row that is not 3.
TEST_F(FileFilterTest, NaNRowsAreKept) {
  DataFile file = WithBounds(3, Bytes(TypeId::kDouble, 3.0), Bytes(TypeId::kDouble, 3.0));
  EXPECT_EQ(Decide("f != 3", file), Decision::kKeep);
  file.nan_value_counts[3] = 1;
  EXPECT_EQ(Decide("f != 3", file), Decision::kKeep);
  EXPECT_EQ(Decide("f IS NAN", file), Decision::kKeep);
  EXPECT_NE(Residual("f = 3", file), "TRUE");
  file.nan_value_counts[3] = 0;
  EXPECT_EQ(Decide("f != 3", file), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("f IS NAN", file), Decision::kSkipByBounds);
  EXPECT_EQ(Residual("f = 3", file), "TRUE");
}

TEST_F(FileFilterTest, ZerosOfBothSignsAreOneValue) {
  DataFile file = WithBounds(3, Bytes(TypeId::kDouble, -0.0), Bytes(TypeId::kDouble, -0.0));
  file.nan_value_counts[3] = 0;
  EXPECT_EQ(Decide("f = 0.0", file), Decision::kKeep);
  EXPECT_EQ(Decide("f >= 0.0", file), Decision::kKeep);
  EXPECT_EQ(Decide("f < 0.0", file), Decision::kSkipByBounds);
}

// Fault 13 of the list: bounds and literals are in microseconds, however the file holds its timestamps.
TEST_F(FileFilterTest, TimestampBoundsAreMicroseconds) {
  const DataFile file = WithBounds(4, Bytes(TypeId::kTimestamp, int64_t{1'700'000'000'123'000}),
                                   Bytes(TypeId::kTimestamp, int64_t{1'700'000'000'124'000}));
  EXPECT_EQ(Decide("ts = TIMESTAMP '2023-11-14 22:13:20.123456'", file), Decision::kKeep);
  EXPECT_EQ(Decide("ts < TIMESTAMP '2023-11-14 22:13:20.123'", file), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("ts > TIMESTAMP '2023-11-14 22:13:20.124'", file), Decision::kSkipByBounds);
}

TEST_F(FileFilterTest, NullCounts) {
  DataFile file = WithBounds(1, Bytes(TypeId::kLong, int64_t{1}), Bytes(TypeId::kLong, int64_t{9}));
  EXPECT_EQ(Decide("id IS NULL", file), Decision::kSkipByBounds);
  file.null_value_counts.clear();
  EXPECT_EQ(Decide("id IS NULL", file), Decision::kKeep);
  EXPECT_NE(Residual("id >= 1", file), "TRUE");
  file.null_value_counts[1] = 3;
  EXPECT_EQ(Decide("id IS NOT NULL", file), Decision::kSkipByBounds);
  EXPECT_EQ(Decide("id = 5", file), Decision::kSkipByBounds);
  EXPECT_EQ(Residual("id IS NULL", file), "TRUE");
}

TEST_F(FileFilterTest, PartitionValues) {
  const DataFile file = InPartition(std::string("a"), int32_t{10});
  EXPECT_EQ(Decide("s = 'b'", file), Decision::kSkipByPartition);
  EXPECT_EQ(Decide("s = 'a'", file), Decision::kKeep);
  EXPECT_EQ(Decide("ts >= TIMESTAMP '1970-01-12 00:00:00'", file), Decision::kSkipByPartition);
  EXPECT_EQ(Decide("ts >= TIMESTAMP '1970-01-11 12:00:00'", file), Decision::kKeep);
  EXPECT_EQ(Decide("s = 'a' AND id = 5", file), Decision::kKeep);
  EXPECT_EQ(Residual("s = 'a' AND id = 5", file), Residual("id = 5", file));
  EXPECT_EQ(Residual("s = 'a'", file), "TRUE");
  EXPECT_EQ(Residual("s = 'b' OR id = 5", file), Residual("id = 5", file));
  const DataFile nulls = InPartition(Value(), int32_t{10});
  EXPECT_EQ(Decide("s = 'a'", nulls), Decision::kSkipByPartition);
  EXPECT_EQ(Decide("s IS NULL", nulls), Decision::kKeep);
  EXPECT_EQ(Residual("s IS NULL", nulls), "TRUE");
}

// Fault 9 of the list: a file of another spec keeps the row filter; a dropped source keeps its slot among the
// summaries.
TEST_F(FileFilterTest, OtherSpecsKeepTheFilterAndSlotsStay) {
  DataFile old;
  EXPECT_EQ(Decide("s = 'b'", old), Decision::kKeep);
  EXPECT_EQ(Residual("s = 'b'", old), Residual("s = 'b'", DataFile{}));
  EXPECT_NE(Residual("s = 'b'", old), "TRUE");
  ManifestFile manifest;
  manifest.partition_spec_id = 1;
  manifest.partitions = {FieldSummary{true, {}, {}, {}}, FieldSummary{false, {}, "m", "p"},
                         FieldSummary{false, {}, Bytes(TypeId::kDate, int32_t{10}), Bytes(TypeId::kDate, int32_t{12})}};
  EXPECT_TRUE(Filter("s = 'n'").MightMatch(manifest));
  EXPECT_FALSE(Filter("s = 'z'").MightMatch(manifest));
  EXPECT_FALSE(Filter("s IS NULL").MightMatch(manifest));
  EXPECT_FALSE(Filter("ts > TIMESTAMP '1970-01-14 00:00:00'").MightMatch(manifest));
  EXPECT_TRUE(Filter("ts > TIMESTAMP '1970-01-13 00:00:00'").MightMatch(manifest));
  EXPECT_TRUE(Filter("id = 5").MightMatch(manifest));
  manifest.partitions.clear();
  EXPECT_TRUE(Filter("s = 'z'").MightMatch(manifest));
}

TEST_F(FileFilterTest, EqualityDeletesOutsideTheFilterAreIgnored) {
  DataFile deletes = WithBounds(1, Bytes(TypeId::kLong, int64_t{1}), Bytes(TypeId::kLong, int64_t{4}));
  deletes.content = FileContent::kEqualityDeletes;
  deletes.equality_ids = {1};
  EXPECT_FALSE(Filter("id = 9").MightDelete(deletes));
  EXPECT_TRUE(Filter("id = 4").MightDelete(deletes));
  deletes.equality_ids = {2};
  EXPECT_TRUE(Filter("id = 9").MightDelete(deletes));
}

TEST_F(FileFilterTest, UnknownSpecIsInvalid) {
  FileFilter filter(metadata_, schema_, nullptr);
  EXPECT_EQ(filter.AddSpec(9).message(), "the table has no partition spec 9");
  EXPECT_TRUE(filter.keeps_all());
}

}  // namespace
}  // namespace calve::iceberg
