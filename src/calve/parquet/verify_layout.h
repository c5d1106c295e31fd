#pragma once

#include "calve/parquet/footer.h"
#include "calve/parquet/verify_report.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace calve::parquet {

/// Where the parts of a file lie: column chunks, indexes, bloom filters. Built from what the footer says.
class FileLayout {
 public:
  static FileLayout Of(const Footer& footer);

  /// Where the first part behind `offset` begins; the footer's begin when there is none.
  int64_t NextAfter(int64_t offset) const;
  /// Parts that overlap, or lie outside of the file's body.
  void Verify(VerifyReport* report) const;

 private:
  struct Part {
    int64_t offset = 0, bytes = 0;
    std::string name;
  };
  void Add(std::optional<int64_t> offset, std::optional<int64_t> bytes, std::string name);

  std::vector<Part> parts_;  ///< by offset
  int64_t end_ = 0;          ///< where the footer begins
};

}  // namespace calve::parquet
