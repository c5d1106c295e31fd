#include "calve/expression.h"

#include "calve/expr/node.h"

#include "filter_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using ::testing::HasSubstr;

std::string Reprinted(std::string_view text) {
  auto parsed = Expression::Parse(text);
  return parsed.ok() ? parsed->ToString() : parsed.status().ToString();
}

/// Parses `text`, which must print as itself.
void ExpectRoundTrip(const std::string& text) { EXPECT_EQ(Reprinted(text), text); }

arrow::Status ErrorOf(std::string_view text) { return Expression::Parse(text).status(); }

TEST(ExpressionParse, EveryTestPrintsAsItself) {
  for (const char* text : {"a = 1",
                           "a != 1",
                           "a < -1.5e3",
                           "a <= .5",
                           "a > 'it''s'",
                           "a >= TRUE",
                           "a IS NULL",
                           "a IS NOT NULL",
                           "a IS NAN",
                           "a IS NOT NAN",
                           "a IN (1, 2, 3)",
                           "a NOT IN ('x', 'y')",
                           "a LIKE 'abc%'",
                           "a NOT LIKE '%'",
                           "a LIKE '50\\%\\_\\\\%'",
                           "d = DATE '2024-01-31'",
                           "t < TIMESTAMP '2024-01-31T10:20:30.123456+02:00'",
                           "b = X'00fF'",
                           "s.x.y = 1",
                           "\"odd name\".x = 1",
                           "\"a.b\" = 1",
                           "\"say \"\"hi\"\"\" = 1",
                           "\"null\" = 1",
                           "\"\" = 1",
                           "date = 1",
                           "timestamp > 1",
                           "x = 1",
                           "\xc3\xa9t\xc3\xa9 = '\xc3\xa9'",
                           "a = 1 AND b = 2 AND c = 3",
                           "a = 1 OR b = 2 AND c = 3",
                           "(a = 1 OR b = 2) AND c = 3",
                           "NOT a = 1",
                           "NOT (a = 1 AND b = 2)",
                           "NOT NOT a = 1",
                           "TRUE",
                           "FALSE"}) {
    ExpectRoundTrip(text);
  }
}

TEST(ExpressionParse, SpellingsThatMeanTheSame) {
  EXPECT_EQ(Reprinted("a==1 and b<>2"), "a = 1 AND b != 2");
  EXPECT_EQ(Reprinted("  a is not null  or\n\tb Is NaN "), "a IS NOT NULL OR b IS NAN");
  EXPECT_EQ(Reprinted("a BETWEEN 1 AND 2 AND b = 3"), "a >= 1 AND a <= 2 AND b = 3");
  EXPECT_EQ(Reprinted("a NOT BETWEEN 1 AND 2"), "NOT (a >= 1 AND a <= 2)");
  EXPECT_EQ(Reprinted("a LIKE 'abc'"), "a = 'abc'");
  EXPECT_EQ(Reprinted("a NOT LIKE 'a\\%c'"), "a != 'a%c'");
  EXPECT_EQ(Reprinted("a LIKE 'abc%%'"), "a LIKE 'abc%'");
  EXPECT_EQ(Reprinted("a = x'0aFF'"), "a = X'0aFF'");
  EXPECT_EQ(Reprinted("\"a\".\"b c\" = 1"), "a.\"b c\" = 1");
  EXPECT_EQ(Reprinted("((a = 1))"), "a = 1");
  EXPECT_EQ(Reprinted("true AND a = 1"), "a = 1");
  EXPECT_EQ(Reprinted("true OR a = 1"), "TRUE");
  EXPECT_EQ(Reprinted("NOT false"), "TRUE");
  EXPECT_EQ(Reprinted("a=-1"), "a = -1");
}

