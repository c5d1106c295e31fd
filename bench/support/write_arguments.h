#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <string>

namespace calve::bench {

/// What the programs that time writing are called with.
struct WriteArguments {
  int rounds = 5;
  int threads = 1;
  std::string option = "default";  ///< of bench/write_cases.json
  std::string writer = "calve";
  std::string out;            ///< the untimed round writes here; empty: it drops the bytes too
  int64_t copy_bytes = 0;     ///< of write_floor
  int compression_level = 0;  ///< of write_floor; 0: nothing is compressed
  bool serve = false;         ///< one round for every line on stdin
  std::string file;
};

/// Invalid says which argument is wrong.
arrow::Result<WriteArguments> ParseWriteArguments(int argc, char** argv);

}  // namespace calve::bench
