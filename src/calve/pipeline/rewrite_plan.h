#pragma once

#include "calve/rewrite.h"

#include <arrow/result.h>

#include <cstdint>
#include <span>
#include <vector>

namespace calve::pipeline {

/// The sizes that a binpack rewrite goes by, defaults filled in.
struct BinPackSizes {
  int64_t target_bytes = 0, min_bytes = 0, max_bytes = 0;
  int64_t max_group_bytes = 0;
  int64_t min_input_files = 0;
  bool rewrite_all = false;

  /// Invalid names the option that does not go with the others. `table_target_bytes`: the table's
  /// write.target-file-size-bytes.
  static arrow::Result<BinPackSizes> Make(const RewriteOptions& options, int64_t table_target_bytes);

  /// Files are closed at this size rather than the target, so that a little too much does not leave a tiny last file.
  int64_t WriteMaxBytes() const { return target_bytes + (max_bytes - target_bytes) / 2; }
  /// How many files `input_bytes` become: as many as hold the target, unless the rest can be spread over them.
  int64_t ExpectedOutputFiles(int64_t input_bytes) const;
  /// The size at which a group's output files are closed.
  int64_t RollBytes(int64_t input_bytes) const;
};

/// Chooses and groups the files of one partition by their sizes: the indices of each group, in the order given.
///
/// A file is a candidate when it is smaller than the minimum or larger than the maximum. Candidates are packed in order
/// into groups of at most max_group_bytes. A group is taken when it has min_input_files files (and two at least), or
/// two files and more than the target, or more than the maximum. With rewrite_all every file and group is taken.
std::vector<std::vector<size_t>> BinPack(std::span<const int64_t> file_sizes, const BinPackSizes& sizes);

}  // namespace calve::pipeline
