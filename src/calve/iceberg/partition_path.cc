// Folders of a partition, as Java names them:
//
//   path   = folder ("/" folder)*
//   folder = encoded(field name) "=" encoded(value)
//
// Letters, digits, ".", "-", "*" and "_" stand for themselves, a space is "+", every other byte of the UTF-8 text
// "%XX".

#include "calve/base/status.h"
#include "calve/expr/calendar.h"
#include "calve/iceberg/partition.h"

namespace calve::iceberg {
namespace {

constexpr int kEpochYear = 1970;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
         c == '*' || c == '_';
}

std::string Encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (IsPlain(c)) {
      encoded += c;
    } else if (c == ' ') {
      encoded += '+';
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string MonthText(int32_t months) {
  const int64_t year = kEpochYear + expr::FloorDivide(months, 12);
  return fmt::format("{:04}-{:02}", year, months - expr::FloorDivide(months, 12) * 12 + 1);
}

std::string HourText(int32_t hours) {
  const int64_t days = expr::FloorDivide(hours, 24);
  return fmt::format("{}-{:02}", expr::FormatDate(days), hours - days * 24);
}

std::string Text(const Transform& transform, const Type& type, const Value& value) {
  if (const auto* number = std::get_if<int32_t>(&value)) {
    switch (transform.kind) {
      case TransformKind::kYear:
        return fmt::format("{:04}", int64_t{kEpochYear} + *number);
      case TransformKind::kMonth:
        return MonthText(*number);
      case TransformKind::kDay:
        return expr::FormatDate(*number);
      case TransformKind::kHour:
        return HourText(*number);
      default:
        break;
    }
  }
  return ValueToText(type, value);
}

}  // namespace

Result<std::string> PartitionPath(const PartitionSpec& spec, const std::vector<TypePtr>& types,
                                  const std::vector<Value>& values) {
  if (types.size() != spec.fields.size() || values.size() != spec.fields.size()) {
    return Invalid("partition spec {} has {} fields, got {} types and {} values", spec.spec_id, spec.fields.size(),
                   types.size(), values.size());
  }
  std::string path;
  for (size_t i = 0; i < values.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    path += path.empty() ? "" : "/";
    path += Encoded(field.name) + "=" + Encoded(Text(field.transform, *types[i], values[i]));
  }
  return path;
}

}  // namespace calve::iceberg
