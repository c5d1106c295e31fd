// Any bytes as table metadata, gzipped or not; what is read is written, and read again.

#include "calve/iceberg/table_metadata.h"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = calve::iceberg::ParseTableMetadata({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok()) return 0;
  const auto text = calve::iceberg::ToJsonText(*parsed);
  if (text.ok() && !calve::iceberg::ParseTableMetadata(*text).ok()) std::abort();
  return 0;
}
