#include "calve/parquet/read_setup.h"

#include "calve/base/context.h"
#include "calve/io/coalesce.h"

#include <algorithm>
#include <limits>

namespace calve::parquet {
namespace {

/// `wanted` bytes, or a part of the budget (0: none) when that is less.
int64_t PartOf(int64_t budget_bytes, int64_t divisor, int64_t wanted) {
  return budget_bytes == 0 ? wanted : std::min(wanted, budget_bytes / divisor);
}

/// How much of each column to read at a time: what takes several times as long as the read does to begin, so that more
/// does not push out of the caches what pages are decompressed and decoded into. All columns together hold no more than
/// kAllWindows, unless there are very many.
int64_t WindowBytes(size_t columns, int64_t budget_bytes, const ReadCost& cost) {
  constexpr int64_t kAllWindows = int64_t{64} << 20, kSmallest = 64 << 10, kEnough = 256 << 10, kLargest = 1 << 20;
  constexpr int64_t kLatencies = 4;
  const int64_t largest = std::clamp(GapBytes(cost), kEnough / kLatencies, kLargest / kLatencies) * kLatencies;
  const int64_t all = PartOf(budget_bytes, 8, kAllWindows);
  return std::clamp(all / static_cast<int64_t>(std::max<size_t>(columns, 1)), kSmallest, largest);
}

}  // namespace

ReadSetup SetupOf(const OpenFile& file, const FileSchema& schema, const BatchLimits& limits, arrow::MemoryPool* pool,
                  ReadCounters* counters) {
  constexpr int64_t kPageBytes = int64_t{64} << 20;
  const int64_t budget = BudgetBytesOf(file.context);
  ReadSetup setup;
  setup.file = &file;
  setup.schema = &schema;
  setup.pool = pool;
  setup.limits = limits;
  setup.limits.soft_bytes = PartOf(budget, 16, limits.soft_bytes);
  setup.batch_rows = file.options.batch_rows;
  setup.window_bytes =
      WindowBytes(schema.leaves.size(), budget, {file.options.read_latency_us, file.options.read_bytes_per_second});
  setup.pages.verify_crc = file.options.verify_crc;
  setup.pages.pool = pool;
  setup.pages.budget = std::make_shared<PageBudget>(PartOf(budget, 8, kPageBytes));
  setup.pages.counters = counters;
  return setup;
}

int64_t AheadBytes(const Context& context) {
  constexpr int64_t kAheadBytes = int64_t{64} << 20;
  return PartOf(BudgetBytesOf(context), 4, kAheadBytes);
}

size_t MostOpenGroups(const Context& context, size_t streams) {
  const auto threads = static_cast<size_t>(ThreadsOf(context));
  if (threads == 1 || streams == 0) return 1;
  return std::max<size_t>(2, (threads + streams - 1) / streams);
}

int64_t MostOpenBytes(const Context& context) {
  return PartOf(BudgetBytesOf(context), 4, std::numeric_limits<int64_t>::max());
}

}  // namespace calve::parquet
