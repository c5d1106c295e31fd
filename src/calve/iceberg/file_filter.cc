#include "calve/iceberg/file_filter.h"

#include "calve/base/status.h"

namespace calve::iceberg {
namespace {

using expr::ColumnBounds;

Value BoundIn(const std::map<int, std::string>& bounds, int field_id, const Type& type) {
  auto found = bounds.find(field_id);
  return found != bounds.end() ? ValueFromBytes(type, found->second).ValueOr(Value()) : Value();
}

std::optional<int64_t> CountIn(const std::map<int, int64_t>& counts, int field_id) {
  auto found = counts.find(field_id);
  return found != counts.end() ? std::optional(found->second) : std::nullopt;
}

// One value that every row has.
ColumnBounds Exactly(const Value& value) {
  ColumnBounds bounds;
  bounds.value_count = 1;
  bounds.null_count = IsNull(value) ? 1 : 0;
  bounds.nan_count = IsNaN(value) ? 1 : 0;
  if (IsNaN(value)) return bounds;
  bounds.lower = value;
  bounds.upper = value;
  return bounds;
}

// Missing bounds are not taken as "only nulls": some writers leave them out.
ColumnBounds BoundsOfSummary(const FieldSummary& summary, const Type& type) {
  ColumnBounds bounds;
  if (summary.lower_bound) bounds.lower = ValueFromBytes(type, *summary.lower_bound).ValueOr(Value());
  if (summary.upper_bound) bounds.upper = ValueFromBytes(type, *summary.upper_bound).ValueOr(Value());
  if (!summary.contains_null) bounds.null_count = 0;
  if (summary.contains_nan == false) bounds.nan_count = 0;
  return bounds;
}

// The index of a partition field that a projected test names.
size_t IndexOf(const expr::ColumnRef& column) {
  return column.path.empty() ? SIZE_MAX : static_cast<size_t>(column.path.front());
}

expr::NodePtr Simplify(const expr::NodePtr& node, const expr::BoundsLookup& lookup) {
  if (expr::AllMatch(node, lookup)) return expr::True();
  if (!expr::MightMatch(node, lookup)) return expr::False();
  if (node->op != expr::Op::kAnd && node->op != expr::Op::kOr) return node;
  std::vector<expr::NodePtr> children;
  for (const expr::NodePtr& child : node->children) children.push_back(Simplify(child, lookup));
  return node->op == expr::Op::kAnd ? expr::And(std::move(children)) : expr::Or(std::move(children));
}

}  // namespace

ColumnBounds BoundsOf(const DataFile& file, int field_id, const Type& type) {
  ColumnBounds bounds;
  bounds.lower = BoundIn(file.lower_bounds, field_id, type);
  bounds.upper = BoundIn(file.upper_bounds, field_id, type);
  bounds.value_count = CountIn(file.value_counts, field_id);
  bounds.null_count = CountIn(file.null_value_counts, field_id);
  bounds.nan_count = CountIn(file.nan_value_counts, field_id);
  return bounds;
}

FileFilter::FileFilter(const TableMetadata& metadata, const Schema& schema, expr::NodePtr filter)
    : metadata_(metadata), schema_(schema), filter_(filter != nullptr ? std::move(filter) : expr::True()) {
  for (int id : expr::FieldIdsOf(filter_)) {
    if (const Field* field = schema.FindById(id)) column_types_[id] = field->type;
  }
}

Status FileFilter::AddSpec(int spec_id) {
  if (specs_.contains(spec_id)) return Status::OK();
  const PartitionSpec* spec = metadata_.FindSpec(spec_id);
  if (spec == nullptr) return Invalid("the table has no partition spec {}", spec_id);
  SpecFilter made;
  made.projection = expr::True();
  if (!keeps_all()) {
    ARROW_ASSIGN_OR_RAISE(made.projection, ProjectInclusive(filter_, *spec, schema_));
    ARROW_ASSIGN_OR_RAISE(made.types, PartitionTypes(*spec, schema_));
    for (size_t i = 0; i < spec->fields.size(); ++i) {
      if (spec->fields[i].transform.kind == TransformKind::kIdentity) made.identity[spec->fields[i].source_id] = i;
    }
  }
  specs_[spec_id] = std::move(made);
  return Status::OK();
}

bool FileFilter::MightMatch(const ManifestFile& manifest) const {
  const SpecFilter& spec = FilterOf(manifest.partition_spec_id);
  return expr::MightMatch(spec.projection, [&](const expr::ColumnRef& column) -> std::optional<ColumnBounds> {
    const size_t index = IndexOf(column);
    if (index >= manifest.partitions.size() || index >= spec.types.size()) return std::nullopt;
    return BoundsOfSummary(manifest.partitions[index], *spec.types[index]);
  });
}

expr::BoundsLookup FileFilter::LookupOf(const DataFile& file) const {
  const SpecFilter& spec = FilterOf(file.spec_id);
  return [&](const expr::ColumnRef& column) -> std::optional<ColumnBounds> {
    if (column.field_id == kFilePathFieldId) return Exactly(file.file_path);
    if (column.field_id == kRowPositionFieldId) return expr::BoundsOfPositions(0, file.record_count);
    auto identity = spec.identity.find(column.field_id);
    if (identity != spec.identity.end() && identity->second < file.partition.size()) {
      return Exactly(file.partition[identity->second]);
    }
    auto type = column_types_.find(column.field_id);
    if (type == column_types_.end()) return std::nullopt;
    return BoundsOf(file, column.field_id, *type->second);
  };
}

FileFilter::Decision FileFilter::Decide(const DataFile& file) const {
  if (keeps_all()) return Decision::kKeep;
  const SpecFilter& spec = FilterOf(file.spec_id);
  auto partition = [&](const expr::ColumnRef& column) -> std::optional<ColumnBounds> {
    const size_t index = IndexOf(column);
    if (index >= file.partition.size()) return std::nullopt;
    return Exactly(file.partition[index]);
  };
  if (!expr::MightMatch(spec.projection, partition)) return Decision::kSkipByPartition;
  if (file.content == FileContent::kData && !expr::MightMatch(filter_, LookupOf(file))) return Decision::kSkipByBounds;
  return Decision::kKeep;
}

bool FileFilter::MightDelete(const DataFile& deletes) const {
  auto lookup = LookupOf(deletes);
  return expr::MightMatch(filter_, [&](const expr::ColumnRef& column) -> std::optional<ColumnBounds> {
    const auto& ids = deletes.equality_ids;
    if (std::find(ids.begin(), ids.end(), column.field_id) == ids.end()) return std::nullopt;
    return lookup(column);
  });
}

expr::NodePtr FileFilter::ResidualFor(const DataFile& file) const {
  return keeps_all() ? expr::True() : Simplify(filter_, LookupOf(file));
}

}  // namespace calve::iceberg
