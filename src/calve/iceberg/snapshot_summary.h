#pragma once

#include "calve/iceberg/partition_key.h"

#include <map>
#include <string>
#include <unordered_set>

namespace calve::iceberg {

/// Collects what a snapshot adds and removes, and writes its summary with the names that Java's SnapshotSummary uses
/// ("Optional Snapshot Summary Fields").
class SnapshotSummary {
 public:
  void Add(const DataFile& file);
  void Remove(const DataFile& file);
  /// Counts of manifests: written by this snapshot, kept from its parent, replaced by merging or rewriting.
  void CountManifests(int64_t created, int64_t kept, int64_t replaced);

  int64_t added_records() const { return added_.records; }
  int64_t removed_records() const { return removed_.records; }

  /// The summary of a snapshot on top of `parent` (null for the first one). The totals continue the parent's; one that
  /// the parent lacks is left out. Members of `extra` never replace what is counted here.
  std::map<std::string, std::string> Build(const std::string& operation, const Snapshot* parent,
                                           const std::map<std::string, std::string>& extra) const;

 private:
  struct Counts {
    int64_t files = 0, records = 0, bytes = 0;
    void Count(const DataFile& file);
  };

  Counts added_, removed_;
  std::unordered_set<PartitionKey, PartitionKeyHash> changed_partitions_;
  int64_t manifests_created_ = 0, manifests_kept_ = 0, manifests_replaced_ = 0;
};

}  // namespace calve::iceberg
