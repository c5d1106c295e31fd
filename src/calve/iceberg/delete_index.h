#pragma once

#include "calve/iceberg/partition_key.h"
#include "calve/iceberg/scan_plan.h"

#include <unordered_map>

namespace calve::iceberg {

/// Finds the deletes that apply to a data file, by the scope rules of "Scan Planning":
///
/// | kind | data sequence number of the file | and |
/// | --- | --- | --- |
/// | deletion vector | at most the delete's | it is the file referenced |
/// | position deletes | at most the delete's | no deletion vector applies; the file is referenced, or of the same
/// partition | | equality deletes | below the delete's | of the same partition, or the delete's spec is unpartitioned |
///
/// Bounds narrow this down: of the paths in position deletes, of the columns compared by equality deletes.
class DeleteIndex {
 public:
  /// Refers to `metadata` and `schema`.
  DeleteIndex(const TableMetadata& metadata, const Schema& schema) : metadata_(metadata), schema_(schema) {}

  /// Invalid when the delete lacks what its kind needs, or a data file gets a second deletion vector.
  Status Add(PlannedDelete deletes);

  /// In the order in which they were added, deletion vectors and position deletes first.
  std::vector<PlannedDelete> Find(const DataFile& file, int64_t sequence_number) const;

 private:
  using Deletes = std::vector<PlannedDelete>;

  void FindPositionDeletes(const DataFile& file, int64_t sequence_number, Deletes* found) const;
  void FindEqualityDeletes(const Deletes& candidates, const DataFile& file, int64_t sequence_number,
                           Deletes* found) const;
  bool MayShareRows(const DataFile& file, const DataFile& deletes) const;

  const TableMetadata& metadata_;
  const Schema& schema_;
  std::unordered_map<std::string, PlannedDelete> vectors_by_path_;
  std::unordered_map<std::string, Deletes> positions_by_path_;
  std::unordered_map<PartitionKey, Deletes, PartitionKeyHash> positions_by_partition_;
  std::unordered_map<PartitionKey, Deletes, PartitionKeyHash> equality_by_partition_;
  Deletes global_equality_;
};

}  // namespace calve::iceberg
