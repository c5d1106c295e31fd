#pragma once

#include "calve/cli/session.h"
#include "calve/shuffle.h"

#include <arrow/type_fwd.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace calve::cli {

/// The flags that say how rows are partitioned and written.
struct ShuffleTargetFlags {
  int32_t partitions = 0;
  std::string by, mode = "hash", partition_spec, spec_of, codec = "lz4", index_order = "big", to;
  std::optional<int> level;
  std::optional<int64_t> budget_bytes, block_bytes;
  bool checksums = false, offsets_as_lengths = false;
};

void AddShuffleTargetFlags(CLI::App* command, ShuffleTargetFlags* flags);

/// Rows of one map task. `open` gives the named columns of them, in the schema's order; none named: all.
struct ShuffleSource {
  int64_t task = 0;
  std::function<arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>(const std::vector<std::string>& columns)> open;
};

/// Writes the shuffle that the flags describe, one task a source, and says what was done.
arrow::Status WriteShuffleTarget(const ShuffleTargetFlags& flags, const std::shared_ptr<arrow::Schema>& schema,
                                 const std::vector<ShuffleSource>& sources, Session* session);

/// "a", "b desc", "c desc nulls last" of "a, b desc, c desc nulls last"; a usage error where that is not the form.
/// Nulls come first unless it is said.
arrow::Result<std::vector<RangeKey>> ParseKeys(const std::string& by);

}  // namespace calve::cli
