#include "calve/cli/table_text.h"

#include "calve/cli/json_text.h"
#include "calve/cli/value_writer.h"

#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;

constexpr size_t kRowsForWidths = 1000;
constexpr int kWidestCell = 60, kNarrowestCell = 8, kGap = 2;
constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kNull = "∅";
constexpr std::string_view kRule = "─";

struct CodeRange {
  uint32_t first, last;
};

// The blocks of combining marks and of wide characters (Unicode, East Asian Width W and F), coarsely.
constexpr std::array<CodeRange, 9> kZeroWidth = {{{0x0300, 0x036F},
                                                  {0x0483, 0x0489},
                                                  {0x0591, 0x05BD},
                                                  {0x064B, 0x065F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F}}};
constexpr std::array<CodeRange, 9> kDoubleWidth = {{{0x1100, 0x115F},
                                                    {0x2E80, 0x303E},
                                                    {0x3041, 0xA4CF},
                                                    {0xAC00, 0xD7A3},
                                                    {0xF900, 0xFAFF},
                                                    {0xFE30, 0xFE6F},
                                                    {0xFF00, 0xFF60},
                                                    {0x1F300, 0x1FAFF},
                                                    {0x20000, 0x3FFFD}}};

template <size_t n>
bool In(const std::array<CodeRange, n>& ranges, uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const CodeRange& range) { return range.first <= code && code <= range.last; });
}

int WidthOfCode(uint32_t code) {
  if (code < 0x300) return 1;
  if (In(kZeroWidth, code)) return 0;
  return In(kDoubleWidth, code) ? 2 : 1;
}

uint32_t CodePoint(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(sequence[i])); };
  switch (sequence.size()) {
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    case 4:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    default:
      return byte(0);
  }
}

// The first character of `text` (not empty) and its width.
std::pair<size_t, int> FirstCharacter(std::string_view text) {
  const size_t length = std::max<size_t>(1, Utf8SequenceLength(text));
  return {length, WidthOfCode(CodePoint(text.substr(0, length)))};
}

void AppendPaddedCell(std::string_view cell, int width, bool right, std::string* out) {
  const std::string cut = CutToWidth(cell, width);
  const auto padding = static_cast<size_t>(width - DisplayWidth(cut));
  if (right) out->append(padding, ' ');
  out->append(cut);
  if (!right) out->append(padding, ' ');
}

std::string FieldsText(const arrow::DataType& type) {
  std::string text;
  for (const auto& field : type.fields()) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", field->name(), TypeName(*field->type()));
  }
  return text;
}

std::string TimestampName(const arrow::TimestampType& type) {
  std::string name = "timestamp";
  if (!type.timezone().empty()) name += "tz";
  switch (type.unit()) {
    case arrow::TimeUnit::SECOND:
      return name + "_s";
    case arrow::TimeUnit::MILLI:
      return name + "_ms";
    case arrow::TimeUnit::MICRO:
      return name;
    case arrow::TimeUnit::NANO:
      return name + "_ns";
  }
  return name;
}

}  // namespace

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const auto [length, columns] = FirstCharacter(text);
    width += columns;
    text.remove_prefix(length);
  }
  return width;
}

std::string CutToWidth(std::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return "";
  size_t end = 0;
  for (int used = 0; end < text.size();) {
    const auto [length, columns] = FirstCharacter(text.substr(end));
    if (used + columns > width - 1) break;
    used += columns;
    end += length;
  }
  return std::string(text.substr(0, end)).append(kEllipsis);
}

std::string TypeName(const arrow::DataType& type) {
  using arrow::Type;
  switch (type.id()) {
    case Type::BOOL:
      return "boolean";
    case Type::INT32:
      return "int";
    case Type::INT64:
      return "long";
    case Type::HALF_FLOAT:
      return "float16";
    case Type::STRING:
    case Type::LARGE_STRING:
    case Type::STRING_VIEW:
      return "string";
    case Type::BINARY:
    case Type::LARGE_BINARY:
    case Type::BINARY_VIEW:
      return "binary";
    case Type::FIXED_SIZE_BINARY:
      return fmt::format("fixed[{}]", static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128:
    case Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return fmt::format("decimal({}, {})", decimal.precision(), decimal.scale());
    }
    case Type::DATE32:
    case Type::DATE64:
      return "date";
    case Type::TIME32:
    case Type::TIME64:
      return "time";
    case Type::TIMESTAMP:
      return TimestampName(static_cast<const arrow::TimestampType&>(type));
    case Type::LIST:
    case Type::LARGE_LIST:
    case Type::FIXED_SIZE_LIST:
    case Type::LIST_VIEW:
    case Type::LARGE_LIST_VIEW:
      return fmt::format("list<{}>", TypeName(*type.field(0)->type()));
    case Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(type);
      return fmt::format("map<{}, {}>", TypeName(*map.key_type()), TypeName(*map.item_type()));
    }
    case Type::STRUCT:
      return fmt::format("struct<{}>", FieldsText(type));
    case Type::DICTIONARY:
      return TypeName(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case Type::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionType&>(type);
      return extension.extension_name() == "arrow.uuid" ? "uuid" : extension.extension_name();
    }
    default:
      return type.ToString();
  }
}

