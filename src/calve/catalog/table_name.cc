#include "calve/catalog/table_name.h"

#include "calve/base/status.h"

#include <fmt/ranges.h>

namespace calve {
namespace {

std::vector<std::string> SplitAtDots(std::string_view text) {
  std::vector<std::string> levels;
  size_t start = 0;
  for (size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.', start)) {
    levels.emplace_back(text.substr(start, dot - start));
    start = dot + 1;
  }
  levels.emplace_back(text.substr(start));
  return levels;
}

bool AnyEmpty(const std::vector<std::string>& levels) {
  for (const std::string& level : levels) {
    if (level.empty()) return true;
  }
  return false;
}

}  // namespace

std::string TableName::name_space() const { return fmt::format("{}", fmt::join(levels, ".")); }

std::string TableName::ToString() const { return fmt::format("{}.{}", name_space(), table); }

Result<TableName> ParseTableName(std::string_view text) {
  TableName name;
  name.levels = SplitAtDots(text);
  if (name.levels.size() < 2) return Invalid("'{}' is no table name: expected namespace.table", text);
  if (AnyEmpty(name.levels)) return Invalid("'{}' is no table name: a part is empty", text);
  name.table = std::move(name.levels.back());
  name.levels.pop_back();
  return name;
}

Result<std::vector<std::string>> ParseNamespace(std::string_view text) {
  std::vector<std::string> levels = SplitAtDots(text);
  if (AnyEmpty(levels)) return Invalid("'{}' is no namespace: a part is empty", text);
  return levels;
}

Status CheckFolderName(std::string_view level) {
  if (level.empty() || level == "." || level == ".." || level.find('/') != std::string_view::npos ||
      level.find('\0') != std::string_view::npos) {
    return Invalid("'{}' cannot be the name of a folder", level);
  }
  return Status::OK();
}

}  // namespace calve
