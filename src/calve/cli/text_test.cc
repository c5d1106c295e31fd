#include "calve/cli/iso_text.h"
#include "calve/cli/json_text.h"
#include "calve/cli/progress_bar.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/size_chart.h"
#include "calve/cli/table_text.h"

#include <arrow/json/from_string.h>

namespace calve::cli {
namespace {

TEST(ParseSize, NumbersAndUnits) {
  EXPECT_EQ(ParseSize("67108864").ValueOrDie(), 67108864);
  EXPECT_EQ(ParseSize("64MiB").ValueOrDie(), 64 << 20);
  EXPECT_EQ(ParseSize("64 mib").ValueOrDie(), 64 << 20);
  EXPECT_EQ(ParseSize("1.5g").ValueOrDie(), int64_t{3} << 29);
  EXPECT_EQ(ParseSize("2KB").ValueOrDie(), 2000);
  EXPECT_EQ(ParseSize("0").ValueOrDie(), 0);
  EXPECT_EQ(ParseSize("9223372036854775807").ValueOrDie(), std::numeric_limits<int64_t>::max());
}

TEST(ParseSize, RefusesWhatIsNone) {
  for (const char* text : {"", "MiB", "-1", "-1KiB", "12 apples", "1e3", "99999999TiB", "nan", "inf", "1 2"}) {
    EXPECT_TRUE(ParseSize(text).status().IsInvalid()) << text;
  }
}

TEST(QuantityText, ForPeople) {
  EXPECT_EQ(SizeText(0), "0 B");
  EXPECT_EQ(SizeText(1023), "1023 B");
  EXPECT_EQ(SizeText(1024), "1.0 KiB");
  EXPECT_EQ(SizeText(1 << 20), "1.0 MiB");
  EXPECT_EQ(SizeText(int64_t{512} << 20), "512 MiB");
  EXPECT_EQ(SizeText((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(CountText(60175), "60,175");
  EXPECT_EQ(CountText(-1234567), "-1,234,567");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(Counted(1, "file"), "1 file");
  EXPECT_EQ(Counted(0, "file"), "0 files");
  EXPECT_EQ(SecondsText(0.0341), "0.034 s");
  EXPECT_EQ(SecondsText(192), "3 min 12 s");
}

TEST(ParseInstant, EpochAndIso) {
  EXPECT_EQ(ParseInstantMs("1706702400000").ValueOrDie(), 1706702400000);
  EXPECT_EQ(ParseInstantMs("2024-01-31").ValueOrDie(), 1706659200000);
  EXPECT_EQ(ParseInstantMs("2024-01-31T12:00").ValueOrDie(), 1706702400000);
  EXPECT_EQ(ParseInstantMs("2024-01-31T12:00:00Z").ValueOrDie(), 1706702400000);
  EXPECT_EQ(ParseInstantMs("2024-01-31 12:00:00.123456").ValueOrDie(), 1706702400123);
  EXPECT_EQ(ParseInstantMs("2024-01-31T14:00:00+02:00").ValueOrDie(), 1706702400000);
  EXPECT_EQ(ParseInstantMs("2024-01-31T06:30:00-0530").ValueOrDie(), 1706702400000);
  EXPECT_EQ(ParseInstantMs("1969-12-31T23:59:59.999").ValueOrDie(), -1);
}

TEST(ParseInstant, RefusesWhatIsNone) {
  for (const char* text : {"", "yesterday", "2024-13-01", "2024-02-30", "2023-02-29", "2024-01-31T", "2024-01-31T25:00",
                           "2024-01-31T12:00:00+", "2024-01-31T12:00:00Zx", "24-01-31", "2024-1-31"}) {
    EXPECT_TRUE(ParseInstantMs(text).status().IsInvalid()) << text;
  }
}

TEST(OneLine, MakesControlCharactersVisible) {
  EXPECT_EQ(OneLine("a\nb\tc\x1b[31m"), "a\\nb\\tc\\u001b[31m");
  EXPECT_EQ(OneLine("Zürich"), "Zürich");
  EXPECT_EQ(OneLine("\xC2\x9B"
                    "1m"),
            "\\u009b1m");  // a terminal's control sequence in one character
  EXPECT_EQ(OneLine("a\xE2\x82"), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8SequenceLength, OnlyWellFormed) {
  EXPECT_EQ(Utf8SequenceLength("a"), 1u);
  EXPECT_EQ(Utf8SequenceLength("é"), 2u);
  EXPECT_EQ(Utf8SequenceLength("€"), 3u);
  EXPECT_EQ(Utf8SequenceLength("😀"), 4u);
  for (const char* bad : {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF0\x9F", "\xFF"}) {
    EXPECT_EQ(Utf8SequenceLength(bad), 0u);
  }
}

TEST(DisplayWidth, WideAndCombining) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("日本"), 4);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);
  EXPECT_EQ(CutToWidth("abcdef", 4), "abc…");
  EXPECT_EQ(CutToWidth("日本語", 4), "日…");
  EXPECT_EQ(CutToWidth("abc", 3), "abc");
}

std::string Draw(const std::shared_ptr<arrow::Schema>& schema, const std::string& rows, int width) {
  const auto array = arrow::json::ArrayFromJSONString(arrow::struct_(schema->fields()), rows).ValueOrDie();
  const auto batch = arrow::RecordBatch::FromStructArray(array).ValueOrDie();
  auto table = TableText::Make(*schema, width).ValueOrDie();
  std::string text;
  table->Add(*batch, &text);
  table->Finish(&text);
  return text;
}

TEST(TableText, AlignsNumbersRightAndShowsTypes) {
  const auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8())});
  EXPECT_EQ(Draw(schema, R"([{"id": 1, "name": "a"}, {"id": 10, "name": null}])", 80),
            "  id  name\n"
            "long  string\n"
            "────  ──────\n"
            "   1  a\n"
            "  10  ∅\n");
}

TEST(TableText, CutsThenHidesToFit) {
  const auto schema = arrow::schema(
      {arrow::field("a", arrow::utf8()), arrow::field("b", arrow::utf8()), arrow::field("c", arrow::utf8())});
  const std::string row = R"([{"a": "0123456789012345", "b": "0123456789012345", "c": "0123456789012345"}])";
  EXPECT_EQ(Draw(schema, row, 28),
            "a         b         c\n"
            "string    string    string\n"
            "────────  ────────  ────────\n"
            "0123456…  0123456…  0123456…\n");
  EXPECT_EQ(Draw(schema, row, 20),
            "a         b\n"
            "string    string\n"
            "────────  ────────\n"
            "0123456…  0123456…\n"
            "not shown: c\n");
}

TEST(TypeName, AsIcebergNamesThem) {
  EXPECT_EQ(TypeName(*arrow::int64()), "long");
  EXPECT_EQ(TypeName(*arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")), "timestamptz");
  EXPECT_EQ(TypeName(*arrow::timestamp(arrow::TimeUnit::NANO)), "timestamp_ns");
  EXPECT_EQ(TypeName(*arrow::decimal128(9, 2)), "decimal(9, 2)");
  EXPECT_EQ(TypeName(*arrow::map(arrow::utf8(), arrow::list(arrow::int32()))), "map<string, list<int>>");
}

TEST(ProgressText, ShowsRateAndTimeLeft) {
  Progress progress;
  progress.rows = 24700000;
  progress.bytes = int64_t{1} << 30;
  progress.total_bytes = int64_t{4} << 30;
  EXPECT_EQ(ProgressText(progress, 4), "[###.........]  25 %  24,700,000 rows  1.0 of 4.0 GiB  256 MiB/s  12.0 s left");
  progress.total_bytes = 0;
  EXPECT_EQ(ProgressText(progress, 4), "24,700,000 rows  1.0 GiB  256 MiB/s");
}

TEST(SizeChart, CountsEveryFileOnce) {
  const std::string svg = SizeChart({0, 1, 1000, 1023, 1024, 5 << 20}, {6 << 20});
  EXPECT_THAT(svg, testing::HasSubstr("id=\"sizes-before\" data-files=\"6\""));
  EXPECT_THAT(svg, testing::HasSubstr("id=\"sizes-after\" data-files=\"1\""));
  EXPECT_THAT(svg, testing::HasSubstr("2 files of 512 B to 1 KiB"));
  EXPECT_THAT(SizeChart({}, {}), testing::HasSubstr("data-files=\"0\""));
}

TEST(EscapeHtml, LeavesNoMarkup) { EXPECT_EQ(EscapeHtml("<a href='x\"'>&"), "&lt;a href=&#39;x&quot;&#39;&gt;&amp;"); }

}  // namespace
}  // namespace calve::cli
