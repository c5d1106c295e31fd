#pragma once

#include <cstdint>

namespace calve::cli {

/// The memory budget of a command that was given none: 60 % of the machine's memory, or of what the control groups of
/// this process allow if that is less.
int64_t DefaultMemoryBudget();

}  // namespace calve::cli
