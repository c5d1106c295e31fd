#pragma once

#include "calve/iceberg/manifest.h"

#include <optional>
#include <vector>

namespace calve::iceberg {

/// A data file that a replace takes away, as the table has it now.
struct ReplacedFile {
  DataFile file;  ///< without column metrics
  int64_t sequence_number = 0;
};

/// What a replace puts in the place of the files.
struct Replacement {
  std::optional<int64_t> starting_snapshot_id;  ///< the snapshot it was planned on; none: an empty table
  std::optional<int64_t> data_sequence_number;  ///< that the added files take over
  bool keeps_spec = false;                      ///< all added files have the partition spec of the files they replace
};

/// Checks that no delete committed after the starting snapshot applies to a replaced file; Invalid names the file and
/// the snapshot. Position deletes and deletion vectors always conflict: they name positions of the old file. Equality
/// deletes do not when their sequence number is higher than the one that the added files take over, and the added files
/// are in the same partitions or the delete is global: they then apply to the new files too.
///
/// Walks the snapshots from `head` back to the starting one; Invalid when that is no ancestor of `head`. Deletes that a
/// "replace" snapshot wrote are older deletes in new files and do not count.
Status CheckNoNewDeletes(const FileIO& io, const TableMetadata& metadata, const Snapshot& head,
                         const Replacement& replacement, const std::vector<ReplacedFile>& replaced);

}  // namespace calve::iceberg
