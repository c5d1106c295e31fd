#include "calve/iceberg/metrics.h"

#include "calve/base/status.h"
#include "calve/iceberg/truncated_bound.h"

#include <charconv>
#include <cmath>
#include <set>

namespace calve::iceberg {
namespace {

constexpr char kDefaultProperty[] = "write.metadata.metrics.default";
constexpr char kColumnPrefix[] = "write.metadata.metrics.column.";
constexpr char kMaxInferredProperty[] = "write.metadata.metrics.max-inferred-column-defaults";
constexpr int64_t kMaxInferred = 100;

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Result<MetricsMode> ParseMode(const std::string& property, const std::string& value) {
  const std::string text = LowerCase(value);
  if (text == "none") return MetricsMode{MetricsMode::Kind::kNone, 0};
  if (text == "counts") return MetricsMode{MetricsMode::Kind::kCounts, 0};
  if (text == "full") return MetricsMode{MetricsMode::Kind::kFull, 0};
  constexpr std::string_view kOpen = "truncate(";
  if (text.starts_with(kOpen) && text.ends_with(')')) {
    MetricsMode mode;
    const char* end_of_digits = text.data() + text.size() - 1;
    auto [end, error] = std::from_chars(text.data() + kOpen.size(), end_of_digits, mode.length);
    if (error == std::errc() && end == end_of_digits && mode.length > 0) return mode;
  }
  return Invalid("table property '{}': expected none, counts, truncate(LENGTH) or full, got '{}'", property, value);
}

/// The modes of all columns of a schema.
class MetricsModes {
 public:
  static Result<MetricsModes> Make(const TableMetadata& metadata, const Schema& schema) {
    MetricsModes modes;
    const auto set = metadata.properties.find(kDefaultProperty);
    if (set != metadata.properties.end()) {
      ARROW_ASSIGN_OR_RAISE(modes.default_, ParseMode(kDefaultProperty, set->second));
      modes.inferred_left_ = std::numeric_limits<int64_t>::max();
    } else {
      ARROW_ASSIGN_OR_RAISE(modes.inferred_left_, metadata.IntProperty(kMaxInferredProperty, kMaxInferred));
    }
    for (const SortOrder& order : metadata.sort_orders) {
      if (order.order_id != metadata.default_sort_order_id) continue;
      for (const SortField& field : order.fields) modes.sorted_.insert(field.source_id);
    }
    ARROW_RETURN_NOT_OK(modes.Visit(metadata, schema.fields, ""));
    return modes;
  }

  MetricsMode Of(int field_id) const {
    auto found = modes_.find(field_id);
    return found != modes_.end() ? found->second : MetricsMode{MetricsMode::Kind::kNone, 0};
  }

 private:
  Status Visit(const TableMetadata& metadata, const std::vector<Field>& fields, const std::string& prefix) {
    for (const Field& field : fields) {
      const std::string name = prefix.empty() ? field.name : prefix + "." + field.name;
      if (field.type->is_nested()) {
        ARROW_RETURN_NOT_OK(Visit(metadata, field.type->fields, name));
        continue;
      }
      const std::string property = kColumnPrefix + name;
      const auto own = metadata.properties.find(property);
      if (own != metadata.properties.end()) {
        ARROW_ASSIGN_OR_RAISE(modes_[field.id], ParseMode(property, own->second));
      } else if (inferred_left_ > 0) {
        modes_[field.id] = DefaultOf(field.id);
      }
      --inferred_left_;
    }
    return Status::OK();
  }

  // Columns that files are sorted by are worth bounds whatever the default is.
  MetricsMode DefaultOf(int field_id) const {
    const bool no_bounds = default_.kind == MetricsMode::Kind::kNone || default_.kind == MetricsMode::Kind::kCounts;
    return no_bounds && sorted_.contains(field_id) ? MetricsMode{} : default_;
  }

