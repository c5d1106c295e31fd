#include "calve/catalog/partition_by.h"

#include "calve/base/status.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace calve {
namespace {

using iceberg::PartitionField;
using iceberg::PartitionSpec;
using iceberg::Transform;
using iceberg::TransformKind;

/// A transform's spelling here, in metadata, and at the end of a partition field's name.
struct TransformName {
  std::string_view spelling, plural, metadata, suffix;
  bool has_parameter;
};

constexpr TransformName kTransforms[] = {
    {"identity", "", "identity", "", false},       {"year", "years", "year", "_year", false},
    {"month", "months", "month", "_month", false}, {"day", "days", "day", "_day", false},
    {"hour", "hours", "hour", "_hour", false},     {"void", "", "void", "_null", false},
    {"bucket", "", "bucket", "_bucket", true},     {"truncate", "", "truncate", "_trunc", true},
};

const TransformName* FindTransform(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const TransformName& transform : kTransforms) {
    if (lower == transform.spelling || (!transform.plural.empty() && lower == transform.plural)) return &transform;
  }
  return nullptr;
}

class PartitionByParser {
 public:
  PartitionByParser(std::string_view text, const iceberg::Schema& schema) : text_(text), schema_(schema) {}

  Result<PartitionSpec> Parse() {
    SkipSpace();
    while (!AtEnd()) {
      ARROW_RETURN_NOT_OK(ParseField());
      if (AtEnd()) break;
      ARROW_RETURN_NOT_OK(Expect(','));
      if (AtEnd()) return Wrong("a field after ','");
    }
    return std::move(spec_);
  }

 private:
  Status ParseField() {
    ARROW_ASSIGN_OR_RAISE(std::string first, ParseWord());
    if (AtEnd() || (Peek() != '(' && Peek() != '[')) return AddField(kTransforms[0], first, "");
    const TransformName* transform = FindTransform(first);
    if (transform == nullptr) {
      return Invalid("partition_by: unknown transform '{}' (identity, year, month, day, hour, bucket, truncate, void)",
                     first);
    }
    std::string parameter;
    if (Peek() == '[') {
      ARROW_ASSIGN_OR_RAISE(parameter, ParseBracket());
      if (!transform->has_parameter || !IsNumber(parameter)) return Wrong(fmt::format("what {}[] takes", first));
    }
    ARROW_RETURN_NOT_OK(Expect('('));
    ARROW_ASSIGN_OR_RAISE(std::string column, ParseWord());
    if (transform->has_parameter && parameter.empty()) {
      ARROW_RETURN_NOT_OK(Expect(','));
      parameter = std::move(column);
      ARROW_ASSIGN_OR_RAISE(column, ParseWord());
      if (!IsNumber(parameter)) std::swap(parameter, column);
      if (!IsNumber(parameter)) return Invalid("partition_by: {}() takes a number and a column", first);
    }
    ARROW_RETURN_NOT_OK(Expect(')'));
    return AddField(*transform, column, parameter);
  }

  Status AddField(const TransformName& transform, const std::string& column, const std::string& parameter) {
    const iceberg::Field* source = schema_.FindByName(column);
    if (source == nullptr) return Invalid("partition_by: the table has no column '{}'", column);
    ARROW_RETURN_NOT_OK(CheckSource(column, *source));
    PartitionField field;
    field.source_id = source->id;
    field.field_id = 1000 + static_cast<int>(spec_.fields.size());
    field.name = column + std::string(transform.suffix);
    const std::string text =
        parameter.empty() ? std::string(transform.metadata) : fmt::format("{}[{}]", transform.metadata, parameter);
    ARROW_ASSIGN_OR_RAISE(field.transform, iceberg::ParseTransform(text));
    if (field.transform.kind == TransformKind::kUnknown || (!parameter.empty() && field.transform.parameter <= 0)) {
      return Invalid("partition_by: '{}' is no valid transform", text);
    }
    ARROW_RETURN_NOT_OK(WithContext(iceberg::ResultType(field.transform, *source->type),
                                    fmt::format("partition_by: {} of column '{}'", text, column))
                            .status());
    ARROW_RETURN_NOT_OK(CheckName(field));
    spec_.fields.push_back(std::move(field));
    return Status::OK();
  }

  /// A source is a primitive column, inside structs at most.
  Status CheckSource(const std::string& column, const iceberg::Field& source) const {
    if (!source.type->is_primitive()) {
      return Invalid("partition_by: column '{}' is a {}, which cannot be partitioned by", column,
                     source.type->ToString());
    }
    for (size_t dot = column.find('.'); dot != std::string::npos; dot = column.find('.', dot + 1)) {
      const iceberg::Field* parent = schema_.FindByName(column.substr(0, dot));
      if (parent != nullptr && parent->type->id != iceberg::TypeId::kStruct) {
        return Invalid("partition_by: column '{}' is inside a {}", column, parent->type->ToString());
      }
    }
    return Status::OK();
  }

  Status CheckName(const PartitionField& field) const {
    for (const PartitionField& other : spec_.fields) {
      if (other.name == field.name) return Invalid("partition_by: two fields would be named '{}'", field.name);
    }
    const iceberg::Field* column = schema_.FindByName(field.name);
    if (column != nullptr && (column->id != field.source_id || field.transform.kind != TransformKind::kIdentity)) {
      return Invalid("partition_by: the field '{}' has the name of a column", field.name);
    }
    return Status::OK();
  }

  Result<std::string> ParseBracket() {
    ARROW_RETURN_NOT_OK(Expect('['));
    ARROW_ASSIGN_OR_RAISE(std::string word, ParseWord());
    ARROW_RETURN_NOT_OK(Expect(']'));
    return word;
  }

  Result<std::string> ParseWord() {
    SkipSpace();
    if (AtEnd()) return Wrong("a name");
    std::string word;
    if (Peek() == '`' || Peek() == '"') {
      const char quote = text_[position_++];
      while (!AtEnd() && Peek() != quote) word += text_[position_++];
      if (AtEnd()) return Invalid("partition_by: a quoted name does not end: '{}'", text_);
      ++position_;
    } else {
      while (!AtEnd() && IsWordCharacter(Peek())) word += text_[position_++];
    }
    if (word.empty()) return Wrong("a name");
    SkipSpace();
    return word;
  }

  Status Expect(char c) {
    if (AtEnd() || Peek() != c) return Wrong(fmt::format("'{}'", c));
    ++position_;
    SkipSpace();
    return Status::OK();
  }

  Status Wrong(const std::string& expected) const {
    return Invalid("partition_by: expected {} at character {} of '{}'", expected, position_ + 1, text_);
  }

  static bool IsNumber(const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
  }
  static bool IsWordCharacter(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) || byte >= 0x80 || c == '_' || c == '.' || c == '-';
  }

  bool AtEnd() const { return position_ >= text_.size(); }
  char Peek() const { return text_[position_]; }
  void SkipSpace() {
    while (!AtEnd() && std::isspace(static_cast<unsigned char>(Peek()))) ++position_;
  }

  std::string_view text_;
  size_t position_ = 0;
  const iceberg::Schema& schema_;
  PartitionSpec spec_;
};

}  // namespace

Result<PartitionSpec> ParsePartitionBy(std::string_view text, const iceberg::Schema& schema) {
  return PartitionByParser(text, schema).Parse();
}

}  // namespace calve
