#include "calve/iceberg/snapshot_summary.h"

#include "calve/version.h"

#include <charconv>
#include <optional>

namespace calve::iceberg {
namespace {

std::optional<int64_t> ParseCount(const std::string& text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// A total of the parent snapshot: 0 when there is none, nothing when it does not tell.
std::optional<int64_t> TotalOf(const Snapshot* parent, const std::string& name) {
  if (parent == nullptr) return 0;
  auto found = parent->summary.find(name);
  return found == parent->summary.end() ? std::nullopt : ParseCount(found->second);
}

}  // namespace

void SnapshotSummary::Counts::Count(const DataFile& file) {
  files += 1;
  records += file.record_count;
  bytes += file.file_size_in_bytes;
}

void SnapshotSummary::Add(const DataFile& file) {
  added_.Count(file);
  changed_partitions_.insert(PartitionKey::Of(file));
}

void SnapshotSummary::Remove(const DataFile& file) {
  removed_.Count(file);
  changed_partitions_.insert(PartitionKey::Of(file));
}

void SnapshotSummary::CountManifests(int64_t created, int64_t kept, int64_t replaced) {
  manifests_created_ = created;
  manifests_kept_ = kept;
  manifests_replaced_ = replaced;
}

std::map<std::string, std::string> SnapshotSummary::Build(const std::string& operation, const Snapshot* parent,
                                                          const std::map<std::string, std::string>& extra) const {
  std::map<std::string, std::string> summary = extra;
  auto set = [&](const char* name, int64_t value) { summary[name] = fmt::format("{}", value); };
  auto set_positive = [&](const char* name, int64_t value) {
    if (value > 0) {
      set(name, value);
    } else {
      summary.erase(name);
    }
  };
  auto set_total = [&](const char* name, int64_t added, int64_t removed) {
    std::optional<int64_t> total = TotalOf(parent, name);
    summary.erase(name);
    if (total && *total + added - removed >= 0) set(name, *total + added - removed);
  };

  summary["operation"] = operation;
  set_positive("added-data-files", added_.files);
  set_positive("deleted-data-files", removed_.files);
  set_positive("added-records", added_.records);
  set_positive("deleted-records", removed_.records);
  set_positive("added-files-size", added_.bytes);
  set_positive("removed-files-size", removed_.bytes);
  set("changed-partition-count", static_cast<int64_t>(changed_partitions_.size()));
  set("manifests-created", manifests_created_);
  set("manifests-kept", manifests_kept_);
  set("manifests-replaced", manifests_replaced_);

  set_total("total-records", added_.records, removed_.records);
  set_total("total-files-size", added_.bytes, removed_.bytes);
  set_total("total-data-files", added_.files, removed_.files);
  set_total("total-delete-files", 0, 0);
  set_total("total-position-deletes", 0, 0);
  set_total("total-equality-deletes", 0, 0);

  summary["engine-name"] = "calve";
  summary["engine-version"] = kVersion;
  summary["calve-version"] = kVersion;
  return summary;
}

}  // namespace calve::iceberg
