#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace calve::testing {

/// A file or folder of the small set that every clone has.
inline std::string Data(const std::string& relative) {
  return std::string(CALVE_SOURCE_DIR) + "/tests/data/" + relative;
}

/// The folder of the full test data, "" when it is not here: CALVE_TEST_DATA, else `shared/data` beside or above the
/// source tree. Tests that need it and do not find it are skipped with that reason, or fail when CALVE_REQUIRE_DATA
/// is 1.
inline std::string SharedDataFolder() {
  namespace fs = std::filesystem;
  if (const char* set = std::getenv("CALVE_TEST_DATA"); set != nullptr && *set != '\0') return set;
  for (fs::path folder = fs::path(CALVE_SOURCE_DIR); folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / "shared" / "data")) return (folder / "shared" / "data").string();
  }
  return "";
}

inline bool SharedDataRequired() {
  const char* required = std::getenv("CALVE_REQUIRE_DATA");
  return required != nullptr && std::string(required) == "1";
}

/// Whether tests may take minutes (`make check` sets CALVE_LONG_TESTS); those that could then go through everything,
/// and otherwise through a part.
inline bool LongTests() { return std::getenv("CALVE_LONG_TESTS") != nullptr; }

/// In a test body: binds `folder` to the full data and counts the test as a shared case, or skips (fails when
/// required).
#define CALVE_SHARED_DATA(folder)                                                            \
  const std::string folder = ::calve::testing::SharedDataFolder();                           \
  if (folder.empty()) {                                                                      \
    if (::calve::testing::SharedDataRequired()) FAIL() << "the shared test data is missing"; \
    GTEST_SKIP() << "the shared test data is not here (set CALVE_TEST_DATA)";                \
  }                                                                                          \
  ::testing::Test::RecordProperty("shared_cases", 1)

}  // namespace calve::testing
