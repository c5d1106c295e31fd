#include "calve/io/coalesce.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <algorithm>
#include <limits>

namespace calve {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

Status Check(const ByteRange& range) {
  if (range.offset >= 0 && range.size_bytes >= 0 && CheckedAdd(range.offset, range.size_bytes)) return Status::OK();
  return Invalid("no range of a file: {} bytes at byte {}", range.size_bytes, range.offset);
}

/// Whether `next`, which does not begin before `read`, may join it.
bool Joins(const ByteRange& read, const ByteRange& next, int64_t gap_bytes, int64_t largest_bytes) {
  if (next.end() <= read.end()) return true;
  return next.offset - read.end() <= gap_bytes && next.end() - read.offset <= largest_bytes;
}

}  // namespace

int64_t GapBytes(const ReadCost& cost) {
  const int64_t latency_us = std::max<int64_t>(cost.latency_us, 0), rate = std::max<int64_t>(cost.bytes_per_second, 0);
  const auto whole = CheckedMultiply(rate / kMicrosPerSecond, latency_us);
  const auto rest = CheckedMultiply(rate % kMicrosPerSecond, latency_us);
  if (!whole || !rest) return kLargest;
  return CheckedAdd(*whole, *rest / kMicrosPerSecond).value_or(kLargest);
}

Result<std::vector<ByteRange>> Coalesce(std::vector<ByteRange> ranges, int64_t gap_bytes, int64_t largest_bytes) {
  for (const ByteRange& range : ranges) ARROW_RETURN_NOT_OK(Check(range));
  std::erase_if(ranges, [](const ByteRange& range) { return range.size_bytes == 0; });
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.size_bytes > b.size_bytes;
  });
  std::vector<ByteRange> reads;
  for (const ByteRange& range : ranges) {
    if (!reads.empty() && Joins(reads.back(), range, gap_bytes, largest_bytes)) {
      reads.back().size_bytes = std::max(reads.back().end(), range.end()) - reads.back().offset;
    } else {
      reads.push_back(range);
    }
  }
  return reads;
}

}  // namespace calve
