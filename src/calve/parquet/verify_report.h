#pragma once

#include "calve/parquet_verify.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace calve::parquet {

/// Collects what is found of one column chunk, or of what lies above chunks. Not thread-safe.
class VerifyReport {
 public:
  VerifyReport() = default;
  VerifyReport(int row_group, std::string column) : row_group_(row_group), column_(std::move(column)) {}

  int64_t pages = 0, values = 0;

  /// Everything added from now on is of this page; -1: of the chunk.
  void AtPage(int64_t page, int64_t offset) {
    page_ = page;
    offset_ = offset;
  }

  template <typename Said, typename Is>
  void Add(std::string_view rule, const Said& said, const Is& is) {
    ++count_;
    if (violations_.size() >= kMost) return;
    violations_.push_back(
        {std::string(rule), row_group_, column_, page_, offset_, fmt::format("{}", said), fmt::format("{}", is)});
  }
  /// Adds a violation when the two differ.
  template <typename Said, typename Is>
  void Compare(std::string_view rule, const Said& said, const Is& is) {
    if (said != is) Add(rule, said, is);
  }
  void NotChecked(std::string_view why) { not_checked_.push_back(Where() + std::string(why)); }

  int64_t count() const { return count_; }
  /// Moves everything to the end of `out`, which keeps `most` violations.
  void MoveTo(int64_t most, ParquetVerification* out);

 private:
  /// So many of one chunk are kept: the rest says nothing new.
  static constexpr size_t kMost = 100;
  std::string Where() const;

  int row_group_ = -1;
  std::string column_;
  int64_t page_ = -1, offset_ = -1;
  int64_t count_ = 0;
  std::vector<ParquetViolation> violations_;
  std::vector<std::string> not_checked_;
};

}  // namespace calve::parquet
