#pragma once

#include "calve/iceberg/manifest.h"

#include <set>
#include <string>
#include <vector>

namespace calve::iceberg {

/// The snapshot that a commit attempt makes.
struct AttemptIds {
  int64_t snapshot_id = 0;
  int64_t sequence_number = 0;  ///< 0 in format v1
};

/// Names and writes the manifests and manifest lists of one commit over all its attempts, and remembers them, so that
/// those of lost attempts can be deleted.
///
///     <metadata location>/<uuid>-m<number>.avro
///     <metadata location>/snap-<snapshot id>-<attempt>-<uuid>.avro
class CommitFiles {
 public:
  explicit CommitFiles(const FileIO& io);

  const FileIO& io() const { return io_; }

  Result<ManifestFile> WriteDataManifest(const TableMetadata& metadata, const AttemptIds& attempt, int spec_id,
                                         const std::vector<ManifestEntry>& entries);
  /// Writes the list and returns its location; `next_row_id` is advanced by the ids that it assigned.
  Result<std::string> WriteList(const TableMetadata& metadata, Snapshot snapshot, std::vector<ManifestFile>* manifests,
                                int64_t* next_row_id);

  /// Deletes what was written and is not in `kept`. Best effort: a file that cannot be deleted stays as an orphan.
  void DeleteAllBut(const std::set<std::string>& kept);

 private:
  const FileIO& io_;
  std::string uuid_;
  int manifests_count_ = 0;
  int lists_count_ = 0;
  std::vector<std::string> written_;
};

}  // namespace calve::iceberg
