#pragma once

#include "calve/iceberg/commit.h"
#include "calve/iceberg/metadata_file.h"
#include "calve/io/file_io.h"

#include <memory>
#include <optional>
#include <string>

namespace calve {

/// The newest metadata file in a table's folder.
struct CurrentMetadata {
  iceberg::MetadataFileName name;
  std::string file_name;
};

/// Finds the newest version in `folder`/metadata; nothing when there is no such folder or no metadata file in it.
///
/// Version files (v3.metadata.json) come first: the hint (version-hint.text) is where probing forward starts, and only
/// that: when it is missing, garbage, or names a version that is gone, the folder is listed. A folder without version
/// files may be one that a catalog owns (00003-<uuid>.metadata.json): its highest number is taken; of several with that
/// number the one that the hint names, and without such a hint it is Invalid, because the catalog alone knows which of
/// them was committed.
Result<std::optional<CurrentMetadata>> FindCurrentMetadata(const FileIO& io, const std::string& folder);

/// A table that its folder is the only record of: `metadata/v<N>.metadata.json` and a hint, as Hadoop tables have them.
///
/// A commit makes the file of the next version, which must not exist yet: of writers that race one succeeds, without a
/// lock. The hint is replaced afterwards and never decides anything. Files are compressed as the version that is
/// replaced asks for (not the new one), so that all writers that race for a version race for the same name.
///
/// A folder with metadata files of a catalog is read-only: committing beside the catalog would fork the table.
class FilesystemTable : public iceberg::TableStore {
 public:
  /// `name`: for messages. `folder`: as the user or the catalog names it; mapped by `io`'s paths.
  FilesystemTable(FileIO io, std::string folder, std::string name);

  const FileIO& io() const override { return io_; }
  const std::string& name() const override { return name_; }
  const std::string& folder() const { return folder_; }

  Result<iceberg::TableVersion> Load() override;
  Result<iceberg::TableVersion> Swap(const iceberg::TableVersion& base, const iceberg::TableMetadata& next) override;
  Status CheckWritable(const iceberg::TableVersion& version) const override;

  /// Makes version 1; AlreadyExists when there is a table.
  Result<iceberg::TableVersion> Create(const iceberg::TableMetadata& metadata);

 private:
  /// `folder`/metadata, in the words of `metadata` when its location is this folder.
  std::string MetadataFolder(const iceberg::TableMetadata& metadata) const;
  bool LiesHere(const iceberg::TableMetadata& metadata) const;
  Result<iceberg::TableVersion> Publish(const iceberg::TableMetadata& metadata, int64_t version,
                                        iceberg::MetadataCodec codec);
  /// OK when `version` has no file yet and no later version exists.
  Status CheckUnpublished(int64_t version) const;
  /// kStateUnknown when a later version than the one just published is there. Either it builds on ours, or ours took a
  /// name that others had used and deleted again since CheckUnpublished, and nobody will ever see it.
  Status CheckPublished(int64_t version) const;
  void AdvanceHint(int64_t version) const;
  Status NoTable() const;

  FileIO io_;
  std::string folder_;
  std::string name_;
};

}  // namespace calve
