#include "calve/cli/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

namespace calve::cli {

namespace {

// A file that holds a number; anything else ("max", no file) is no limit.
int64_t LimitIn(const std::string& path) {
  std::ifstream file(path);
  int64_t limit = 0;
  return file >> limit && limit > 0 ? limit : std::numeric_limits<int64_t>::max();
}

// Version 2's limit of the process's own group ("0::/path" in /proc/self/cgroup) and of all above it, and version 1's.
int64_t ControlGroupLimit() {
  int64_t limit =
      std::min(LimitIn("/sys/fs/cgroup/memory.max"), LimitIn("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string group = line.substr(3); group.size() > 1; group.resize(std::max<size_t>(1, group.rfind('/')))) {
      limit = std::min(limit, LimitIn("/sys/fs/cgroup" + group + "/memory.max"));
    }
  }
  return limit;
}

}  // namespace

int64_t DefaultMemoryBudget() {
  const int64_t machine = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return std::min(machine, ControlGroupLimit()) / 10 * 6;
}

}  // namespace calve::cli
