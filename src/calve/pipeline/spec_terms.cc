#include "calve/pipeline/spec_terms.h"

#include "calve/base/status.h"
#include "calve/catalog/partition_by.h"
#include "calve/pipeline/source_schema.h"

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

namespace calve::pipeline {
namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;
using DataTypePtr = std::shared_ptr<arrow::DataType>;

/// Calls `find` with the fields of every struct in `fields`, until it gives a path.
template <typename Find>
std::vector<int> PathBelow(const arrow::FieldVector& fields, Find find) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->type()->id() != arrow::Type::STRUCT) continue;
    std::vector<int> below = find(*fields[i]);
    if (below.empty()) continue;
    below.insert(below.begin(), static_cast<int>(i));
    return below;
  }
  return {};
}

DataTypePtr ValueTypeOf(const DataTypePtr& type) {
  if (type->id() != arrow::Type::DICTIONARY) return type;
  return checked_cast<const arrow::DictionaryType&>(*type).value_type();
}

Result<SpecTerm> MakeTerm(const arrow::Schema& schema, iceberg::Transform transform, std::vector<int> path) {
  DataTypePtr type = schema.field(path[0])->type();
  for (size_t i = 1; i < path.size(); ++i) type = type->field(path[i])->type();
  ARROW_ASSIGN_OR_RAISE(const auto source, iceberg::FromArrow(*arrow::schema({arrow::field("", ValueTypeOf(type))})));
  SpecTerm term{std::move(transform), source.fields[0].type, std::move(path)};
  ARROW_RETURN_NOT_OK(iceberg::ResultType(term.transform, *term.source_type).status());
  return term;
}

/// The columns that Iceberg has types for; others are no sources of partitions.
Result<iceberg::Schema> IcebergColumns(const arrow::Schema& schema) {
  arrow::FieldVector columns;
  for (const auto& field : schema.fields()) {
    auto column = arrow::field(field->name(), ValueTypeOf(field->type()), field->nullable());
    if (iceberg::FromArrow(*arrow::schema({column})).ok()) columns.push_back(std::move(column));
  }
  return iceberg::FromArrow(*arrow::schema(std::move(columns)));
}

/// Numbers and times of types that Iceberg has not, as the type that it has for them; those of dictionaries decoded.
Result<ArrayPtr> AsSource(const ArrayPtr& column, const iceberg::Type& type, arrow::MemoryPool* pool) {
  const DataTypePtr value_type = ValueTypeOf(column->type());
  if (!arrow::is_integer(value_type->id()) && !arrow::is_temporal(value_type->id())) return column;
  ARROW_ASSIGN_OR_RAISE(const auto wanted, iceberg::ToArrow(type));
  if (value_type->Equals(*wanted)) return column;
  arrow::compute::ExecContext context(pool);
  const auto safe = arrow::compute::CastOptions::Safe();
  ArrayPtr values = column;
  if (column->type() != value_type) {
    ARROW_ASSIGN_OR_RAISE(values, arrow::compute::Cast(*column, value_type, safe, &context));
  }
  return arrow::compute::Cast(*values, wanted, safe, &context);
}

}  // namespace

// A name with dots may be that of a column, or of a field of one.
std::vector<int> PathOfName(const arrow::FieldVector& fields, std::string_view name) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->name() == name) return {static_cast<int>(i)};
  }
  return PathBelow(fields, [&](const arrow::Field& field) -> std::vector<int> {
    const std::string prefix = field.name() + ".";
    if (!name.starts_with(prefix)) return {};
    return PathOfName(field.type()->fields(), name.substr(prefix.size()));
  });
}

std::vector<int> PathOfId(const arrow::FieldVector& fields, int id) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (FieldIdOf(*fields[i]) == id) return {static_cast<int>(i)};
  }
  return PathBelow(fields, [&](const arrow::Field& field) { return PathOfId(field.type()->fields(), id); });
}

Result<ArrayPtr> ColumnAt(const arrow::RecordBatch& batch, const std::vector<int>& path, arrow::MemoryPool* pool) {
  ArrayPtr column = batch.column(path[0]);
  for (size_t i = 1; i < path.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(column, checked_cast<const arrow::StructArray&>(*column).GetFlattenedField(path[i], pool));
  }
  return column;
}

Result<std::vector<SpecTerm>> ParseSpecTerms(const arrow::Schema& schema, std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(const iceberg::Schema columns, IcebergColumns(schema));
  ARROW_ASSIGN_OR_RAISE(const iceberg::PartitionSpec spec, ParsePartitionBy(text, columns));
  std::vector<SpecTerm> terms;
  for (const iceberg::PartitionField& field : spec.fields) {
    auto path = PathOfName(schema.fields(), columns.NameOf(field.source_id));
    if (path.empty()) return Invalid("partition field '{}': its source is no column", field.name);
    ARROW_ASSIGN_OR_RAISE(auto term, MakeTerm(schema, field.transform, std::move(path)));
    terms.push_back(std::move(term));
  }
  return terms;
}

Result<std::vector<SpecTerm>> SpecTermsOf(const arrow::Schema& schema, const iceberg::TableMetadata& metadata) {
  const bool has_ids = SourceSchema::OfArrow(schema, "").has_ids();
  std::vector<SpecTerm> terms;
  for (const iceberg::PartitionField& field : metadata.spec().fields) {
    if (field.transform.kind == iceberg::TransformKind::kVoid) continue;
    if (field.transform.kind == iceberg::TransformKind::kUnknown) {
      return NotImplemented("partition field '{}': transform '{}' is not supported", field.name, field.transform.text);
    }
    const std::string name = metadata.schema().NameOf(field.source_id);
    auto path = has_ids ? PathOfId(schema.fields(), field.source_id) : PathOfName(schema.fields(), name);
    if (path.empty()) {
      return Invalid("partition field '{}': there is no column '{}' (field id {})", field.name, name, field.source_id);
    }
    auto term = MakeTerm(schema, field.transform, std::move(path));
    if (!term.ok()) return WithContext(term.status(), fmt::format("partition field '{}'", field.name));
    terms.push_back(*std::move(term));
  }
  return terms;
}

Result<std::vector<Value>> ApplyTerm(const SpecTerm& term, const arrow::RecordBatch& batch, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto column, ColumnAt(batch, term.path, pool));
  ARROW_ASSIGN_OR_RAISE(column, AsSource(column, *term.source_type, pool));
  return iceberg::ApplyToArray(term.transform, *term.source_type, *column);
}

}  // namespace calve::pipeline
