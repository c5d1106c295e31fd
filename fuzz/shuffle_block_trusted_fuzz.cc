#include "shuffle_block_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  calve::fuzz::FuzzBlocks(data, size, /*trusted=*/true);
  return 0;
}
