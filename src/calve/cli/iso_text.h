#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace calve::cli {

/// Appends days since 1970-01-01 as YYYY-MM-DD (proleptic Gregorian). Years outside 0..9999 have a sign and as many
/// digits as they need, at least four.
void AppendDate(int64_t days, std::string* out);

/// Appends a time of day, `value` units since midnight, as HH:MM:SS and as many decimals as the unit has: none, 3, 6
/// or 9.
void AppendTime(int64_t value, arrow::TimeUnit::type unit, std::string* out);

/// Appends `value` units since 1970-01-01T00:00:00 as date, 'T' and time; then "+00:00" when `zoned`.
void AppendTimestamp(int64_t value, arrow::TimeUnit::type unit, bool zoned, std::string* out);

/// Milliseconds since 1970-01-01T00:00:00Z of `text`: a whole number of them, or ISO 8601 as "2024-01-31",
/// "2024-01-31T12:30", "2024-01-31 12:30:59.5", with "Z", "+02:00" or nothing (UTC) after it.
arrow::Result<int64_t> ParseInstantMs(std::string_view text);

}  // namespace calve::cli
