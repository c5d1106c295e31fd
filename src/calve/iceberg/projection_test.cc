#include "calve/expr/bounds.h"
#include "calve/expr/evaluate.h"
#include "calve/iceberg/partition.h"
#include "filter_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace calve::iceberg {
namespace {

using expr::NodePtr;
using ::testing::ElementsAre;

Schema OneColumn(TypePtr type) {
  Field field;
  field.id = 1;
  field.name = "a";
  field.type = std::move(type);
  Schema schema;
  schema.fields = {field};
  return schema;
}

PartitionSpec SpecOf(const std::vector<std::string>& transforms, int source_id = 1) {
  PartitionSpec spec;
  for (const std::string& text : transforms) {
    PartitionField field;
    field.source_id = source_id;
    field.field_id = 1000 + static_cast<int>(spec.fields.size());
    field.name = "p" + std::to_string(spec.fields.size());
    field.transform = ParseTransform(text).ValueOrDie();
    spec.fields.push_back(field);
  }
  return spec;
}

NodePtr Project(const std::string& filter, const TypePtr& type, const PartitionSpec& spec) {
  const Schema schema = OneColumn(type);
  const auto bound = testing::BoundFilter(filter, **ToArrow(schema)).ValueOrDie();
  return ProjectInclusive(bound, spec, schema).ValueOrDie();
}

std::string Projected(const std::string& filter, const TypePtr& type, const std::string& transform) {
  return expr::ToString(Project(filter, type, SpecOf({transform})));
}

TEST(ProjectInclusive, Identity) {
  const auto type = Primitive(TypeId::kDouble);
  for (const std::string test : {"= 1", "!= 1", "< 1", "<= 1", "> 1", ">= 1", "IN (1, 2)", "NOT IN (1, 2)", "IS NULL",
                                 "IS NOT NULL", "IS NAN", "IS NOT NAN"}) {
    EXPECT_EQ(Projected("a " + test, type, "identity"), "p0 " + test);
  }
  EXPECT_EQ(Projected("a NOT LIKE 'x%'", Primitive(TypeId::kString), "identity"), "p0 NOT LIKE 'x%'");
}

TEST(ProjectInclusive, Bucket) {
  const auto type = Primitive(TypeId::kInt);
  EXPECT_EQ(Projected("a = 34", type, "bucket[10]"), "p0 = 9");  // 2017239379 mod 10
  EXPECT_EQ(Projected("a IN (34, 34)", type, "bucket[10]"), "p0 = 9");
  for (const char* filter : {"a != 34", "a < 34", "a >= 34", "a NOT IN (1, 2)", "a IS NOT NULL"}) {
    EXPECT_EQ(Projected(filter, type, "bucket[10]"), "p0 IS NOT NULL") << filter;
  }
  EXPECT_EQ(Projected("a IS NULL", type, "bucket[10]"), "p0 IS NULL");
  EXPECT_EQ(Projected("a LIKE 'x%'", Primitive(TypeId::kString), "bucket[10]"), "p0 IS NOT NULL");
}

TEST(ProjectInclusive, TruncatedNumbers) {
  const auto type = Decimal(9, 2);
  EXPECT_EQ(Projected("a < 10.50", type, "truncate[50]"), "p0 <= 10.00");
  EXPECT_EQ(Projected("a <= 10.50", type, "truncate[50]"), "p0 <= 10.50");
  EXPECT_EQ(Projected("a > 10.49", type, "truncate[50]"), "p0 >= 10.50");
  EXPECT_EQ(Projected("a >= 10.49", type, "truncate[50]"), "p0 >= 10.00");
  EXPECT_EQ(Projected("a = -0.01", type, "truncate[50]"), "p0 = -0.50");
  EXPECT_EQ(Projected("a IN (0.01, 0.02, 1.00)", type, "truncate[50]"), "p0 IN (0.00, 1.00)");
  EXPECT_EQ(Projected("a != 0", type, "truncate[50]"), "p0 IS NOT NULL");
  // Numbers near the smallest wrap to the largest when they are truncated.
  const auto whole = Primitive(TypeId::kInt);
  EXPECT_EQ(Projected("a < 10", whole, "truncate[10]"), "p0 <= 0 OR p0 > 2147483640");
  EXPECT_EQ(Projected("a >= -2147483648", whole, "truncate[10]"), "p0 IS NOT NULL");
  EXPECT_EQ(Projected("a = -2147483648", whole, "truncate[10]"), "p0 = 2147483646");
  EXPECT_EQ(Projected("a < -2147483648", whole, "truncate[10]"), "FALSE");
  EXPECT_EQ(Projected("a > 2147483647", whole, "truncate[10]"), "FALSE");
}

TEST(ProjectInclusive, TruncatedText) {
  const auto type = Primitive(TypeId::kString);
  EXPECT_EQ(Projected("a < 'abc'", type, "truncate[3]"), "p0 < 'abc'");
  EXPECT_EQ(Projected("a < 'abcd'", type, "truncate[3]"), "p0 <= 'abc'");
  EXPECT_EQ(Projected("a <= 'abcd'", type, "truncate[3]"), "p0 <= 'abc'");
  EXPECT_EQ(Projected("a > 'abcd'", type, "truncate[3]"), "p0 >= 'abc'");
  EXPECT_EQ(Projected("a >= 'ab'", type, "truncate[3]"), "p0 >= 'ab'");
  EXPECT_EQ(Projected("a = 'abcd'", type, "truncate[3]"), "p0 = 'abc'");
  EXPECT_EQ(Projected("a IN ('abcd', 'x')", type, "truncate[3]"), "p0 IN ('abc', 'x')");
  EXPECT_EQ(Projected("a != 'abc'", type, "truncate[3]"), "p0 IS NOT NULL");
  EXPECT_EQ(Projected("a != 'ab'", type, "truncate[3]"), "p0 != 'ab'");
  EXPECT_EQ(Projected("a NOT IN ('ab', 'abc', 'x')", type, "truncate[3]"), "p0 NOT IN ('ab', 'x')");
  EXPECT_EQ(Projected("a LIKE 'ab%'", type, "truncate[3]"), "p0 LIKE 'ab%'");
  EXPECT_EQ(Projected("a LIKE 'abc%'", type, "truncate[3]"), "p0 LIKE 'abc%'");
  EXPECT_EQ(Projected("a LIKE 'abcd%'", type, "truncate[3]"), "p0 = 'abc'");
  EXPECT_EQ(Projected("a NOT LIKE 'abc%'", type, "truncate[3]"), "p0 NOT LIKE 'abc%'");
  EXPECT_EQ(Projected("a NOT LIKE 'abcd%'", type, "truncate[3]"), "p0 IS NOT NULL");
  EXPECT_EQ(Projected("a LIKE '\xe2\x82\xac\xe2\x82\xac%'", type, "truncate[2]"),
            "p0 LIKE '\xe2\x82\xac\xe2\x82\xac%'");
  EXPECT_EQ(Projected("a = '\xe2\x82\xac\xe2\x82\xacz'", type, "truncate[2]"), "p0 = '\xe2\x82\xac\xe2\x82\xac'");
}

TEST(ProjectInclusive, TimesAtBoundaries) {
  const auto type = Primitive(TypeId::kTimestamp);
  EXPECT_EQ(Projected("a < '2024-01-01'", type, "day"), "p0 <= DATE '2023-12-31'");
  EXPECT_EQ(Projected("a <= '2024-01-01'", type, "day"), "p0 <= DATE '2024-01-01'");
  EXPECT_EQ(Projected("a > '2023-12-31 23:59:59.999999'", type, "day"), "p0 >= DATE '2024-01-01'");
  EXPECT_EQ(Projected("a >= '2024-01-01'", type, "month"), "p0 >= 648");
  EXPECT_EQ(Projected("a < '2024-01-01'", type, "month"), "p0 <= 647");
  EXPECT_EQ(Projected("a = '2024-01-01'", type, "month"), "p0 = 648");
  EXPECT_EQ(Projected("a < '2024-01-01'", type, "year"), "p0 <= 53");
  EXPECT_EQ(Projected("a < '2024-01-01 01:00'", type, "hour"), "p0 <= 473352");
  EXPECT_EQ(Projected("a <= '2024-01-01 01:00'", type, "hour"), "p0 <= 473353");
  EXPECT_EQ(Projected("a != '2024-01-01'", type, "day"), "p0 IS NOT NULL");
  EXPECT_EQ(Projected("a = '2024-01-01 00:00:00.000000001'", Primitive(TypeId::kTimestampNs), "hour"), "p0 = 473352");
}

// Files of old Java writers carry -1's rows in partition 0, and so on down.
TEST(ProjectInclusive, TimesBeforeTheEpochAllowForOldRounding) {
  const auto type = Primitive(TypeId::kTimestamp);
  EXPECT_EQ(Projected("a = '1969-12-31 23:30'", type, "hour"), "p0 IN (-1, 0)");
  EXPECT_EQ(Projected("a <= '1969-12-31 23:30'", type, "hour"), "p0 <= 0");
  EXPECT_EQ(Projected("a < '1970-01-01'", type, "day"), "p0 <= DATE '1970-01-01'");
  EXPECT_EQ(Projected("a >= '1969-12-31 23:30'", type, "hour"), "p0 >= -1");
  EXPECT_EQ(Projected("a IN ('1969-12-31', '1969-12-30')", type, "month"), "p0 IN (-1, 0)");
  EXPECT_EQ(Projected("a IN ('1968-12-31', '1969-12-30')", type, "year"), "p0 IN (-2, -1, 0)");
  EXPECT_EQ(Projected("a = '1969-12-31'", Primitive(TypeId::kDate), "day"), "p0 = DATE '1969-12-31'");
  EXPECT_EQ(Projected("a != '1969-12-31'", Primitive(TypeId::kDate), "day"), "p0 != DATE '1969-12-31'");
}

TEST(ProjectInclusive, WhatCannotBeProjectedIsTrue) {
  const auto type = Primitive(TypeId::kInt);
  EXPECT_EQ(Projected("a = 1", type, "void"), "TRUE");
  EXPECT_EQ(Projected("a IS NULL", type, "void"), "TRUE");
  EXPECT_EQ(Projected("a = 1", type, "zorder"), "TRUE");
  EXPECT_EQ(Projected("a = 1 OR a IS NULL", type, "void"), "TRUE");
  EXPECT_EQ(Projected("FALSE", type, "identity"), "FALSE");
  EXPECT_EQ(expr::ToString(Project("a = 1", type, SpecOf({}))), "TRUE");
  EXPECT_EQ(expr::ToString(Project("a = 1", type, SpecOf({"identity"}, 99))), "TRUE");
  PartitionSpec several = SpecOf({"identity"});
  several.fields[0].source_ids = {1, 2};
  EXPECT_EQ(expr::ToString(Project("a = 1", type, several)), "TRUE");
}

TEST(ProjectInclusive, JoinsAndSeveralFieldsOfOneSource) {
  Schema schema = OneColumn(Primitive(TypeId::kInt));
  Field other = schema.fields[0];
  other.id = 2;
  other.name = "b";
  schema.fields.push_back(other);
  const auto spec = SpecOf({"identity", "bucket[10]"});
  const auto project = [&](const std::string& filter) {
    const auto bound = testing::BoundFilter(filter, **ToArrow(schema)).ValueOrDie();
    return expr::ToString(ProjectInclusive(bound, spec, schema).ValueOrDie());
  };
  EXPECT_EQ(project("a = 34"), "p0 = 34 AND p1 = 9");
  EXPECT_EQ(project("a = 34 AND b = 1"), "p0 = 34 AND p1 = 9");
  EXPECT_EQ(project("a = 34 OR b = 1"), "TRUE");
  EXPECT_EQ(project("a = 34 OR a < 0"), "p0 = 34 AND p1 = 9 OR p0 < 0 AND p1 IS NOT NULL");
  const auto bound = testing::BoundFilter("a = 34", **ToArrow(schema)).ValueOrDie();
  ASSERT_OK_AND_ASSIGN(NodePtr projected, ProjectInclusive(bound, spec, schema));
  EXPECT_EQ(projected->children[1]->column.field_id, 1001);
  EXPECT_THAT(projected->children[1]->column.path, ElementsAre(1));
}

TEST(ProjectInclusive, FiltersThatAreNotBoundAreErrors) {
  const Schema schema = OneColumn(Primitive(TypeId::kInt));
  ASSERT_OK_AND_ASSIGN(Expression unbound, Expression::Parse("NOT a = 1"));
  EXPECT_TRUE(ProjectInclusive(unbound.root(), SpecOf({"identity"}), schema).status().IsInvalid());
  EXPECT_TRUE(ProjectInclusive(unbound.root()->children[0], SpecOf({"identity"}), schema).status().IsInvalid());
}

// ---- Random values under random filters: a row that matches lies in a partition that matches.

struct Source {
  TypePtr type;
  std::vector<std::string> json;      // values
  std::vector<std::string> literals;  // filter text
  std::vector<std::string> transforms;
};

std::vector<Source> Sources() {
  const std::vector<std::string> times = {
      "'1969-12-31 23:59:59.999999'", "'1970-01-01'", "'1969-01-01'",       "'1968-12-31'",
      "'2024-02-29 12:00'",           "'2024-01-01'", "'1970-01-01 01:00'", "'1900-03-01'"};
  return {
      {Primitive(TypeId::kInt),
       {"null", "-2147483648", "-2147483647", "-11", "-10", "-1", "0", "1", "9", "10", "34", "2147483647"},
       {"-2147483648", "-2147483645", "-10", "-1", "0", "0.5", "9", "10", "34", "2147483647"},
       {"identity", "bucket[4]", "truncate[10]", "truncate[3]"}},
      {Primitive(TypeId::kLong),
       {"null", "-9223372036854775808", "-1", "0", "7", "9223372036854775807"},
       {"-9223372036854775808", "-9223372036854775807", "-1", "0", "6.5", "7", "9223372036854775807"},
       {"identity", "bucket[3]", "truncate[5]"}},
      {Decimal(5, 2),
       {"null", "\"-999.99\"", "\"-0.51\"", "\"0.00\"", "\"0.49\"", "\"0.50\"", "\"10.65\""},
       {"-999.99", "-0.5", "-0.505", "0", "0.49", "0.5", "10.65", "10.66"},
       {"identity", "bucket[3]", "truncate[50]", "truncate[7]"}},
      {Primitive(TypeId::kString),
       {"null", "\"\"", "\"a\"", "\"ab\"", "\"abc\"", "\"abd\"", "\"b\"", "\"\xc3\xa9z\"", "\"\xf0\x9f\x98\x80\""},
       {"''", "'a'", "'ab'", "'abc'", "'abd'", "'b'", "'\xc3\xa9'", "'\xc3\xa9z'", "'\xf0\x9f\x98\x80'", "'zz'"},
       {"identity", "bucket[3]", "truncate[1]", "truncate[2]"}},
      {Primitive(TypeId::kBinary),
       {"null", "\"\"", "\"a\"", "\"ab\"", "\"abc\"", "\"b\""},
       {"''", "'a'", "'ab'", "X'6162ff'"},
       {"bucket[3]", "truncate[2]"}},
      {Primitive(TypeId::kDate),
       {"null", "-366", "-365", "-1", "0", "1", "30", "31", "19723"},
       {"'1969-12-31'", "'1970-01-01'", "'1970-02-01'", "'1968-12-31'", "'2024-01-01'", "'2024-01-01 12:00'"},
       {"identity", "bucket[3]", "year", "month", "day"}},
      {Primitive(TypeId::kTimestamp),
       {"null", "-31536000000001", "-3600000001", "-3600000000", "-1", "0", "3599999999", "3600000000",
        "1704067200000000"},
       times,
       {"identity", "bucket[3]", "year", "month", "day", "hour"}},
      {Primitive(TypeId::kTimestampTzNs),
       {"null", "-31536000000000001", "-1", "0", "3600000000000", "1704067200000000000"},
       times,
       {"bucket[3]", "year", "month", "day", "hour"}},
      {Primitive(TypeId::kDouble),
       {"null", "NaN", "-0.0", "0.0", "1.5", "Inf"},
       {"0", "-0.0", "1.5", "'NaN'", "'Infinity'"},
       {"identity"}},
  };
}

std::string RandomTest(const Source& source, std::mt19937& random) {
  const auto literal = [&] { return source.literals[random() % source.literals.size()]; };
  const bool text = source.type->id == TypeId::kString;
  const char* ops[] = {"=", "!=", "<", "<=", ">", ">="};
  switch (random() % 8) {
    case 0:
      return random() % 2 == 0 ? "a IS NULL" : "a IS NOT NULL";
    case 1:
      return "a IN (" + literal() + ", " + literal() + ")";
    case 2:
      return "a NOT IN (" + literal() + ", " + literal() + ")";
    case 3:
      if (text) return (random() % 2 == 0 ? "a LIKE " : "a NOT LIKE ") + literal();
      [[fallthrough]];
    default:
      return std::string("a ") + ops[random() % 6] + " " + literal();
  }
}

std::string RandomFilter(const Source& source, int depth, std::mt19937& random) {
  if (depth == 0 || random() % 3 == 0) {
    std::string test = RandomTest(source, random);
    const bool like = test.find("LIKE") != std::string::npos;
    if (like) test.insert(test.size() - 1, "%");
    return test;
  }
  const std::string left = RandomFilter(source, depth - 1, random);
  const std::string right = RandomFilter(source, depth - 1, random);
  if (random() % 4 == 0) return "NOT (" + left + ")";
  return "(" + left + (random() % 2 == 0 ? " AND " : " OR ") + right + ")";
}

/// Whether the partition tuple `values` may hold matching rows.
bool PartitionMightMatch(const NodePtr& projected, const std::vector<Value>& values) {
  return expr::MightMatch(projected, [&](const expr::ColumnRef& column) -> std::optional<expr::ColumnBounds> {
    const Value& value = values[static_cast<size_t>(column.path[0])];
    if (IsNull(value)) return expr::ColumnBounds{{}, {}, 1, 1, 0};
    if (IsNaN(value)) return expr::ColumnBounds{{}, {}, 1, 0, 1};
    return expr::ColumnBounds{value, value, 1, 0, 0};
  });
}

/// The value that writers gave which rounded towards zero.
Value RoundedUp(const Value& value, const Transform& transform, const Type& source) {
  const bool temporal = transform.kind >= TransformKind::kYear && transform.kind <= TransformKind::kHour;
  const auto* number = std::get_if<int32_t>(&value);
  const bool exact = transform.kind == TransformKind::kDay && source.id == TypeId::kDate;
  return temporal && !exact && number != nullptr && *number < 0 ? Value(*number + 1) : value;
}

TEST(ProjectInclusive, NeverDropsAPartitionWithAMatchingRow) {
  std::mt19937 random(20240131);
  int dropped = 0;
  for (int round = 0; round < 400; ++round) {
    for (const Source& source : Sources()) {
      const Schema schema = OneColumn(source.type);
      const auto spec = SpecOf({source.transforms[random() % source.transforms.size()],
                                source.transforms[random() % source.transforms.size()]});
      const std::string filter = RandomFilter(source, 2, random);
      const auto arrow_schema = *ToArrow(schema);
      const auto bound = testing::BoundFilter(filter, *arrow_schema).ValueOrDie();
      ASSERT_OK_AND_ASSIGN(NodePtr projected, ProjectInclusive(bound, spec, schema));
      std::string json;
      for (const std::string& value : source.json) json += (json.empty() ? "[" : ", ") + value;
      const auto array = testing::ArrayOf(arrow_schema->field(0)->type(), json + "]");
      const auto batch = arrow::RecordBatch::Make(arrow_schema, array->length(), {array});
      const auto mask = expr::Evaluate(bound, *batch, arrow::default_memory_pool()).ValueOrDie();
      std::vector<std::vector<Value>> tuples(static_cast<size_t>(array->length()));
      auto old_tuples = tuples;
      for (const PartitionField& field : spec.fields) {
        ASSERT_OK_AND_ASSIGN(auto values, ApplyToArray(field.transform, *source.type, *array));
        for (size_t i = 0; i < values.size(); ++i) {
          tuples[i].push_back(values[i]);
          old_tuples[i].push_back(RoundedUp(values[i], field.transform, *source.type));
        }
      }
      for (size_t i = 0; i < tuples.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        const bool matches = mask->IsValid(row) && mask->Value(row);
        dropped += PartitionMightMatch(projected, tuples[i]) ? 0 : 1;
        if (!matches) continue;
        ASSERT_TRUE(PartitionMightMatch(projected, tuples[i]))
            << filter << " -> " << expr::ToString(projected) << " row " << source.json[i];
        ASSERT_TRUE(PartitionMightMatch(projected, old_tuples[i]))
            << filter << " -> " << expr::ToString(projected) << " old row " << source.json[i];
      }
    }
  }
  EXPECT_GT(dropped, 5000);
}

}  // namespace
}  // namespace calve::iceberg
