#include "calve/parquet/dictionary_nulls.h"

#include "calve/parquet/schema_writer.h"

#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

namespace calve::parquet {
namespace {

const uint8_t* Validity(const arrow::ArrayData& array) {
  return array.null_count != 0 && array.buffers[0] != nullptr ? array.buffers[0]->data() : nullptr;
}

/// Clears the validity bits of slots whose index points at a null.
template <typename Index>
void ClearNullEntries(const arrow::ArrayData& array, uint8_t* validity) {
  const arrow::ArrayData& dictionary = *array.dictionary;
  const uint8_t* entries = Validity(dictionary);
  const Index* indices = array.GetValues<Index>(1);
  for (int64_t i = 0; i < array.length; ++i) {
    if (!arrow::bit_util::GetBit(validity, array.offset + i)) continue;
    const auto entry = static_cast<int64_t>(indices[i]);
    // An index out of range is reported when the values are gathered.
    if (entry < 0 || entry >= dictionary.length) continue;
    const bool valid =
        dictionary.type->id() != arrow::Type::NA && arrow::bit_util::GetBit(entries, dictionary.offset + entry);
    if (!valid) arrow::bit_util::ClearBit(validity, array.offset + i);
  }
}

void ClearNullEntries(const arrow::ArrayData& array, arrow::Type::type index_type, uint8_t* validity) {
  switch (index_type) {
    case arrow::Type::INT8:
      return ClearNullEntries<int8_t>(array, validity);
    case arrow::Type::UINT8:
      return ClearNullEntries<uint8_t>(array, validity);
    case arrow::Type::INT16:
      return ClearNullEntries<int16_t>(array, validity);
    case arrow::Type::UINT16:
      return ClearNullEntries<uint16_t>(array, validity);
    case arrow::Type::INT32:
      return ClearNullEntries<int32_t>(array, validity);
    case arrow::Type::UINT32:
      return ClearNullEntries<uint32_t>(array, validity);
    case arrow::Type::INT64:
      return ClearNullEntries<int64_t>(array, validity);
    default:
      return ClearNullEntries<uint64_t>(array, validity);
  }
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Buffer>> ValidityThroughDictionary(const arrow::ArrayData& array,
                                                                        arrow::MemoryPool* pool) {
  const arrow::ArrayData& dictionary = *array.dictionary;
  if (dictionary.type->id() != arrow::Type::NA && Validity(dictionary) == nullptr) return nullptr;
  const int64_t bits = array.offset + array.length;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, arrow::AllocateEmptyBitmap(bits, pool));
  if (const uint8_t* own = Validity(array)) {
    arrow::internal::CopyBitmap(own, array.offset, array.length, validity->mutable_data(), array.offset);
  } else {
    arrow::bit_util::SetBitsTo(validity->mutable_data(), array.offset, array.length, true);
  }
  const auto& type = static_cast<const arrow::DictionaryType&>(StorageType(*array.type));
  ClearNullEntries(array, type.index_type()->id(), validity->mutable_data());
  return validity;
}

}  // namespace calve::parquet
