// Any bytes as an Arrow IPC file or stream: what is read is valid.
#include "calve/arrow_file.h"
#include "shuffle_block_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of exactly this size, so that a read outside is seen.
  const auto bytes = arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size));
  const auto reader = calve::OpenArrowBytes(bytes, "input");
  if (!reader.ok()) return 0;
  while (true) {
    const auto batch = (*reader)->Next();
    if (!batch.ok() || *batch == nullptr) return 0;
    calve::fuzz::CheckBatch(**batch);
  }
}
