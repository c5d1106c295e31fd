// Grammar of a moment:
//
//   moment = date | time | date (" " | "T") time [zone]
//   date   = [sign] year "-" MM "-" DD        year: 4 digits, with a sign up to 6
//   time   = HH ":" MM [":" SS ["." digit{1,9}]]
//   zone   = "Z" | sign HH [[":"] MM]

#include "calve/expr/calendar.h"

#include <fmt/format.h>

namespace calve::expr {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kSecondsPerDay = 86'400;

bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysInMonth(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

/// Reads a text from left to right. Every function leaves the position where it was when it finds nothing.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ == text_.size(); }

  bool Take(char expected) {
    if (at_end() || text_[position_] != expected) return false;
    ++position_;
    return true;
  }

  std::optional<int> Sign() {
    if (Take('+')) return 1;
    if (Take('-')) return -1;
    return std::nullopt;
  }

  /// Exactly `count` digits.
  std::optional<int64_t> Digits(int count) {
    int64_t value = 0;
    for (int i = 0; i < count; ++i) {
      if (position_ + i >= text_.size() || !IsDigit(text_[position_ + i])) return std::nullopt;
      value = value * 10 + (text_[position_ + i] - '0');
    }
    position_ += count;
    return value;
  }

  /// The number of digits from here on.
  int CountDigits() const {
    size_t end = position_;
    while (end < text_.size() && IsDigit(text_[end])) ++end;
    return static_cast<int>(end - position_);
  }

  char Peek(size_t ahead) const { return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0'; }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view text_;
  size_t position_ = 0;
};

std::optional<int64_t> ReadDate(Reader* reader) {
  const std::optional<int> sign = reader->Sign();
  const int year_digits = sign.has_value() ? reader->CountDigits() : 4;
  if (year_digits < 4 || year_digits > 6) return std::nullopt;
  const auto year = reader->Digits(year_digits);
  if (!year || !reader->Take('-')) return std::nullopt;
  const auto month = reader->Digits(2);
  if (!month || *month < 1 || *month > 12 || !reader->Take('-')) return std::nullopt;
  const auto day = reader->Digits(2);
  const CivilDate date{*year * sign.value_or(1), static_cast<int>(*month), static_cast<int>(day.value_or(0))};
  if (date.day < 1 || date.day > DaysInMonth(date.year, date.month)) return std::nullopt;
  return DaysFromCivil(date);
}

std::optional<int64_t> ReadFraction(Reader* reader) {
  const int digits = reader->CountDigits();
  if (digits < 1 || digits > 9) return std::nullopt;
  int64_t nanos = *reader->Digits(digits);
  for (int i = digits; i < 9; ++i) nanos *= 10;
  return nanos;
}

std::optional<int64_t> ReadTime(Reader* reader) {
  const auto hour = reader->Digits(2);
  if (!hour || *hour > 23 || !reader->Take(':')) return std::nullopt;
  const auto minute = reader->Digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  int64_t seconds = (*hour * 60 + *minute) * 60;
  if (!reader->Take(':')) return seconds * kNanosPerSecond;
  const auto second = reader->Digits(2);
  if (!second || *second > 59) return std::nullopt;
  seconds += *second;
  if (!reader->Take('.')) return seconds * kNanosPerSecond;
  const auto fraction = ReadFraction(reader);
  if (!fraction) return std::nullopt;
  return seconds * kNanosPerSecond + *fraction;
}

std::optional<int64_t> ReadZone(Reader* reader) {
  if (reader->Take('Z')) return 0;
  const auto sign = reader->Sign();
  const auto hour = sign ? reader->Digits(2) : std::nullopt;
  if (!hour || *hour > 18) return std::nullopt;
  int64_t minutes = 0;
  if (reader->Take(':') || reader->CountDigits() > 0) {
    const auto read = reader->Digits(2);
    if (!read || *read > 59) return std::nullopt;
    minutes = *read;
  }
  return *sign * (*hour * 60 + minutes) * 60;
}

}  // namespace

// Both directions count years from March, so that the leap day is the last of its year, in eras of 400 years.
CivilDate CivilFromDays(int64_t days_from_epoch) {
  const int64_t days = days_from_epoch + 719'468;
  const int64_t era = FloorDivide(days, 146'097);
  const int64_t day_of_era = days - era * 146'097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  const int month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

int64_t DaysFromCivil(const CivilDate& date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = FloorDivide(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t month_from_march = (date.month + 9) % 12;
  const int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

Int128 Moment::ToNanos() const {
  const Int128 seconds = Int128{days.value_or(0)} * kSecondsPerDay - zone_offset_seconds.value_or(0);
  return seconds * kNanosPerSecond + nanos_of_day.value_or(0);
}

std::optional<Moment> ParseMoment(std::string_view text) {
  Reader reader(text);
  Moment moment;
  if (reader.Peek(2) == ':') {
    moment.nanos_of_day = ReadTime(&reader);
    return moment.nanos_of_day && reader.at_end() ? std::optional(moment) : std::nullopt;
  }
  moment.days = ReadDate(&reader);
  if (!moment.days) return std::nullopt;
  if (reader.at_end()) return moment;
  if (!reader.Take(' ') && !reader.Take('T')) return std::nullopt;
  moment.nanos_of_day = ReadTime(&reader);
  if (!moment.nanos_of_day) return std::nullopt;
  if (reader.at_end()) return moment;
  moment.zone_offset_seconds = ReadZone(&reader);
  return moment.zone_offset_seconds && reader.at_end() ? std::optional(moment) : std::nullopt;
}

std::string FormatDate(int64_t days_from_epoch) {
  const CivilDate date = CivilFromDays(days_from_epoch);
  if (date.year >= 0 && date.year <= 9999) return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
  return fmt::format("{:+05}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string FormatTime(int64_t nanos_of_day) {
  const int64_t seconds = nanos_of_day / kNanosPerSecond;
  const int64_t nanos = nanos_of_day % kNanosPerSecond;
  std::string text = fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (nanos == 0) return text;
  if (nanos % 1'000'000 == 0) return text + fmt::format(".{:03}", nanos / 1'000'000);
  if (nanos % 1'000 == 0) return text + fmt::format(".{:06}", nanos / 1'000);
  return text + fmt::format(".{:09}", nanos);
}

}  // namespace calve::expr
