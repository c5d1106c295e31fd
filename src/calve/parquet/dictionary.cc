#include "calve/parquet/dictionary.h"

#include "calve/parquet/plain_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <algorithm>
#include <limits>

namespace calve::parquet {
namespace {

Status FillFixed(const ValueConversion& conversion, std::span<const uint8_t> bytes, arrow::MemoryPool* pool,
                 Dictionary* out) {
  const auto size = CheckedMultiply(out->count, conversion.in_width);
  if (!size || *size > static_cast<int64_t>(bytes.size())) {
    return Invalid("a dictionary of {} values of {} bytes in {} bytes", out->count, conversion.in_width, bytes.size());
  }
  if (conversion.in_width == 0 && conversion.out_width > 0 && out->count > 0) return Invalid("values of no bytes");
  PoolVector<uint8_t> values(pool);
  const auto converted_size = CheckedMultiply(out->count, conversion.out_width);
  if (!converted_size) return Invalid("a dictionary of {} values", out->count);
  ARROW_RETURN_NOT_OK(values.Resize(*converted_size));
  if (conversion.convert != nullptr) {
    ARROW_RETURN_NOT_OK(conversion.convert(conversion, bytes.data(), out->count, values.data()));
  } else if (*size > 0) {
    std::memcpy(values.data(), bytes.data(), static_cast<size_t>(*size));
  }
  ARROW_ASSIGN_OR_RAISE(out->fixed, values.FinishWithSlack());
  return Status::OK();
}

Status FillBinary(bool with_views, std::span<const uint8_t> bytes, arrow::MemoryPool* pool, Dictionary* out) {
  if (out->count > static_cast<int64_t>(bytes.size()) / 4) {
    return Invalid("a dictionary of {} byte arrays in {} bytes", out->count, bytes.size());
  }
  BinaryValues values(pool);
  ARROW_RETURN_NOT_OK(values.Init());
  ARROW_RETURN_NOT_OK(values.data.Reserve(0));
  PlainBinaryDecoder decoder(bytes);
  ARROW_RETURN_NOT_OK(decoder.Decode(out->count, &values));
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (int64_t i = 0; i < out->count; ++i) {
    const int64_t size = values.offsets[i + 1] - values.offsets[i];
    out->largest_bytes = std::max(out->largest_bytes, size);
    smallest = std::min(smallest, size);
  }
  out->same_lengths = smallest == out->largest_bytes;
  ARROW_ASSIGN_OR_RAISE(out->offsets, values.offsets.FinishWithSlack());
  ARROW_ASSIGN_OR_RAISE(out->bytes, values.data.FinishWithSlack());
  if (!with_views) return Status::OK();
  ViewValues views(pool);
  ARROW_RETURN_NOT_OK(views.Append({out->ends(), static_cast<size_t>(out->count) + 1}, out->bytes));
  return views.views().Finish().Value(&out->views);
}

}  // namespace

std::shared_ptr<arrow::ArrayData> Dictionary::AsArray(const std::shared_ptr<arrow::DataType>& type) const {
  if (fixed != nullptr) return arrow::ArrayData::Make(type, count, {nullptr, fixed}, 0);
  return arrow::ArrayData::Make(type, count, {nullptr, offsets, bytes}, 0);
}

Result<std::shared_ptr<const Dictionary>> MakeDictionary(const LeafLayout& layout, int64_t count,
                                                         std::span<const uint8_t> bytes, arrow::MemoryPool* pool) {
  auto dictionary = std::make_shared<Dictionary>();
  dictionary->count = count;
  ARROW_RETURN_NOT_OK(layout.binary ? FillBinary(layout.form == ValueForm::kViews, bytes, pool, dictionary.get())
                                    : FillFixed(layout.conversion, bytes, pool, dictionary.get()));
  return dictionary;
}

}  // namespace calve::parquet
