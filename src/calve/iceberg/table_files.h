#pragma once

#include "calve/iceberg/commit.h"

#include <string>
#include <vector>

namespace calve::iceberg {

/// Locations of the files that a table is made of, of all its snapshots: data and delete files, manifests, manifest
/// lists, statistics, metadata files. A snapshot's file that cannot be read is left out with what it names.
///
/// Only files below the table's location: others (added in place, or in `write.data.path`) may not be its own.
/// NotImplemented when `gc.enabled` is false: the table's files then belong to more than the table.
Result<std::vector<std::string>> FilesOfTable(const FileIO& io, const TableVersion& version);

/// Deletes a table that lies in `folder`: first its version files and hint, so that it is gone before it is incomplete,
/// then `files`, then the folders that are empty.
Status DeleteTableFiles(const FileIO& io, const std::string& folder, const std::vector<std::string>& files);

}  // namespace calve::iceberg