TableText::TableText(int width) : width_(width) {}
TableText::~TableText() = default;

Result<std::unique_ptr<TableText>> TableText::Make(const arrow::Schema& schema, int width) {
  std::unique_ptr<TableText> table(new TableText(width));
  for (const auto& field : schema.fields()) {
    ARROW_ASSIGN_OR_RAISE(auto writer, ValueWriter::Make(field->type(), ValueWriter::Style::kPlain));
    table->writers_.push_back(std::move(writer));
    table->columns_.push_back({OneLine(field->name()), OneLine(TypeName(*field->type())), IsNumeric(*field->type())});
  }
  return table;
}

void TableText::Add(const arrow::RecordBatch& batch, std::string* out) {
  for (size_t k = 0; k < writers_.size(); ++k) writers_[k]->Bind(*batch.column(static_cast<int>(k)));
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    Row cells(writers_.size());
    for (size_t k = 0; k < writers_.size(); ++k) {
      if (writers_[k]->IsNull(row)) {
        cells[k] = kNull;
        continue;
      }
      std::string value;
      writers_[k]->Append(row, &value);
      // A cell shows kWidestCell columns at most: escaping all of a long value would be for nothing.
      cells[k] = OneLine(std::string_view(value).substr(0, static_cast<size_t>(kWidestCell) * 8));
    }
    if (settled_) {
      AppendLine(cells, out);
      continue;
    }
    first_rows_.push_back(std::move(cells));
    if (first_rows_.size() == kRowsForWidths) {
      SettleWidths();
      AppendHead(out);
    }
  }
}

void TableText::Finish(std::string* out) {
  if (!settled_) {
    SettleWidths();
    AppendHead(out);
  }
  std::string hidden;
  for (const Column& column : columns_) {
    if (!column.shown) hidden += fmt::format("{}{}", hidden.empty() ? "" : ", ", column.name);
  }
  if (!hidden.empty()) {
    const std::string line = "not shown: " + hidden;
    out->append(width_ > 0 ? CutToWidth(line, width_) : line).push_back('\n');
  }
}

void TableText::SettleWidths() {
  for (size_t k = 0; k < columns_.size(); ++k) {
    Column& column = columns_[k];
    column.width = DisplayWidth(column.name);
    for (const Row& row : first_rows_) column.width = std::max(column.width, DisplayWidth(row[k]));
    // A long type name alone does not widen a column much.
    column.width = std::max(column.width, std::min(DisplayWidth(column.type), 20));
    column.width = std::clamp(column.width, 1, kWidestCell);
  }
  if (width_ > 0) {
    ShrinkToFit();
    HideToFit();
  }
  settled_ = true;
}

int TableText::TotalWidth() const {
  int total = -kGap;
  for (const Column& column : columns_) total += column.shown ? column.width + kGap : 0;
  return total;
}

void TableText::ShrinkToFit() {
  for (int excess = TotalWidth() - width_; excess > 0; --excess) {
    // Numbers that are cut mislead: text gives way first.
    Column* widest = nullptr;
    for (Column& column : columns_) {
      if (!column.right && column.width > kNarrowestCell && (widest == nullptr || column.width > widest->width)) {
        widest = &column;
      }
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

void TableText::HideToFit() {
  for (size_t k = columns_.size(); k > 1 && TotalWidth() > width_; --k) columns_[k - 1].shown = false;
}

void TableText::AppendHead(std::string* out) const {
  Row names, types, rules;
  for (const Column& column : columns_) {
    names.push_back(column.name);
    types.push_back(column.type);
    std::string& rule = rules.emplace_back();
    for (int i = 0; i < column.width; ++i) rule.append(kRule);
  }
  AppendLine(names, out);
  AppendLine(types, out);
  AppendLine(rules, out);
  for (const Row& row : first_rows_) AppendLine(row, out);
}

void TableText::AppendLine(const Row& cells, std::string* out) const {
  const size_t begin = out->size();
  for (size_t k = 0; k < columns_.size(); ++k) {
    if (!columns_[k].shown) continue;
    if (k > 0) out->append(kGap, ' ');
    AppendPaddedCell(cells[k], columns_[k].width, columns_[k].right, out);
  }
  while (out->size() > begin && out->back() == ' ') out->pop_back();
  out->push_back('\n');
}

}  // namespace calve::cli
