#include "calve/pipeline/described_file.h"

#include "calve/base/status.h"
#include "calve/pipeline/file_metrics.h"

namespace calve::pipeline {
namespace {

template <typename T>
const T* Find(const std::map<int, T>& values, int field_id) {
  auto found = values.find(field_id);
  return found == values.end() ? nullptr : &found->second;
}

Status CheckCount(const char* what, const std::string& column, const int64_t* expected, std::optional<int64_t> got) {
  if (expected == nullptr || !got || *expected == *got) return Status::OK();
  return Invalid("column '{}' has {} {}, its manifest says {}", column, *got, what, *expected);
}

/// A manifest's bound may be cut: the lower one to a prefix, the upper one to something above.
bool BoundHolds(const Value& expected, const Value& got, bool is_lower) {
  const auto* text = std::get_if<std::string>(&got);
  const auto* cut = std::get_if<std::string>(&expected);
  if (text == nullptr || cut == nullptr) return Compare(expected, got) == std::partial_ordering::equivalent;
  return is_lower ? text->starts_with(*cut) : *text <= *cut;
}

Status CheckBound(const iceberg::Field& field, const std::string* bytes, const Value& got, bool is_lower) {
  if (bytes == nullptr || IsNull(got)) return Status::OK();
  auto expected = iceberg::ValueFromBytes(*field.type, *bytes);
  if (!expected.ok() || IsNaN(*expected) || BoundHolds(*expected, got, is_lower)) return Status::OK();
  return Invalid("column '{}' has the {} bound {}, its manifest says {}", field.name, is_lower ? "lower" : "upper",
                 iceberg::ValueToText(*field.type, got), iceberg::ValueToText(*field.type, *expected));
}

}  // namespace

Status CheckDescribedBy(const iceberg::DataFile& entry, const parquet::FileMetadata& footer, const SourceSchema& source,
                        const iceberg::Schema& table_schema) {
  if (footer.num_rows != entry.record_count) {
    return Invalid("it has {} rows, its manifest says {}", footer.num_rows, entry.record_count);
  }
  ARROW_ASSIGN_OR_RAISE(const auto leaves, MetricsOfFooter(footer, source, table_schema));
  for (const iceberg::LeafMetrics& leaf : leaves) {
    const iceberg::Field* field = table_schema.FindById(leaf.field_id);
    if (field == nullptr || leaf.inside_repeated) continue;
    ARROW_RETURN_NOT_OK(CheckCount("values", field->name, Find(entry.value_counts, leaf.field_id), leaf.value_count));
    ARROW_RETURN_NOT_OK(
        CheckCount("nulls", field->name, Find(entry.null_value_counts, leaf.field_id), leaf.null_count));
    if (leaf.lower_exact) {
      ARROW_RETURN_NOT_OK(CheckBound(*field, Find(entry.lower_bounds, leaf.field_id), leaf.lower, true));
    }
    if (leaf.upper_exact) {
      ARROW_RETURN_NOT_OK(CheckBound(*field, Find(entry.upper_bounds, leaf.field_id), leaf.upper, false));
    }
  }
  return Status::OK();
}

}  // namespace calve::pipeline