  MetricsMode default_;
  int64_t inferred_left_ = 0;
  std::set<int> sorted_;
  std::map<int, MetricsMode> modes_;
};

// The order that readers use puts -0.0 below 0.0; a bound of zero has to cover both.
template <typename T>
Value Zero(T value, bool is_lower) {
  return value == T{0} ? std::copysign(T{0}, is_lower ? T{-1} : T{1}) : value;
}

Value WidenZero(const Value& value, bool is_lower) {
  if (const auto* held = std::get_if<float>(&value)) return Zero(*held, is_lower);
  if (const auto* held = std::get_if<double>(&value)) return Zero(*held, is_lower);
  return value;
}

bool HasBounds(const Type& type) {
  switch (type.id) {
    case TypeId::kUnknown:
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return false;
    default:
      return type.is_primitive();
  }
}

// Cuts what the mode cuts; null when no bound is left.
Value Truncated(const Type& type, const Value& value, const MetricsMode& mode, bool is_lower) {
  const auto* bytes = std::get_if<std::string>(&value);
  if (bytes == nullptr) return WidenZero(value, is_lower);
  const size_t length = mode.kind == MetricsMode::Kind::kTruncate ? static_cast<size_t>(mode.length) : SIZE_MAX;
  std::optional<std::string> cut = *bytes;
  if (type.id == TypeId::kString) {
    cut = is_lower ? TruncateTextDown(*bytes, length) : TruncateTextUp(*bytes, length);
  } else if (type.id == TypeId::kBinary || type.id == TypeId::kFixed) {
    cut = is_lower ? TruncateBytesDown(*bytes, length) : TruncateBytesUp(*bytes, length);
  }
  return cut ? Value(*cut) : Value();
}

Status SetBound(const Type& type, const Value& value, const MetricsMode& mode, bool is_lower, int field_id,
                std::map<int, std::string>* bounds) {
  if (IsNull(value) || IsNaN(value)) return Status::OK();
  const Value truncated = Truncated(type, value, mode, is_lower);
  if (IsNull(truncated)) return Status::OK();
  return ValueToBytes(type, truncated).Value(&(*bounds)[field_id]);
}

Status SetLeaf(const LeafMetrics& leaf, const Type& type, const MetricsMode& mode, DataFile* file) {
  if (mode.kind == MetricsMode::Kind::kNone) return Status::OK();
  const bool floating = type.id == TypeId::kFloat || type.id == TypeId::kDouble;
  if (leaf.value_count) file->value_counts[leaf.field_id] = *leaf.value_count;
  if (leaf.null_count) file->null_value_counts[leaf.field_id] = *leaf.null_count;
  if (leaf.nan_count && floating) file->nan_value_counts[leaf.field_id] = *leaf.nan_count;
  if (mode.kind == MetricsMode::Kind::kCounts || leaf.inside_repeated || !HasBounds(type)) return Status::OK();
  ARROW_RETURN_NOT_OK(SetBound(type, leaf.lower, mode, true, leaf.field_id, &file->lower_bounds));
  return SetBound(type, leaf.upper, mode, false, leaf.field_id, &file->upper_bounds);
}

}  // namespace

Result<MetricsMode> MetricsModeOf(const TableMetadata& metadata, const Schema& schema, int field_id) {
  ARROW_ASSIGN_OR_RAISE(MetricsModes modes, MetricsModes::Make(metadata, schema));
  return modes.Of(field_id);
}

Status SetMetrics(const TableMetadata& metadata, const Schema& schema, const std::vector<LeafMetrics>& leaves,
                  DataFile* file) {
  ARROW_ASSIGN_OR_RAISE(MetricsModes modes, MetricsModes::Make(metadata, schema));
  for (const LeafMetrics& leaf : leaves) {
    const Field* field = schema.FindById(leaf.field_id);
    if (field == nullptr) continue;
    file->column_sizes[leaf.field_id] = leaf.column_size_bytes;
    ARROW_RETURN_NOT_OK(SetLeaf(leaf, *field->type, modes.Of(leaf.field_id), file));
  }
  return Status::OK();
}

}  // namespace calve::iceberg
