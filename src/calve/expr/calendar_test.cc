#include "calve/expr/calendar.h"

#include <gtest/gtest.h>

#include <chrono>

namespace calve::expr {
namespace {

TEST(Calendar, AgreesWithTheStandardLibrary) {
  using std::chrono::days;
  using std::chrono::sys_days;
  using std::chrono::year_month_day;
  const auto first = sys_days(std::chrono::year(-4800) / 1 / 1).time_since_epoch().count();
  const auto last = sys_days(std::chrono::year(12000) / 1 / 1).time_since_epoch().count();
  for (int64_t day = first; day < last; day += 17) {
    const year_month_day expected{sys_days(days(day))};
    const CivilDate date = CivilFromDays(day);
    ASSERT_EQ(date.year, static_cast<int>(expected.year()));
    ASSERT_EQ(date.month, static_cast<int>(static_cast<unsigned>(expected.month())));
    ASSERT_EQ(date.day, static_cast<int>(static_cast<unsigned>(expected.day())));
    ASSERT_EQ(DaysFromCivil(date), day);
  }
}

TEST(Calendar, HoldsEveryThirtyTwoBitDay) {
  for (const int64_t day : {int64_t{INT32_MIN}, int64_t{INT32_MAX}}) EXPECT_EQ(DaysFromCivil(CivilFromDays(day)), day);
}

TEST(Calendar, FloorsNegativeQuotients) {
  EXPECT_EQ(FloorDivide(-1, 24), -1);
  EXPECT_EQ(FloorDivide(-24, 24), -1);
  EXPECT_EQ(FloorDivide(-25, 24), -2);
  EXPECT_EQ(FloorDivide(23, 24), 0);
}

int64_t NanosOf(const char* text) { return static_cast<int64_t>(ParseMoment(text).value().ToNanos()); }

TEST(ParseMoment, ReadsDatesTimesAndZones) {
  EXPECT_EQ(NanosOf("1970-01-02"), 86'400'000'000'000);
  EXPECT_EQ(NanosOf("1969-12-31 23:59:59.999999999"), -1);
  EXPECT_EQ(NanosOf("1970-01-01T01:00+01:00"), 0);
  EXPECT_EQ(NanosOf("1970-01-01T01:00+01"), 0);
  EXPECT_EQ(NanosOf("1970-01-01 00:00-0130"), 5'400'000'000'000);
  EXPECT_EQ(NanosOf("1970-01-01 00:00:00.5Z"), 500'000'000);
  EXPECT_EQ(NanosOf("00:00:01.000001"), 1'000'001'000);
  EXPECT_EQ(FormatDate(*ParseMoment("+12345-06-07")->days), "+12345-06-07");
  EXPECT_EQ(FormatDate(*ParseMoment("-0001-06-07")->days), "-0001-06-07");
  EXPECT_EQ(FormatDate(*ParseMoment("0000-02-29")->days), "0000-02-29");
}

TEST(ParseMoment, RefusesWhatDoesNotExist) {
  for (const char* text : {"",
                           "2024",
                           "2024-1-1",
                           "2023-02-29",
                           "1900-02-29",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-01-00",
                           "2024-04-31",
                           "2024-01-01 ",
                           "2024-01-01 24:00",
                           "2024-01-01 10:60",
                           "2024-01-01 10:00:60",
                           "2024-01-01 10:00:00.",
                           "2024-01-01 10:00:00.1234567890",
                           "2024-01-01 10:00:00 Z",
                           "2024-01-01Z",
                           "10:00Z",
                           "2024-01-01 10:00+19:00",
                           "2024-01-01 10:00+1:00",
                           "12345-01-01",
                           "+1234567-01-01",
                           "+123-01-01",
                           "2024-01-01x",
                           "2024-01-01 10:00+01:"}) {
    EXPECT_FALSE(ParseMoment(text).has_value()) << text;
  }
}

TEST(FormatTime, DropsZeroFractions) {
  EXPECT_EQ(FormatTime(0), "00:00:00");
  EXPECT_EQ(FormatTime(1'500'000'000), "00:00:01.500");
  EXPECT_EQ(FormatTime(1'000), "00:00:00.000001");
  EXPECT_EQ(FormatTime(86'399'999'999'999), "23:59:59.999999999");
}

}  // namespace
}  // namespace calve::expr
