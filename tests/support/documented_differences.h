#pragma once

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace calve::testing {

/// Where calve and libparquet read a file differently: the file (relative to the shared data), its top-level column (""
/// for the whole file), and how: "calve refuses", "pyarrow refuses", "type" (the same values under another type) or
/// "values".
struct Difference {
  std::string file, column, kind;
  auto operator<=>(const Difference&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Difference& difference) {
  return out << difference.file << (difference.column.empty() ? "" : ", column " + difference.column) << ": "
             << difference.kind;
}

/// The cells of a Markdown table's row, without blanks around them and without backticks.
inline std::vector<std::string> TableCells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    std::erase(cell, '`');
    const size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// The rows of the table of docs/format/parquet-conformance.md. A row without a reason counts as none.
inline std::set<Difference> DocumentedDifferences() {
  std::set<Difference> rows;
  std::ifstream in(std::string(CALVE_SOURCE_DIR) + "/docs/format/parquet-conformance.md");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::vector<std::string> cells = TableCells(line);
    if (cells.size() >= 4 && !cells[3].empty()) rows.insert({cells[0], cells[1], cells[2]});
  }
  return rows;
}

}  // namespace calve::testing
