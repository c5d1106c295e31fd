#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace calve::cli {

class ValueWriter;

/// Columns that `text` (UTF-8, one line) takes in a terminal: 2 for wide characters, 0 for combining ones.
int DisplayWidth(std::string_view text);

/// `text` cut so that it takes at most `width` columns, the last of them an ellipsis where something was cut.
std::string CutToWidth(std::string_view text, int width);

/// The type as the tables and messages name it: Iceberg's names where it has one ("long", "timestamptz", "list<int>").
std::string TypeName(const arrow::DataType& type);

/// Draws record batches as a table with a head of names and types:
///
///      id  name       ts
///    long  string     timestamp
///    ────  ─────────  ──────────────────────────
///       1  calve      2024-01-31T12:00:00.000000
///
/// Column widths come from the first rows; later rows are cut to them. Nulls show as an empty-set sign, numbers are
/// flush right. Where all columns do not fit into `width`, cells are cut, then columns left out and named below.
class TableText {
 public:
  /// `width` 0: no limit.
  static arrow::Result<std::unique_ptr<TableText>> Make(const arrow::Schema& schema, int width);
  ~TableText();

  /// Appends the lines of `batch` to `out`, once the first rows have settled the widths.
  void Add(const arrow::RecordBatch& batch, std::string* out);
  /// Appends what is left, and the names of columns that were left out.
  void Finish(std::string* out);

 private:
  struct Column {
    std::string name, type;
    bool right = false;  // flush right
    int width = 0;
    bool shown = true;
  };
  using Row = std::vector<std::string>;

  explicit TableText(int width);
  void SettleWidths();
  void ShrinkToFit();
  void HideToFit();
  int TotalWidth() const;
  void AppendHead(std::string* out) const;
  void AppendLine(const Row& cells, std::string* out) const;

  int width_;
  std::vector<Column> columns_;
  std::vector<std::unique_ptr<ValueWriter>> writers_;
  std::vector<Row> first_rows_;
  bool settled_ = false;
};

}  // namespace calve::cli
