#include "calve/array/referenced_bytes.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>

#include <algorithm>

namespace calve {
namespace {

int64_t SizeOf(const std::shared_ptr<arrow::Buffer>& buffer) { return buffer == nullptr ? 0 : buffer->size(); }

/// The offsets of the slots, and what lies between the first and the last.
template <typename Offset>
struct Between {
  int64_t first = 0, count = 0;
  Between(const arrow::ArrayData& array, int64_t offset, int64_t length) {
    if (length == 0 || SizeOf(array.buffers[1]) == 0) return;
    const Offset* offsets = array.GetValues<Offset>(1) + offset;
    first = offsets[0];
    count = std::max<int64_t>(offsets[length] - offsets[0], 0);
  }
};

template <typename Offset>
int64_t ListBytes(const arrow::ArrayData& array, int64_t offset, int64_t length) {
  const Between<Offset> elements(array, offset, length);
  return length * static_cast<int64_t>(sizeof(Offset)) +
         ReferencedBytes(*array.child_data[0], elements.first, elements.count);
}

int64_t WholeBytes(const arrow::ArrayData& array) { return ReferencedBytes(array, 0, array.length); }

int64_t ChildrenBytes(const arrow::ArrayData& array, int64_t offset, int64_t length) {
  int64_t bytes = 0;
  for (const auto& child : array.child_data) bytes += ReferencedBytes(*child, offset, length);
  return bytes;
}

/// A slice has all of the elements, also those behind it.
int64_t FixedSizeListBytes(const arrow::ArrayData& array, int64_t first, int64_t length) {
  const arrow::DataType* type = array.type.get();
  while (type->id() == arrow::Type::EXTENSION) {
    type = static_cast<const arrow::ExtensionType&>(*type).storage_type().get();
  }
  const int64_t size = static_cast<const arrow::FixedSizeListType&>(*type).list_size();
  const arrow::ArrayData& elements = *array.child_data[0];
  const int64_t begin = std::min(first * size, elements.length);
  return ReferencedBytes(elements, begin, std::min(length * size, elements.length - begin));
}

int64_t FixedBytes(const arrow::ArrayData& array, int64_t length) {
  return (length * std::max(array.type->bit_width(), 0) + 7) / 8;
}

}  // namespace

int64_t ReferencedBytes(const arrow::ArrayData& array, int64_t offset, int64_t length) {
  using arrow::Type;
  switch (array.type->storage_id()) {
    case Type::NA:
      return 0;
    case Type::STRING:
    case Type::BINARY:
      return length * 4 + Between<int32_t>(array, offset, length).count;
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return length * 8 + Between<int64_t>(array, offset, length).count;
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW: {
      int64_t bytes = length * 16;
      for (size_t i = 2; i < array.buffers.size(); ++i) bytes += SizeOf(array.buffers[i]);
      return bytes;
    }
    case Type::LIST:
    case Type::MAP:
      return ListBytes<int32_t>(array, offset, length);
    case Type::LARGE_LIST:
      return ListBytes<int64_t>(array, offset, length);
    case Type::LIST_VIEW:
      return length * 8 + WholeBytes(*array.child_data[0]);
    case Type::LARGE_LIST_VIEW:
      return length * 16 + WholeBytes(*array.child_data[0]);
    case Type::FIXED_SIZE_LIST:
      return FixedSizeListBytes(array, array.offset + offset, length);
    case Type::STRUCT:
    case Type::SPARSE_UNION:
      return ChildrenBytes(array, array.offset + offset, length);
    case Type::DENSE_UNION:
    case Type::RUN_END_ENCODED: {
      int64_t bytes = array.type->storage_id() == Type::DENSE_UNION ? length * 5 : 0;
      for (const auto& child : array.child_data) bytes += WholeBytes(*child);
      return bytes;
    }
    case Type::DICTIONARY:
      return FixedBytes(array, length) + WholeBytes(*array.dictionary);
    default:
      return FixedBytes(array, length);
  }
}

}  // namespace calve
