#include "support/checksum.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace calve::bench {
namespace {

constexpr uint64_t kNull = 0x9e3779b97f4a7c15;

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t HashOf(std::string_view bytes) {
  uint64_t hash = bytes.size();
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t size = std::min<size_t>(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), size);
    hash = Mix(hash ^ word);
    bytes.remove_prefix(size);
  }
  return hash;
}

template <typename T>
uint64_t HashOfNumber(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);  // sign-extends what is signed
  }
}

/// A decimal of `size` little-endian bytes.
uint64_t HashOfDecimal(const uint8_t* bytes, int size) {
  uint64_t words[2] = {0, 0};
  std::memset(words, (bytes[size - 1] & 0x80) != 0 ? 0xff : 0, sizeof words);
  std::memcpy(words, bytes, static_cast<size_t>(size));
  return Mix(Mix(words[0]) ^ words[1]);
}

}  // namespace

bool Checksum::Range::Present(int64_t slot) const {
  return (mask.empty() || mask[static_cast<size_t>(slot - begin)]) && array.IsValid(slot);
}

Checksum::Node* Checksum::Child(Node* node, size_t index) {
  if (node->children.size() == index) {
    node->children.push_back(std::make_unique<Node>());
    node->children.back()->id = next_id_++;
  }
  return node->children[index].get();
}

template <typename Hash>
void Checksum::AddSlots(const Range& range, Node* node, Hash hash) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    const uint64_t position = Mix((node->id << 40) + node->next_slot++);
    sum_ += range.Present(i) ? Mix(position ^ hash(i)) : Mix(position + kNull);
  }
}

template <typename ArrayType>
arrow::Status Checksum::VisitNumbers(const Range& range, Node* node) {
  const auto& array = static_cast<const ArrayType&>(range.array);
  AddSlots(range, node, [&](int64_t i) { return HashOfNumber(array.Value(i)); });
  bytes_ += (range.end - range.begin) * static_cast<int64_t>(sizeof(array.Value(0)));
  return arrow::Status::OK();
}

template <typename ArrayType>
arrow::Status Checksum::VisitStrings(const Range& range, Node* node) {
  const auto& array = static_cast<const ArrayType&>(range.array);
  AddSlots(range, node, [&](int64_t i) {
    bytes_ += static_cast<int64_t>(array.GetView(i).size());
    return HashOf(array.GetView(i));
  });
  bytes_ += 4 * (range.end - range.begin);
  return arrow::Status::OK();
}

arrow::Status Checksum::VisitDictionary(const Range& range, Node* node) {
  const auto& array = static_cast<const arrow::DictionaryArray&>(range.array);
  if (array.dictionary()->type_id() != arrow::Type::STRING && array.dictionary()->type_id() != arrow::Type::BINARY) {
    return arrow::Status::NotImplemented("no checksum of ", array.type()->ToString());
  }
  const auto& values = static_cast<const arrow::BinaryArray&>(*array.dictionary());
  AddSlots(range, node, [&](int64_t i) {
    const std::string_view value = values.GetView(array.GetValueIndex(i));
    bytes_ += static_cast<int64_t>(value.size());
    return HashOf(value);
  });
  bytes_ += 4 * (range.end - range.begin);
  return arrow::Status::OK();
}

arrow::Status Checksum::VisitStruct(const Range& range, Node* node) {
  AddSlots(range, node, [](int64_t) { return 1; });
  Mask mask(static_cast<size_t>(range.end - range.begin));
  for (int64_t i = range.begin; i < range.end; ++i) mask[static_cast<size_t>(i - range.begin)] = range.Present(i);
  const auto& array = static_cast<const arrow::StructArray&>(range.array);
  for (int i = 0; i < array.num_fields(); ++i) {
    ARROW_RETURN_NOT_OK(Visit({*array.field(i), range.begin, range.end, mask}, Child(node, static_cast<size_t>(i))));
  }
  return arrow::Status::OK();
}

template <typename ListArray>
arrow::Status Checksum::VisitList(const Range& range, Node* node) {
  const auto& array = static_cast<const ListArray&>(range.array);
  AddSlots(range, node, [&](int64_t i) { return static_cast<uint64_t>(array.value_length(i)); });
  bytes_ += 4 * (range.end - range.begin);
  Node* child = Child(node, 0);
  int64_t from = 0, to = 0;  // elements of lists that are there, as far as they lie side by side
  for (int64_t i = range.begin; i < range.end; ++i) {
    if (!range.Present(i)) continue;
    if (array.value_offset(i) != to) {
      ARROW_RETURN_NOT_OK(Visit({*array.values(), from, to, {}}, child));
      from = array.value_offset(i);
    }
    to = array.value_offset(i) + array.value_length(i);
  }
  return Visit({*array.values(), from, to, {}}, child);
}

arrow::Status Checksum::Visit(const Range& range, Node* node) {
  using Type = arrow::Type;
  switch (range.array.type_id()) {
    case Type::BOOL:
      return VisitNumbers<arrow::BooleanArray>(range, node);
    case Type::INT8:
      return VisitNumbers<arrow::Int8Array>(range, node);
    case Type::INT16:
      return VisitNumbers<arrow::Int16Array>(range, node);
    case Type::INT32:
      return VisitNumbers<arrow::Int32Array>(range, node);
    case Type::DATE32:
      return VisitNumbers<arrow::Date32Array>(range, node);
    case Type::INT64:
      return VisitNumbers<arrow::Int64Array>(range, node);
    case Type::TIMESTAMP:
      return VisitNumbers<arrow::TimestampArray>(range, node);
    case Type::UINT32:
      return VisitNumbers<arrow::UInt32Array>(range, node);
    case Type::UINT64:
      return VisitNumbers<arrow::UInt64Array>(range, node);
    case Type::FLOAT:
      return VisitNumbers<arrow::FloatArray>(range, node);
    case Type::DOUBLE:
      return VisitNumbers<arrow::DoubleArray>(range, node);
    case Type::DECIMAL32:
    case Type::DECIMAL64:
    case Type::DECIMAL128: {
      const auto& array = static_cast<const arrow::FixedSizeBinaryArray&>(range.array);
      AddSlots(range, node, [&](int64_t i) { return HashOfDecimal(array.GetValue(i), array.byte_width()); });
      bytes_ += 16 * (range.end - range.begin);
      return arrow::Status::OK();
    }
    case Type::STRING:
    case Type::BINARY:
      return VisitStrings<arrow::BinaryArray>(range, node);
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return VisitStrings<arrow::LargeBinaryArray>(range, node);
    case Type::STRING_VIEW:
    case Type::BINARY_VIEW:
      return VisitStrings<arrow::BinaryViewArray>(range, node);
    case Type::DICTIONARY:
      return VisitDictionary(range, node);
    case Type::STRUCT:
      return VisitStruct(range, node);
    case Type::LIST:
    case Type::MAP:
      return VisitList<arrow::ListArray>(range, node);
    case Type::LARGE_LIST:
      return VisitList<arrow::LargeListArray>(range, node);
    default:
      return arrow::Status::NotImplemented("no checksum of ", range.array.type()->ToString());
  }
}

arrow::Status Checksum::Add(const arrow::RecordBatch& batch) {
  for (int i = 0; i < batch.num_columns(); ++i) {
    const auto column = batch.column(i);
    ARROW_RETURN_NOT_OK(Visit({*column, 0, column->length(), {}}, Child(&root_, static_cast<size_t>(i))));
  }
  rows_ += batch.num_rows();
  return arrow::Status::OK();
}

}  // namespace calve::bench
