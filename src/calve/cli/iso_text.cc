#include "calve/cli/iso_text.h"

#include <arrow/type.h>
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

namespace calve::cli {

namespace {

constexpr int64_t kDaysPerEra = 146097;   // 400 Gregorian years
constexpr int64_t kDaysToEpoch = 719468;  // 0000-03-01 to 1970-01-01
constexpr int64_t kSecondsPerDay = 86400;

struct CivilDate {
  int64_t year;
  int month, day;
};

int64_t FloorDiv(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

// Years are counted from March here, so that the leap day comes last and month lengths follow 153 days in five months.
CivilDate CivilFromDays(int64_t days) {
  const int64_t shifted = days + kDaysToEpoch;
  const int64_t era = FloorDiv(shifted, kDaysPerEra);
  const int64_t day_of_era = shifted - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (kDaysPerEra - 1)) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t march_month = (5 * day_of_year + 2) / 153;
  const int day = static_cast<int>(day_of_year - (153 * march_month + 2) / 5 + 1);
  const int month = static_cast<int>(march_month < 10 ? march_month + 3 : march_month - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

int64_t DaysFromCivil(int64_t year, int month, int day) {
  const int64_t march_year = month <= 2 ? year - 1 : year;
  const int64_t era = FloorDiv(march_year, 400);
  const int64_t year_of_era = march_year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * kDaysPerEra + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - kDaysToEpoch;
}

void AppendTwoDigits(int64_t value, std::string* out) {
  out->push_back(static_cast<char>('0' + value / 10));
  out->push_back(static_cast<char>('0' + value % 10));
}

void AppendPadded(int64_t value, int digits, std::string* out) {
  char buffer[20];
  for (int i = digits - 1; i >= 0; --i, value /= 10) buffer[i] = static_cast<char>('0' + value % 10);
  out->append(buffer, static_cast<size_t>(digits));
}

struct UnitScale {
  int64_t per_second;
  int digits;
};

UnitScale ScaleOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return {1, 0};
    case arrow::TimeUnit::MILLI:
      return {1000, 3};
    case arrow::TimeUnit::MICRO:
      return {1000000, 6};
    case arrow::TimeUnit::NANO:
      return {1000000000, 9};
  }
  return {1, 0};
}

// Reads `digits` digits, or as many as there are when it is 0.
std::optional<int64_t> TakeNumber(std::string_view* text, size_t digits) {
  size_t length = 0;
  while (length < text->size() && (*text)[length] >= '0' && (*text)[length] <= '9' &&
         (digits == 0 || length < digits)) {
    ++length;
  }
  if (length == 0 || (digits != 0 && length != digits)) return std::nullopt;
  int64_t value = 0;
  if (std::from_chars(text->data(), text->data() + length, value).ec != std::errc()) return std::nullopt;
  text->remove_prefix(length);
  return value;
}

bool Take(std::string_view* text, char expected) {
  if (text->empty() || text->front() != expected) return false;
  text->remove_prefix(1);
  return true;
}

std::optional<int64_t> TakeDate(std::string_view* text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !Take(text, '-')) return std::nullopt;
  const auto month = TakeNumber(text, 2);
  if (!month || *month < 1 || *month > 12 || !Take(text, '-')) return std::nullopt;
  const auto day = TakeNumber(text, 2);
  if (!day || *day < 1) return std::nullopt;
  const int64_t days = DaysFromCivil(*year, static_cast<int>(*month), static_cast<int>(*day));
  if (CivilFromDays(days).month != *month) return std::nullopt;  // 31 April
  return days;
}

// HH:MM[:SS[.fraction]] in milliseconds.
std::optional<int64_t> TakeTimeOfDay(std::string_view* text) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || *hour > 23 || !Take(text, ':')) return std::nullopt;
  const auto minute = TakeNumber(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  int64_t millis = (*hour * 3600 + *minute * 60) * 1000;
  if (!Take(text, ':')) return millis;
  const auto second = TakeNumber(text, 2);
  if (!second || *second > 59) return std::nullopt;
  millis += *second * 1000;
  if (!Take(text, '.')) return millis;
  const size_t before = text->size();
  const std::string_view fraction = *text;
  if (!TakeNumber(text, 0)) return std::nullopt;
  const size_t length = before - text->size();
  for (size_t i = 0, weight = 100; i < length && weight > 0; ++i, weight /= 10) {
    millis += static_cast<int64_t>(weight) * (fraction[i] - '0');
  }
  return millis;
}