TEST(ExpressionParse, ErrorsNameThePosition) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected the name of a column, got the end at position 1"},
      {"a", "expected a comparison, IS, IN, BETWEEN or LIKE, got the end at position 2"},
      {"a =", "expected a literal, got the end at position 4"},
      {"a = b", "expected a literal (text stands in single quotes), got 'b' at position 5"},
      {"a = 1 b", "expected AND, OR or the end, got 'b' at position 7"},
      {"a = 1)", "expected AND, OR or the end, got ')' at position 6"},
      {"(a = 1", "expected ')', got the end at position 7"},
      {"a IN ()", "expected a literal, got ')' at position 7"},
      {"a IN (1 2)", "expected ',' or ')', got '2' at position 9"},
      {"a IN 1", "expected '(', got '1' at position 6"},
      {"a NOT 1", "expected IN, BETWEEN or LIKE, got '1' at position 7"},
      {"a IS 1", "expected NULL, NAN or NOT, got '1' at position 6"},
      {"a IS NOT 1", "expected NULL or NAN, got '1' at position 10"},
      {"a BETWEEN 1 OR 2", "expected AND, got 'OR' at position 13"},
      {"a = NULL", "use IS NULL: at position 5"},
      {"and = 1", "in double quotes if it is a keyword), got 'and' at position 1"},
      {"a. = 1", "expected the name of a column, got '=' at position 4"},
      {"a = 'x", "a text is not closed at position 5"},
      {"\"a = 1", "a quoted name is not closed at position 1"},
      {"a = 1e", "a number lacks its exponent at position 5"},
      {"a = 1x", "a word begins with a digit"},
      {"a = 1.2.3", "a word begins with a digit"},
      {"a ; 1", "unexpected character ';' at position 3"},
      {"a = X'0g'", "hex digits in X'...' at position 5"},
      {"a = X'0'", "hex digits in X'...' at position 5"},
      {"a = DATE '2024-02-30'", "expected a date like '2024-01-31', got '2024-02-30' at position 10"},
      {"a = DATE '2024-02-03 10:00'", "expected a date"},
      {"a = TIMESTAMP '10:00'", "expected a time like '2024-01-31 10:20:30', got '10:00' at position 15"},
      {"a LIKE 5", "expected a pattern in single quotes, got '5' at position 8"},
      {"a LIKE 'x\\'", "after a backslash in the LIKE pattern at position 8"},
      {"a LIKE 'x\\y%'", "after a backslash in the LIKE pattern at position 8"},
      {"\xc3\xa9 = ?", "unexpected character '?' at position 5"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_TRUE(ErrorOf(text).IsInvalid()) << text;
    EXPECT_THAT(ErrorOf(text).message(), HasSubstr(message)) << text;
  }
}

TEST(ExpressionParse, PatternsBeyondAPrefixAreNotImplementedByName) {
  for (const char* text : {"a LIKE '%x'", "a LIKE 'x%y'", "a LIKE 'x_'", "a LIKE '_'", "a NOT LIKE 'x%_'"}) {
    EXPECT_TRUE(ErrorOf(text).IsNotImplemented()) << text;
    EXPECT_THAT(ErrorOf(text).message(), HasSubstr("LIKE '")) << text;
  }
}

TEST(ExpressionParse, DeepNestingIsAnErrorAndNoOverflow) {
  const std::string deep(100'000, '(');
  EXPECT_THAT(ErrorOf(deep).message(), HasSubstr("nested more than 200 deep"));
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "NOT ";
  EXPECT_THAT(ErrorOf(nots + "a = 1").message(), HasSubstr("nested more than 200 deep"));
  const std::string allowed = std::string(150, '(') + "a = 1" + std::string(150, ')');
  EXPECT_EQ(Reprinted(allowed), "a = 1");
}

TEST(ExpressionParse, LongChainsStayFlat) {
  std::string text = "a = 0";
  for (int i = 1; i < 20'000; ++i) text += " OR a = " + std::to_string(i);
  ASSERT_OK_AND_ASSIGN(Expression parsed, Expression::Parse(text));
  EXPECT_EQ(parsed.root()->children.size(), 20'000u);
  EXPECT_EQ(parsed.ToString(), text);
}

TEST(ExpressionParse, EveryPrefixOfAFilterParsesOrFailsCleanly) {
  const std::string text =
      "NOT (a.\"b c\" NOT IN ('x''y', -1.5e+3) OR t BETWEEN DATE '2024-01-31' AND X'00') AND s LIKE 'p\\%%'";
  ASSERT_TRUE(Expression::Parse(text).ok());
  for (size_t size = 0; size < text.size(); ++size) {
    const auto status = ErrorOf(text.substr(0, size));
    if (text.substr(0, size).find("X'00')") != std::string::npos && status.ok()) continue;  // whole without its end
    EXPECT_TRUE(status.IsInvalid()) << text.substr(0, size);
    EXPECT_THAT(status.message(), HasSubstr(" at position ")) << text.substr(0, size);
  }
}

TEST(Expression, DefaultKeepsEveryRow) {
  EXPECT_TRUE(Expression().always_true());
  EXPECT_TRUE(Expression(nullptr).always_true());
  EXPECT_EQ(Expression().ToString(), "TRUE");
  ASSERT_OK_AND_ASSIGN(Expression parsed, Expression::Parse("a = 1"));
  EXPECT_FALSE(parsed.always_true());
}

}  // namespace
}  // namespace calve
