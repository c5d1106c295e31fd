// Any bytes as the metadata and the value of a variant, and as the text of an ARROW:schema. A value that passes the
// check is taken apart, and what is put together of it passes again.

#include "calve/parquet/arrow_schema.h"
#include "calve/parquet/arrow_schema_peek.h"
#include "calve/parquet/variant_value.h"

#include <arrow/type.h>

#include <cstdlib>
#include <string_view>

namespace {

using calve::parquet::VariantMetadata;

void TakeApart(const VariantMetadata& metadata, std::string_view value) {
  std::string again;
  if (calve::parquet::IsVariantObject(value)) {
    const auto fields = calve::parquet::VariantFields(metadata, value);
    if (!fields.ok() || !calve::parquet::AppendVariantObject(metadata, *fields, &again).ok()) std::abort();
  } else if (const auto elements = calve::parquet::VariantElements(value); elements.ok()) {
    calve::parquet::AppendVariantArray(*elements, &again);
  } else {
    return;
  }
  if (!calve::parquet::CheckVariantValue(metadata, again).ok()) std::abort();
}

void PeekAndParse(std::string_view text) {
  calve::parquet::ArrowSchemaPeek peek(text);
  for (size_t i = 0; i < 4; ++i) peek.IsPlain(i);
  calve::parquet::ParseArrowSchema(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  PeekAndParse(bytes);
  const size_t split = std::min<size_t>(data[0], bytes.size());
  const auto metadata = VariantMetadata::Parse(bytes.substr(0, split));
  if (!metadata.ok()) return 0;
  const std::string_view value = bytes.substr(split);
  if (calve::parquet::CheckVariantValue(*metadata, value).ok()) TakeApart(*metadata, value);
  return 0;
}
