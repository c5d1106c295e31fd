// Any bytes as a page header. One that is read is written, and read again.

#include "calve/parquet/metadata_reader.h"

#include <cstdlib>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using calve::parquet::ParsePageHeader;
  const std::vector<uint8_t> bytes(data, data + size);
  size_t header_size = 0;
  bool cut_short = false;
  const auto header = ParsePageHeader(bytes, &header_size, &cut_short);
  if (!header.ok()) return 0;
  if (header_size > size) std::abort();
  const std::string written = Serialize(*header);
  const std::vector<uint8_t> again(written.begin(), written.end());
  if (!ParsePageHeader(again, &header_size, &cut_short).ok() || header_size != again.size()) std::abort();
  return 0;
}
