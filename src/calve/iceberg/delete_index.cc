#include "calve/iceberg/delete_index.h"

#include "calve/base/status.h"
#include "calve/iceberg/file_filter.h"

namespace calve::iceberg {
namespace {

// Field id of `file_path` in position delete files.
constexpr int kDeleteFilePathFieldId = 2147483546;

// False when the bounds of the paths in `deletes` exclude `path`.
bool MayName(const DataFile& deletes, const std::string& path) {
  auto lower = deletes.lower_bounds.find(kDeleteFilePathFieldId);
  if (lower != deletes.lower_bounds.end() && path < lower->second) return false;
  auto upper = deletes.upper_bounds.find(kDeleteFilePathFieldId);
  return upper == deletes.upper_bounds.end() || path <= upper->second;
}

// Types whose bounds all writers order alike, and that have no values outside their bounds.
bool HasPlainOrder(const Type& type) {
  switch (type.id) {
    case TypeId::kFloat:
    case TypeId::kDouble:
    case TypeId::kUuid:
    case TypeId::kUnknown:
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return false;
    default:
      return type.is_primitive();
  }
}

// True unless the bounds say that no value is in both.
bool MayOverlap(const expr::ColumnBounds& left, const expr::ColumnBounds& right) {
  if (left.null_count.value_or(1) > 0 && right.null_count.value_or(1) > 0) return true;
  return !(Compare(left.upper, right.lower) < 0 || Compare(right.upper, left.lower) < 0);
}

}  // namespace

Status DeleteIndex::Add(PlannedDelete deletes) {
  const DataFile& file = *deletes.file;
  if (file.content == FileContent::kEqualityDeletes) {
    const PartitionSpec* spec = metadata_.FindSpec(file.spec_id);
    const bool global = spec != nullptr && spec->unpartitioned();
    (global ? global_equality_ : equality_by_partition_[PartitionKey::Of(file)]).push_back(std::move(deletes));
    return Status::OK();
  }
  if (file.file_format == "PUFFIN") {
    if (!file.referenced_data_file) {
      return Invalid("deletion vector in file {} does not say which data file it is of", file.file_path);
    }
    const std::string path = *file.referenced_data_file;
    auto [found, added] = vectors_by_path_.emplace(path, std::move(deletes));
    if (!added) return Invalid("data file {} has two deletion vectors", path);
    return Status::OK();
  }
  if (file.referenced_data_file) {
    const std::string path = *file.referenced_data_file;
    positions_by_path_[path].push_back(std::move(deletes));
  } else {
    positions_by_partition_[PartitionKey::Of(file)].push_back(std::move(deletes));
  }
  return Status::OK();
}

std::vector<PlannedDelete> DeleteIndex::Find(const DataFile& file, int64_t sequence_number) const {
  Deletes found;
  FindPositionDeletes(file, sequence_number, &found);
  FindEqualityDeletes(global_equality_, file, sequence_number, &found);
  if (equality_by_partition_.empty()) return found;
  auto same_partition = equality_by_partition_.find(PartitionKey::Of(file));
  if (same_partition != equality_by_partition_.end()) {
    FindEqualityDeletes(same_partition->second, file, sequence_number, &found);
  }
  return found;
}

void DeleteIndex::FindPositionDeletes(const DataFile& file, int64_t sequence_number, Deletes* found) const {
  auto vector = vectors_by_path_.find(file.file_path);
  if (vector != vectors_by_path_.end() && sequence_number <= vector->second.sequence_number) {
    // It holds all that older position deletes of the file say.
    found->push_back(vector->second);
    return;
  }
  auto add = [&](const Deletes& candidates) {
    for (const PlannedDelete& deletes : candidates) {
      if (sequence_number > deletes.sequence_number || !MayName(*deletes.file, file.file_path)) continue;
      found->push_back(deletes);
    }
  };
  auto by_path = positions_by_path_.find(file.file_path);
  if (by_path != positions_by_path_.end()) add(by_path->second);
  if (positions_by_partition_.empty()) return;
  auto by_partition = positions_by_partition_.find(PartitionKey::Of(file));
  if (by_partition != positions_by_partition_.end()) add(by_partition->second);
}

void DeleteIndex::FindEqualityDeletes(const Deletes& candidates, const DataFile& file, int64_t sequence_number,
                                      Deletes* found) const {
  for (const PlannedDelete& deletes : candidates) {
    if (sequence_number < deletes.sequence_number && MayShareRows(file, *deletes.file)) found->push_back(deletes);
  }
}

bool DeleteIndex::MayShareRows(const DataFile& file, const DataFile& deletes) const {
  for (int id : deletes.equality_ids) {
    const Field* field = schema_.FindById(id);
    if (field == nullptr || !HasPlainOrder(*field->type)) continue;
    if (!MayOverlap(BoundsOf(file, id, *field->type), BoundsOf(deletes, id, *field->type))) return false;
  }
  return true;
}

}  // namespace calve::iceberg
