#pragma once

#include <arrow/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace calve {

/// The name of a table in a catalog: "a.b.t" is table "t" in namespace "a.b".
struct TableName {
  std::vector<std::string> levels;  ///< of the namespace, at least one
  std::string table;

  std::string name_space() const;  ///< dotted
  std::string ToString() const;
};

/// Invalid when there is no namespace, or an empty level.
arrow::Result<TableName> ParseTableName(std::string_view text);
/// The levels of a dotted namespace; Invalid when one is empty.
arrow::Result<std::vector<std::string>> ParseNamespace(std::string_view text);
/// Invalid when `level` cannot be the name of a folder: "." and "..", or with a slash.
arrow::Status CheckFolderName(std::string_view level);

}  // namespace calve
