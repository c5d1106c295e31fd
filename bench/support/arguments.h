#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace calve::bench {

/// What the programs of bench/ are called with.
struct Arguments {
  int rounds = 5;
  int threads = 1;
  std::vector<std::string> columns;  ///< top-level names; empty: all
  int64_t batch_rows = 65536;
  std::string strings = "utf8";
  std::string reader = "calve";
  std::string filter;  ///< "column<integer"; empty: all rows
  int64_t copy_bytes = 0;
  bool keep = false;          ///< all batches of a round stay alive until its time is taken
  bool footer_cache = false;  ///< footers are kept from round to round
  bool serve = false;         ///< one round for every line on stdin
  std::vector<std::string> files;
};

/// Invalid says which argument is wrong.
arrow::Result<Arguments> ParseArguments(int argc, char** argv);

/// The middle one; 0 for none.
double Median(std::vector<double> values);

}  // namespace calve::bench
