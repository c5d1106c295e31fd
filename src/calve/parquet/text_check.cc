#include "calve/parquet/text_check.h"

#include "calve/parquet/utf8.h"

#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include <optional>

// Text values lie one after another in a buffer. It holds UTF-8 throughout when it does as a whole, and no value begins
// inside a character.

namespace calve::parquet {
namespace {

using arrow::Type;
using arrow::internal::checked_cast;

bool BeginsCharacter(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) != 0x80; }

template <typename ArrayType>
bool IsUtf8Throughout(const ArrayType& array) {
  const auto begin = array.value_offset(0), end = array.value_offset(array.length());
  if (begin == end) return true;
  const std::string_view all(reinterpret_cast<const char*>(array.raw_data()) + begin, static_cast<size_t>(end - begin));
  if (!IsUtf8(all)) return false;
  for (int64_t i = 0; i < array.length(); ++i) {
    const auto offset = array.value_offset(i);
    if (offset < end && !BeginsCharacter(all[static_cast<size_t>(offset - begin)])) return false;
  }
  return true;
}

/// The first value that is no UTF-8.
template <typename ArrayType>
std::optional<int64_t> FirstBad(const ArrayType& array) {
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i) && !IsUtf8(array.GetView(i))) return i;
  }
  return std::nullopt;
}

/// Where something bad stands: the field, and the slot of the array that was asked about.
struct Found {
  std::string path;
  int64_t slot = 0;
};
using MaybeFound = std::optional<Found>;

MaybeFound FindBad(const ArrowNode& node, const arrow::Array& array);

std::optional<int64_t> FirstBadText(const arrow::Array& array) {
  switch (array.type_id()) {
    case Type::STRING: {
      const auto& text = checked_cast<const arrow::StringArray&>(array);
      return IsUtf8Throughout(text) ? std::nullopt : FirstBad(text);
    }
    case Type::LARGE_STRING: {
      const auto& text = checked_cast<const arrow::LargeStringArray&>(array);
      return IsUtf8Throughout(text) ? std::nullopt : FirstBad(text);
    }
    case Type::STRING_VIEW:
      return FirstBad(checked_cast<const arrow::StringViewArray&>(array));
    case Type::EXTENSION:
      return FirstBadText(*checked_cast<const arrow::ExtensionArray&>(array).storage());
    case Type::DICTIONARY: {
      const auto& encoded = checked_cast<const arrow::DictionaryArray&>(array);
      const auto bad = FirstBadText(*encoded.dictionary());
      if (!bad) return std::nullopt;
      for (int64_t i = 0; i < array.length(); ++i) {
        if (array.IsValid(i) && encoded.GetValueIndex(i) == *bad) return i;
      }
      return 0;  // not used by this batch, but handed out with it
    }
    default:
      return std::nullopt;
  }
}

/// A bad element is in the last list that begins at or before it and is not empty.
template <typename ListType>
int64_t ListOfElement(const ListType& list, int64_t element) {
  int64_t slot = 0;
  for (int64_t i = 0; i < list.length() && list.value_offset(i) <= element; ++i) slot = i;
  return slot;
}

MaybeFound FindBadElement(const ArrowNode& node, const arrow::Array& array) {
  if (array.type_id() == Type::MAP) {
    const auto& map = checked_cast<const arrow::MapArray&>(array);
    MaybeFound found = FindBad(node.children[0], *map.keys());
    if (!found) found = FindBad(node.children[1], *map.items());
    if (found) found->slot = ListOfElement(map, found->slot);
    return found;
  }
  const auto& list = checked_cast<const arrow::ListArray&>(array);
  MaybeFound found = FindBad(node.children[0], *list.values());
  if (found) found->slot = ListOfElement(list, found->slot);
  return found;
}

MaybeFound FindBadField(const ArrowNode& node, const arrow::Array& array) {
  const auto& group = checked_cast<const arrow::StructArray&>(array);
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (MaybeFound found = FindBad(node.children[i], *group.field(static_cast<int>(i)))) return found;
  }
  return std::nullopt;
}

MaybeFound FindBadInside(const ArrowNode& node, const arrow::Array& array) {
  switch (array.type_id()) {
    case Type::EXTENSION:
      return FindBadInside(node, *checked_cast<const arrow::ExtensionArray&>(array).storage());
    case Type::STRUCT:
      return FindBadField(node, array);
    default:
      return FindBadElement(node, array);
  }
}

MaybeFound FindBad(const ArrowNode& node, const arrow::Array& array) {
  MaybeFound found;
  if (node.leaf_index >= 0) {
    if (const auto slot = FirstBadText(array)) found = Found{"", *slot};
  } else {
    found = FindBadInside(node, array);
  }
  if (found) found->path = found->path.empty() ? node.field->name() : node.field->name() + "." + found->path;
  return found;
}

bool HoldsText(const ArrowNode& node) {
  if (node.leaf_index < 0) return std::any_of(node.children.begin(), node.children.end(), HoldsText);
  const arrow::DataType* type = node.field->type().get();
  if (type->id() == Type::EXTENSION) type = checked_cast<const arrow::ExtensionType&>(*type).storage_type().get();
  if (type->id() == Type::DICTIONARY) type = checked_cast<const arrow::DictionaryType&>(*type).value_type().get();
  return arrow::is_string(type->id()) || type->id() == Type::STRING_VIEW;
}

}  // namespace

Status CheckText(const ArrowNode& node, const arrow::ArrayData& array, const std::function<int64_t(int64_t)>& row_of) {
  if (!HoldsText(node)) return Status::OK();
  const MaybeFound found = FindBad(node, *arrow::MakeArray(array.Copy()));
  if (!found) return Status::OK();
  return Invalid("column '{}': row {}: text that is not UTF-8", found->path, row_of(found->slot));
}

}  // namespace calve::parquet
