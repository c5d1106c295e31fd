#include "calve/iceberg/commit_files.h"

#include "calve/iceberg/commit.h"
#include "calve/iceberg/metadata_file.h"
#include "calve/io/file_io.h"

namespace calve::iceberg {

CommitFiles::CommitFiles(const FileIO& io) : io_(io), uuid_(NewUuid()) {}

Result<ManifestFile> CommitFiles::WriteDataManifest(const TableMetadata& metadata, const AttemptIds& attempt,
                                                    int spec_id, const std::vector<ManifestEntry>& entries) {
  ManifestWriteRequest request;
  request.location = JoinLocation(MetadataLocation(metadata), fmt::format("{}-m{}.avro", uuid_, manifests_count_++));
  request.spec_id = spec_id;
  request.snapshot_id = attempt.snapshot_id;
  request.sequence_number = attempt.sequence_number;
  request.codec = metadata.Property("write.avro.compression-codec", "gzip");
  written_.push_back(request.location);
  return WriteManifest(io_, metadata, request, entries);
}

Result<std::string> CommitFiles::WriteList(const TableMetadata& metadata, Snapshot snapshot,
                                           std::vector<ManifestFile>* manifests, int64_t* next_row_id) {
  snapshot.manifest_list = JoinLocation(MetadataLocation(metadata),
                                        fmt::format("snap-{}-{}-{}.avro", snapshot.snapshot_id, ++lists_count_, uuid_));
  written_.push_back(snapshot.manifest_list);
  ARROW_ASSIGN_OR_RAISE(*next_row_id, WriteManifestList(io_, metadata, snapshot, *next_row_id, manifests));
  return snapshot.manifest_list;
}

void CommitFiles::DeleteAllBut(const std::set<std::string>& kept) {
  for (const std::string& location : written_) {
    if (!kept.contains(location)) ARROW_UNUSED(io_.Delete(location));
  }
  written_.clear();
}

}  // namespace calve::iceberg
