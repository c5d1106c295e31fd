#include "calve/shuffle/offsets_as_lengths.h"

#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <cstring>

namespace calve::shuffle {

namespace {

bool IsDefinedFor(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::NA:
      return true;
    case arrow::Type::LIST:
    case arrow::Type::MAP:
    case arrow::Type::STRUCT:
    case arrow::Type::FIXED_SIZE_LIST:
      return std::all_of(type.fields().begin(), type.fields().end(),
                         [](const auto& field) { return IsDefinedFor(*field->type()); });
    default:
      return arrow::is_fixed_width(type.id()) && type.id() != arrow::Type::DICTIONARY;
  }
}

uint32_t Load32(const uint8_t* at) {
  uint32_t value;
  std::memcpy(&value, at, 4);
  return value;
}

}  // namespace

bool CanStoreOffsetsAsLengths(const arrow::Schema& schema) {
  return std::all_of(schema.fields().begin(), schema.fields().end(),
                     [](const auto& field) { return IsDefinedFor(*field->type()); });
}

void StoreOffsetsAsLengths(std::span<uint8_t> offsets, std::vector<uint8_t>* scratch) {
  const size_t values = offsets.size() / 4;
  scratch->resize(std::max(scratch->size(), offsets.size()));
  uint8_t* out = scratch->data();
  uint32_t before = 0;
  for (size_t i = 0; i < values; ++i) {
    const uint32_t offset = Load32(offsets.data() + 4 * i);
    const uint32_t length = offset - before;
    for (size_t plane = 0; plane < 4; ++plane) out[plane * values + i] = static_cast<uint8_t>(length >> (8 * plane));
    before = offset;
  }
  std::memcpy(offsets.data(), out, offsets.size());
}

}  // namespace calve::shuffle
