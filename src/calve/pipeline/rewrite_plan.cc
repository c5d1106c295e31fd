#include "calve/pipeline/rewrite_plan.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace calve::pipeline {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// At most what 64 bits hold: sizes come from tables and options, and may be anything.
int64_t SaturatedAdd(int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(kMost); }

/// `share` of `bytes`, at most what 64 bits hold.
int64_t ShareOf(int64_t bytes, double share) {
  const double result = static_cast<double>(bytes) * share;
  return result >= static_cast<double>(kMost) ? kMost : static_cast<int64_t>(result);
}

int64_t TotalOf(const std::vector<size_t>& group, std::span<const int64_t> sizes) {
  return std::accumulate(group.begin(), group.end(), int64_t{0},
                         [&](int64_t sum, size_t file) { return SaturatedAdd(sum, sizes[file]); });
}

bool IsTaken(const std::vector<size_t>& group, int64_t bytes, const BinPackSizes& sizes) {
  if (sizes.rewrite_all || bytes > sizes.max_bytes) return true;
  if (group.size() < 2) return false;
  return static_cast<int64_t>(group.size()) >= sizes.min_input_files || bytes > sizes.target_bytes;
}

}  // namespace

Result<BinPackSizes> BinPackSizes::Make(const RewriteOptions& options, int64_t table_target_bytes) {
  BinPackSizes sizes;
  sizes.target_bytes = options.target_file_size_bytes.value_or(table_target_bytes);
  if (sizes.target_bytes <= 0) return Invalid("target-file-size-bytes: {} is not positive", sizes.target_bytes);
  sizes.min_bytes = options.min_file_size_bytes.value_or(ShareOf(sizes.target_bytes, 0.75));
  sizes.max_bytes = options.max_file_size_bytes.value_or(ShareOf(sizes.target_bytes, 1.8));
  sizes.max_group_bytes = options.max_file_group_size_bytes;
  sizes.min_input_files = options.min_input_files;
  sizes.rewrite_all = options.rewrite_all;
  if (sizes.min_bytes < 0) return Invalid("min-file-size-bytes: {} is negative", sizes.min_bytes);
  if (sizes.min_bytes >= sizes.target_bytes) {
    return Invalid("min-file-size-bytes: {} is not under the target, {}", sizes.min_bytes, sizes.target_bytes);
  }
  // No file is larger than the largest target there can be.
  if (sizes.max_bytes <= sizes.target_bytes && sizes.target_bytes < kMost) {
    return Invalid("max-file-size-bytes: {} is not over the target, {}", sizes.max_bytes, sizes.target_bytes);
  }
  if (sizes.min_input_files <= 0) return Invalid("min-input-files: {} is not positive", sizes.min_input_files);
  if (sizes.max_group_bytes <= 0)
    return Invalid("max-file-group-size-bytes: {} is not positive", sizes.max_group_bytes);
  return sizes;
}

int64_t BinPackSizes::ExpectedOutputFiles(int64_t input_bytes) const {
  if (input_bytes < target_bytes) return 1;
  const int64_t full = input_bytes / target_bytes, rest = input_bytes % target_bytes;
  if (rest == 0) return full;
  if (rest > min_bytes) return full + 1;
  // The rest is too small for a file of its own: spread it over the others when they can take it.
  const double spread = static_cast<double>(input_bytes / full);
  const double allowed = std::min(1.1 * static_cast<double>(target_bytes), static_cast<double>(WriteMaxBytes()));
  return spread < allowed ? full : full + 1;
}

int64_t BinPackSizes::RollBytes(int64_t input_bytes) const {
  constexpr int64_t kOverhead = int64_t{5} << 10;
  const int64_t share = SaturatedAdd(input_bytes / ExpectedOutputFiles(input_bytes), kOverhead);
  return std::clamp(share, target_bytes, std::max(target_bytes, WriteMaxBytes()));
}

std::vector<std::vector<size_t>> BinPack(std::span<const int64_t> file_sizes, const BinPackSizes& sizes) {
  std::vector<std::vector<size_t>> groups;
  std::vector<size_t> group;
  int64_t group_bytes = 0;
  auto close = [&] {
    if (!group.empty() && IsTaken(group, TotalOf(group, file_sizes), sizes)) groups.push_back(std::move(group));
    group.clear();
    group_bytes = 0;
  };
  for (size_t file = 0; file < file_sizes.size(); ++file) {
    const int64_t size = file_sizes[file];
    if (!sizes.rewrite_all && size >= sizes.min_bytes && size <= sizes.max_bytes) continue;
    if (!group.empty() && size > sizes.max_group_bytes - group_bytes) close();
    group.push_back(file);
    group_bytes = SaturatedAdd(group_bytes, size);
  }
  close();
  return groups;
}

}  // namespace calve::pipeline
