#include "calve/parquet/element_shape.h"

#include "calve/parquet/leaf_type.h"
#include "calve/parquet/metadata_reader.h"

#include <algorithm>
#include <string>

namespace calve::parquet {

size_t ShapeChecker::HashOf(const ElementShape& shape) {
  uint64_t mixed = 0;
  for (const int32_t part : {shape.type, shape.type_length, shape.converted_type, shape.scale, shape.precision}) {
    mixed = (mixed ^ static_cast<uint32_t>(part)) * 0x9e3779b97f4a7c15u;
  }
  mixed ^= shape.logical_type.size();
  for (size_t i = 0; i < std::min<size_t>(shape.logical_type.size(), 8); ++i) {
    mixed = (mixed ^ static_cast<uint8_t>(shape.logical_type[i])) * 0x9e3779b97f4a7c15u;
  }
  return mixed >> (64 - kKnownBits);
}

bool ShapeChecker::Check(const ElementShape& shape, std::span<const uint8_t> element) {
  const bool bare = shape.logical_type.empty() && shape.converted_type < 0;
  if (bare && shape.type != static_cast<int32_t>(PhysicalType::kFixedLenByteArray)) return true;
  std::optional<ElementShape>& known = known_[HashOf(shape)];
  if (known == shape && !shape.has_several) return true;
  const auto parsed = ParseSchemaElement(element);
  if (!parsed.ok()) return false;
  std::string unsupported;
  if (parsed->type && !LeafType(*parsed, {}, &unsupported).ok()) return false;
  known = shape;
  return true;
}

}  // namespace calve::parquet
