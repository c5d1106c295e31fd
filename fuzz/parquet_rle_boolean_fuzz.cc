// Any bytes as the RLE values of a page: at once, in pieces, and passed over.

#include "decoder_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return calve::fuzz::DecodeBothWays(calve::parquet::Encoding::kRle, data, size);
}