// "", "Z" or an offset; milliseconds east of UTC.
std::optional<int64_t> TakeZone(std::string_view* text) {
  if (text->empty() || Take(text, 'Z') || Take(text, 'z')) return 0;
  const bool east = text->front() == '+';
  if (!east && text->front() != '-') return std::nullopt;
  text->remove_prefix(1);
  const auto hours = TakeNumber(text, 2);
  if (!hours || *hours > 18) return std::nullopt;
  Take(text, ':');
  const auto minutes = text->empty() ? std::optional<int64_t>(0) : TakeNumber(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const int64_t millis = (*hours * 60 + *minutes) * 60000;
  return east ? millis : -millis;
}

std::optional<int64_t> TakeInstant(std::string_view text) {
  const auto days = TakeDate(&text);
  if (!days) return std::nullopt;
  int64_t millis = *days * kSecondsPerDay * 1000;
  if (text.empty()) return millis;
  if (!Take(&text, 'T') && !Take(&text, ' ')) return std::nullopt;
  const auto time = TakeTimeOfDay(&text);
  if (!time) return std::nullopt;
  const auto zone = TakeZone(&text);
  if (!zone || !text.empty()) return std::nullopt;
  return millis + *time - *zone;
}

}  // namespace

void AppendDate(int64_t days, std::string* out) {
  const CivilDate date = CivilFromDays(days);
  if (date.year >= 0 && date.year <= 9999) {
    AppendPadded(date.year, 4, out);
  } else {
    out->push_back(date.year < 0 ? '-' : '+');
    fmt::format_to(std::back_inserter(*out), "{:04}", date.year < 0 ? -date.year : date.year);
  }
  out->push_back('-');
  AppendTwoDigits(date.month, out);
  out->push_back('-');
  AppendTwoDigits(date.day, out);
}

void AppendTime(int64_t value, arrow::TimeUnit::type unit, std::string* out) {
  const UnitScale scale = ScaleOf(unit);
  const int64_t seconds = FloorDiv(value, scale.per_second);
  const int64_t hours = seconds / 3600;
  if (value < 0 || hours > 99) {  // no time of day: the bare number tells more than wrapped digits would
    fmt::format_to(std::back_inserter(*out), "{}", value);
    return;
  }
  AppendTwoDigits(hours, out);
  out->push_back(':');
  AppendTwoDigits(seconds / 60 % 60, out);
  out->push_back(':');
  AppendTwoDigits(seconds % 60, out);
  if (scale.digits == 0) return;
  out->push_back('.');
  AppendPadded(value - seconds * scale.per_second, scale.digits, out);
}

void AppendTimestamp(int64_t value, arrow::TimeUnit::type unit, bool zoned, std::string* out) {
  const UnitScale scale = ScaleOf(unit);
  const int64_t seconds = FloorDiv(value, scale.per_second);
  const int64_t fraction = value % scale.per_second;
  const int64_t days = FloorDiv(seconds, kSecondsPerDay);
  const int64_t second_of_day = seconds - days * kSecondsPerDay;
  AppendDate(days, out);
  out->push_back('T');
  AppendTime(second_of_day * scale.per_second + (fraction < 0 ? fraction + scale.per_second : fraction), unit, out);
  if (zoned) out->append("+00:00");
}

arrow::Result<int64_t> ParseInstantMs(std::string_view text) {
  int64_t millis = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), millis);
  if (error == std::errc() && end == text.data() + text.size()) return millis;
  const auto instant = TakeInstant(text);
  if (!instant) {
    return arrow::Status::Invalid(
        fmt::format("not a time: '{}' (ISO 8601 such as 2024-01-31T12:30:00Z, or milliseconds since 1970)", text));
  }
  return *instant;
}

}  // namespace calve::cli
