#include "calve/parquet/leaf_layout.h"

#include "calve/parquet/leaf_type.h"
#include "calve/parquet/schema.h"
#include "calve/parquet/value_conversion.h"

#include <arrow/type.h>
#include <arrow/type_traits.h>

namespace calve::parquet {
namespace {

ValueForm FormOf(bool binary, const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY) return ValueForm::kIndices;
  if (!binary) return ValueForm::kFixed;
  return arrow::is_binary_view_like(type.id()) ? ValueForm::kViews : ValueForm::kOffsets;
}

}  // namespace

int64_t LeafLayout::slot_width() const {
  switch (form) {
    case ValueForm::kFixed:
      return conversion.out_width;
    case ValueForm::kOffsets:
      return 0;
    case ValueForm::kViews:
      return sizeof(BinaryView);
    case ValueForm::kIndices:
      return sizeof(int32_t);
  }
  return 0;
}

LeafLayout LayoutOf(const LeafColumn& leaf) {
  LeafLayout layout;
  layout.binary = leaf.element.type == PhysicalType::kByteArray;
  layout.form = FormOf(layout.binary, *leaf.decoded_type);
  if (!layout.binary) layout.conversion = ConversionOf(leaf.element, *leaf.decoded_type);
  if (layout.form == ValueForm::kIndices) {
    layout.dictionary_type = static_cast<const arrow::DictionaryType&>(*leaf.decoded_type).value_type();
  }
  layout.max_definition_level = leaf.max_definition_level;
  layout.exists_level = leaf.exists_level;
  const int own_level = leaf.element.repetition == Repetition::kOptional ? 1 : 0;
  layout.keeps_definition = leaf.max_definition_level > own_level;
  layout.keeps_repetition = leaf.max_repetition_level > 0;
  return layout;
}

}  // namespace calve::parquet
