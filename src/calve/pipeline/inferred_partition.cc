#include "calve/pipeline/inferred_partition.h"

#include "calve/base/status.h"

#include <nlohmann/json.hpp>

namespace calve::pipeline {
namespace {

using iceberg::LeafMetrics;
using iceberg::PartitionField;
using iceberg::TransformKind;
using iceberg::TypeId;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string PercentDecoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped =
        text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
    if (escaped) {
      result += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// The text after "name=" in a folder of `path`, decoded; the innermost folder counts.
std::optional<std::string> FolderValue(const std::string& path, const std::string& name) {
  std::optional<std::string> result;
  size_t start = 0;
  for (size_t end = path.find('/'); end != std::string::npos; start = end + 1, end = path.find('/', start)) {
    const std::string_view folder(path.data() + start, end - start);
    const size_t equals = folder.find('=');
    if (equals == std::string_view::npos || PercentDecoded(folder.substr(0, equals)) != name) continue;
    result = PercentDecoded(folder.substr(equals + 1));
  }
  return result;
}

bool IsNumber(TypeId id) {
  return id == TypeId::kBoolean || id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kFloat ||
         id == TypeId::kDouble;
}

Result<Value> ValueFromFolder(const iceberg::Type& type, const std::string& text) {
  if (text == "__HIVE_DEFAULT_PARTITION__" || text == "null") return Value();
  if (!IsNumber(type.id)) return iceberg::ValueFromJson(type, nlohmann::json(text));
  const auto number = nlohmann::json::parse(text, nullptr, false);
  if (number.is_discarded()) return Invalid("'{}' is no {}", text, type.ToString());
  return iceberg::ValueFromJson(type, number);
}

/// True when equal results for both bounds mean that all values between them have that result.
bool IsMonotonic(TransformKind kind) { return kind != TransformKind::kBucket; }

const LeafMetrics* FindLeaf(const std::vector<LeafMetrics>& leaves, int field_id) {
  for (const LeafMetrics& leaf : leaves) {
    if (leaf.field_id == field_id) return &leaf;
  }
  return nullptr;
}

Result<Value> FromBounds(const PartitionField& field, const iceberg::Type& type, const LeafMetrics& leaf) {
  if (!leaf.null_count) return Invalid("the footer does not tell how many nulls there are");
  if (leaf.value_count == leaf.null_count) return Value();
  if (*leaf.null_count > 0) return Invalid("there are nulls beside other values");
  const bool may_be_nan = type.id == TypeId::kFloat || type.id == TypeId::kDouble;
  if (may_be_nan && leaf.nan_count != 0) return Invalid("there may be NaNs beside other values");
  if (IsNull(leaf.lower) || IsNull(leaf.upper)) return Invalid("the footer has no bounds");
  const bool exact = leaf.lower_exact && leaf.upper_exact;
  if (!IsMonotonic(field.transform.kind) && !(exact && SameValue(leaf.lower, leaf.upper))) {
    return Invalid("there is more than one value");
  }
  ARROW_ASSIGN_OR_RAISE(auto lowest, iceberg::Apply(field.transform, type, leaf.lower));
  ARROW_ASSIGN_OR_RAISE(auto highest, iceberg::Apply(field.transform, type, leaf.upper));
  if (!SameValue(lowest, highest)) {
    return Invalid("values go from {} to {}", iceberg::ValueToText(type, leaf.lower),
                   iceberg::ValueToText(type, leaf.upper));
  }
  return lowest;
}

}  // namespace

Result<std::map<int, Value>> IdentityValuesInPath(const iceberg::TableMetadata& metadata, const std::string& path) {
  std::map<int, Value> result;
  for (const PartitionField& field : metadata.spec().fields) {
    if (field.transform.kind != TransformKind::kIdentity) continue;
    const iceberg::Field* source = metadata.schema().FindById(field.source_id);
    const auto text = FolderValue(path, field.name);
    if (source == nullptr || !text) continue;
    ARROW_ASSIGN_OR_RAISE(result[field.source_id],
                          WithContext(ValueFromFolder(*source->type, *text),
                                      fmt::format("file {}: partition field '{}'", path, field.name)));
  }
  return result;
}

Result<std::vector<Value>> InferPartition(const iceberg::TableMetadata& metadata, const std::string& path,
                                          const std::vector<LeafMetrics>& leaves) {
  ARROW_ASSIGN_OR_RAISE(const auto in_path, IdentityValuesInPath(metadata, path));
  std::vector<Value> result;
  for (const PartitionField& field : metadata.spec().fields) {
    const std::string where = fmt::format("file {}: partition field '{}' is not decided", path, field.name);
    const iceberg::Field* source = metadata.schema().FindById(field.source_id);
    if (field.transform.kind == TransformKind::kVoid) {
      result.push_back({});
    } else if (field.transform.kind == TransformKind::kUnknown || source == nullptr) {
      return NotImplemented("partition field '{}': transform '{}' is not supported for writing", field.name,
                            field.transform.text);
    } else if (const LeafMetrics* leaf = FindLeaf(leaves, field.source_id)) {
      ARROW_ASSIGN_OR_RAISE(auto value, WithContext(FromBounds(field, *source->type, *leaf), where));
      result.push_back(std::move(value));
    } else if (auto value = in_path.find(field.source_id); value != in_path.end()) {
      result.push_back(value->second);
    } else {
      return Invalid("{}: the file lacks column '{}'", where, source->name);
    }
  }
  return result;
}

}  // namespace calve::pipeline
