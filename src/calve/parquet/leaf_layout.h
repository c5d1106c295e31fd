#pragma once

#include "calve/parquet/metadata.h"

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>

namespace calve::parquet {

struct LeafColumn;

/// How a value of fixed width becomes what Arrow has.
struct ValueConversion {
  int64_t in_width = 0, out_width = 0;  ///< bytes
  /// Converts in[count * in_width] to out[count * out_width]; Invalid for a value that does not fit. Null: values are
  /// taken as they are.
  Status (*convert)(const ValueConversion& self, const uint8_t* in, int64_t count, uint8_t* out) = nullptr;
  arrow::TimeUnit::type unit = arrow::TimeUnit::MICRO;  ///< of timestamps
};

/// What the values of a leaf column are held as.
enum class ValueForm {
  kFixed,    ///< values of one width
  kOffsets,  ///< byte arrays: offsets and bytes
  kViews,    ///< byte arrays: views into their pages
  kIndices,  ///< int32 indices and a dictionary
};

/// How the values and levels of a leaf column are held.
struct LeafLayout {
  bool binary = false;  ///< the column is of type BYTE_ARRAY
  ValueForm form = ValueForm::kFixed;
  ValueConversion conversion;                        ///< of columns that are not binary
  std::shared_ptr<arrow::DataType> dictionary_type;  ///< of the values of kIndices' dictionary
  bool keeps_definition = false;                     ///< some ancestor is optional or repeated
  bool keeps_repetition = false;                     ///< some ancestor is repeated
  int max_definition_level = 0;
  int exists_level = 0;  ///< entries of a lower definition level are no slot

  /// Bytes that a slot takes in LeafBatch::values; 0 for kOffsets.
  int64_t slot_width() const;
};

/// By the type that the column is decoded to.
LeafLayout LayoutOf(const LeafColumn& leaf);

}  // namespace calve::parquet
