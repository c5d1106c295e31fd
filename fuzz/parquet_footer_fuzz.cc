// Any bytes as a file's footer. What the one pass over it takes for sound can be parsed, whole and column by column.

#include "calve/parquet/footer.h"
#include "calve/parquet/read_plan.h"

#include <arrow/buffer.h>

#include <cstdlib>
#include <string>

namespace {

using namespace calve::parquet;  // NOLINT

void ReadColumns(const Footer& footer) {
  for (int leaf = 0; leaf < footer.num_columns(); ++leaf) {
    const auto selection = footer.SelectLeaves({leaf});
    if (!selection.ok()) std::abort();
    for (int group = 0; group < footer.num_row_groups(); ++group) {
      for (size_t i = 0; i < selection->leaves.size(); ++i) {
        (void)PlanChunk(footer, selection->schema.leaves[i], selection->leaves[i], group);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kMostColumns = 200;
  const auto bytes = arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size));
  const auto index = FooterIndex::Make(bytes);
  const auto metadata = ParseFileMetadata({bytes->data(), size});
  if (!index.ok()) return 0;
  if (!metadata.ok()) std::abort();
  const auto schema = FileSchema::Make(metadata->schema);
  if (!schema.ok() || !CheckFileMetadata(*metadata, *schema).ok()) std::abort();
  if ((*index)->encrypted() || (*index)->num_columns() > kMostColumns || (*index)->row_groups().size() > 10) return 0;
  ReadColumns(Footer({*index, std::make_shared<const FieldLookup>(**index), 1 << 20, 1 << 19}));
  return 0;
}
