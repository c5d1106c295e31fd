#include "calve/base/status.h"
#include "calve/expr/calendar.h"
#include "calve/iceberg/table_metadata.h"

namespace calve::iceberg {
namespace {

constexpr size_t kMaxListed = 20;
constexpr int64_t kMsPerDay = int64_t{86'400} * 1'000;
constexpr int64_t kNanosPerMs = 1'000'000;

std::string TimeText(int64_t ms) {
  const int64_t rest = ms % kMsPerDay;
  return expr::FormatDate(expr::FloorDivide(ms, kMsPerDay)) + "T" +
         expr::FormatTime((rest < 0 ? rest + kMsPerDay : rest) * kNanosPerMs) + "Z";
}

// "1, 2, 3", the newest ones only when there are many.
std::string SnapshotsThereAre(const TableMetadata& metadata) {
  if (metadata.snapshots.empty()) return "the table has no snapshots";
  const size_t size = metadata.snapshots.size();
  std::string text = size > kMaxListed ? fmt::format("of {} snapshots the newest are ", size) : "there are ";
  for (size_t i = size > kMaxListed ? size - kMaxListed : 0; i < size; ++i) {
    text += std::to_string(metadata.snapshots[i].snapshot_id);
    if (i + 1 < size) text += ", ";
  }
  return text;
}

std::string RefsThereAre(const TableMetadata& metadata) {
  std::string text;
  for (const auto& [name, ref] : metadata.refs) {
    text += fmt::format("{}{} {}", text.empty() ? "there are " : ", ", ref.is_branch ? "branch" : "tag", name);
  }
  return text.empty() ? "the table has none" : text;
}

Result<const Snapshot*> SelectById(const TableMetadata& metadata, int64_t id) {
  const Snapshot* snapshot = metadata.FindSnapshot(id);
  if (snapshot == nullptr) return Invalid("no snapshot {} ({})", id, SnapshotsThereAre(metadata));
  return snapshot;
}

Result<const Snapshot*> SelectByRef(const TableMetadata& metadata, const std::string& name) {
  auto ref = metadata.refs.find(name);
  if (ref == metadata.refs.end()) {
    if (name == "main" && !metadata.current_snapshot_id) return nullptr;
    return Invalid("no branch or tag '{}' ({})", name, RefsThereAre(metadata));
  }
  return WithContext(SelectById(metadata, ref->second.snapshot_id), fmt::format("ref '{}'", name));
}

// The newest ancestor of the current snapshot that is not younger than `ms`. For tables without a log.
const Snapshot* NewestAncestorAt(const TableMetadata& metadata, int64_t ms) {
  const Snapshot* snapshot = metadata.current_snapshot();
  // No chain is longer than the list; a circle of parents ends too.
  for (size_t steps = 0; snapshot != nullptr && steps <= metadata.snapshots.size(); ++steps) {
    if (snapshot->timestamp_ms <= ms) return snapshot;
    snapshot = snapshot->parent_snapshot_id ? metadata.FindSnapshot(*snapshot->parent_snapshot_id) : nullptr;
  }
  return nullptr;
}

Result<const Snapshot*> SelectByTime(const TableMetadata& metadata, int64_t ms) {
  if (metadata.snapshot_log.empty()) {
    if (const Snapshot* snapshot = NewestAncestorAt(metadata, ms)) return snapshot;
    return Invalid("no snapshot is as old as {} ({})", TimeText(ms), SnapshotsThereAre(metadata));
  }
  const LogEntry* current = nullptr;
  for (const LogEntry& entry : metadata.snapshot_log) {
    if (entry.timestamp_ms <= ms) current = &entry;
  }
  if (current == nullptr) {
    return Invalid("no snapshot is as old as {} (the first known is of {})", TimeText(ms),
                   TimeText(metadata.snapshot_log.front().timestamp_ms));
  }
  return WithContext(SelectById(metadata, current->snapshot_id), fmt::format("as of {}", TimeText(ms)));
}

}  // namespace

Result<const Snapshot*> SelectSnapshot(const TableMetadata& metadata, const SnapshotSelector& selector) {
  const int given = selector.snapshot_id.has_value() + selector.ref.has_value() + selector.as_of_ms.has_value();
  if (given > 1) return Invalid("only one of snapshot id, ref and time can be given");
  if (selector.snapshot_id) return SelectById(metadata, *selector.snapshot_id);
  if (selector.ref) return SelectByRef(metadata, *selector.ref);
  if (selector.as_of_ms) return SelectByTime(metadata, *selector.as_of_ms);
  return metadata.current_snapshot();
}

const Schema& ScanSchema(const TableMetadata& metadata, const Snapshot* snapshot, const SnapshotSelector& selector) {
  bool own_schema = selector.snapshot_id.has_value() || selector.as_of_ms.has_value();
  if (selector.ref) {
    auto ref = metadata.refs.find(*selector.ref);
    own_schema = ref != metadata.refs.end() && !ref->second.is_branch;
  }
  if (!own_schema || snapshot == nullptr || !snapshot->schema_id) return metadata.schema();
  const Schema* schema = metadata.FindSchema(*snapshot->schema_id);
  return schema != nullptr ? *schema : metadata.schema();
}

}  // namespace calve::iceberg
