#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace calve::expr {

/// A signed integer wide enough for nanoseconds of every date that 32-bit days can name, and for decimal128.
__extension__ typedef __int128 Int128;

/// A day of the proleptic Gregorian calendar. Year 0 is 1 BC.
struct CivilDate {
  int64_t year = 1970;
  int month = 1;
  int day = 1;
};

CivilDate CivilFromDays(int64_t days_from_epoch);
int64_t DaysFromCivil(const CivilDate& date);

/// `value / divisor` rounded down; `divisor` is positive.
constexpr int64_t FloorDivide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

/// A date, a time of day, or both, as text tells it.
struct Moment {
  std::optional<int64_t> days;  ///< from 1970-01-01
  std::optional<int64_t> nanos_of_day;
  std::optional<int64_t> zone_offset_seconds;  ///< east of UTC; only beside a date and a time

  /// Nanoseconds from the epoch, the zone applied (none: UTC). A missing time is midnight, a missing date 1970-01-01.
  Int128 ToNanos() const;
};

/// Parses "2024-01-31", "2024-01-31 10:20:30.5", "2024-01-31T10:20+02:00", "10:20:30". Years have four digits, or more
/// with a sign. Nothing when the text is none of these, or names a day or time that does not exist.
std::optional<Moment> ParseMoment(std::string_view text);

/// "2024-01-31".
std::string FormatDate(int64_t days_from_epoch);
/// "10:20:30" with the fraction that is not zero, in groups of three digits.
std::string FormatTime(int64_t nanos_of_day);

}  // namespace calve::expr
