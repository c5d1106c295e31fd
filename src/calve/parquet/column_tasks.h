#pragma once

#include "calve/base/context.h"
#include "calve/base/status.h"

#include <cstdint>
#include <functional>
#include <span>

namespace calve::parquet {

/// Runs `work(column, round)` for every column, one round after another, different columns side by side on the threads
/// of `context`, and waits for all. What takes longest by `weights`, one a column, begins first, and no thread waits
/// for the columns of others while there are rounds that it may run. After the first failure no further work starts; of
/// the failures, that of the first column is returned. With one thread columns run in order. Cancelled when stop was
/// requested.
Status RunColumns(const Context& context, std::span<const int64_t> weights, int64_t rounds,
                  const std::function<Status(int64_t column, int64_t round)>& work);

}  // namespace calve::parquet
