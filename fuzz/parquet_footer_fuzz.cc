// Any bytes as a file's footer: its structures, and the schema they describe.

#include "calve/parquet/read_plan.h"
#include "calve/parquet/schema.h"

#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  const auto metadata = calve::parquet::ParseFileMetadata(bytes);
  if (!metadata.ok()) return 0;
  const auto schema = calve::parquet::FileSchema::Make(metadata->schema);
  if (!schema.ok() || !calve::parquet::CheckFileMetadata(*metadata, *schema).ok()) return 0;
  for (size_t leaf = 0; leaf < schema->leaves.size(); ++leaf) {
    const int index = static_cast<int>(leaf);
    (void)calve::parquet::CheckLeafSupported(*metadata, *schema, index);
    for (size_t group = 0; group < metadata->row_groups.size(); ++group) {
      (void)calve::parquet::PlanChunk(*metadata, *schema, static_cast<int>(group), index, 1 << 20);
    }
  }
  return 0;
}
