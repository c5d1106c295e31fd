// metadata: header, dictionary_size, dictionary_size + 1 offsets, the names
//   header: version (4 bits), sorted_strings (1), reserved (1), offset_size - 1 (2)
// value: a byte of basic type (2 bits) and header (6), then
//   0 primitive     the header is the type's number
//   1 short string  the header is the length
//   2 object        num_elements, field ids, num_elements + 1 offsets, values
//                   header: offset_size - 1 (2 bits), id_size - 1 (2), is_large (1)
//   3 array         num_elements, num_elements + 1 offsets, values
//                   header: offset_size - 1 (2 bits), is_large (1)
// num_elements takes 4 bytes when is_large, else 1. All numbers are little-endian. The values of an object may lie in
// any order, so that a field's value ends where its own encoding says.

#include "calve/parquet/variant_value.h"

#include "calve/parquet/utf8.h"

#include "calve/base/byte_cursor.h"
#include "calve/base/status.h"

#include <algorithm>
#include <array>
#include <utility>

namespace calve::parquet {
namespace {

constexpr uint8_t kPrimitive = 0, kShortString = 1, kObject = 2, kArray = 3;
constexpr size_t kLongestShortString = 63;
constexpr int kMaxScale = 38;

uint64_t Number(std::string_view bytes, size_t at, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

void AppendNumber(uint64_t value, int size, std::string* out) {
  for (int i = 0; i < size; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

/// The fewest bytes that hold `value`.
int NumberSize(uint64_t value) {
  int size = 1;
  while (size < 4 && value >> (8 * size) != 0) ++size;
  return size;
}

uint8_t BasicType(std::string_view value) { return static_cast<uint8_t>(value[0]) & 3; }
uint8_t Header(std::string_view value) { return static_cast<uint8_t>(value[0]) >> 2; }

/// How many bytes follow a primitive's header; -1: a size of 4 bytes, then as many. -2: no such type.
int PrimitiveSize(uint8_t type) {
  constexpr std::array<int8_t, 21> kSizes = {0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, -1, -1, 8, 8, 8, 16};
  return type < kSizes.size() ? kSizes[type] : -2;
}

/// Where the parts of an encoded object or array lie.
struct Container {
  uint64_t count = 0;
  int id_size = 0;  ///< 0: an array
  int offset_size = 1;
  std::string_view ids, offsets, values;  ///< values: as many bytes as the last offset says
  size_t size_bytes = 0;                  ///< of the whole value

  static Result<Container> Parse(std::string_view value) {
    Container result;
    const bool is_object = BasicType(value) == kObject;
    const uint8_t header = Header(value);
    result.offset_size = (header & 3) + 1;
    result.id_size = is_object ? ((header >> 2) & 3) + 1 : 0;
    const bool is_large = (header >> (is_object ? 4 : 2) & 1) != 0;
    ByteCursor cursor(value);
    cursor.Skip(1);
    result.count = is_large ? cursor.Little<uint32_t>() : cursor.Little<uint8_t>();
    result.ids = cursor.Text(result.count * static_cast<uint64_t>(result.id_size));
    result.offsets = cursor.Text((result.count + 1) * static_cast<uint64_t>(result.offset_size));
    if (cursor.ok()) result.values = cursor.Text(result.Offset(result.count));
    if (!cursor.ok()) {
      return Invalid("a variant {} of {} values is cut short after {} bytes", is_object ? "object" : "array",
                     result.count, value.size());
    }
    result.size_bytes = cursor.offset();
    return result;
  }

  uint64_t Offset(uint64_t i) const { return Number(offsets, i * static_cast<uint64_t>(offset_size), offset_size); }
  uint32_t Id(uint64_t i) const {
    return static_cast<uint32_t>(Number(ids, i * static_cast<uint64_t>(id_size), id_size));
  }
  /// From where value `i` begins to the end of all.
  Result<std::string_view> From(uint64_t i) const {
    const uint64_t offset = Offset(i);
    if (offset >= values.size()) {
      return Invalid("variant value {} begins at byte {} of {}", i, offset, values.size());
    }
    return values.substr(offset);
  }
};

/// How many bytes of `bytes` the value that begins them takes, by its own header.
Result<size_t> ValueSize(std::string_view bytes) {
  if (bytes.empty()) return Invalid("a variant value of no bytes");
  uint64_t size = 1;
  switch (BasicType(bytes)) {
    case kPrimitive: {
      const int fixed = PrimitiveSize(Header(bytes));
      if (fixed == -2) return NotImplemented("variant primitive type {}", Header(bytes));
      if (fixed == -1 && bytes.size() < 5) return Invalid("a variant value is cut short after {} bytes", bytes.size());
      size += fixed == -1 ? 4 + Number(bytes, 1, 4) : static_cast<uint64_t>(fixed);
      break;
    }
    case kShortString:
      size += Header(bytes);
      break;
    default: {
      ARROW_ASSIGN_OR_RAISE(const Container container, Container::Parse(bytes));
      size = container.size_bytes;
    }
  }
  if (size > bytes.size()) return Invalid("a variant value of {} bytes is cut short after {}", size, bytes.size());
  return size;
}

Result<std::string_view> FirstValue(std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(const size_t size, ValueSize(bytes));
  return bytes.substr(0, size);
}

Status CheckUtf8(std::string_view text) {
  return IsUtf8(text) ? Status::OK() : Invalid("a variant string of {} bytes is not UTF-8", text.size());
}

Status CheckPrimitive(std::string_view value) {
  const auto type = static_cast<VariantPrimitive>(Header(value));
  if (type == VariantPrimitive::kString) return CheckUtf8(value.substr(5));
  const bool is_decimal = type == VariantPrimitive::kDecimal4 || type == VariantPrimitive::kDecimal8 ||
                          type == VariantPrimitive::kDecimal16;
  if (is_decimal && static_cast<uint8_t>(value[1]) > kMaxScale) {
    return Invalid("a variant decimal of scale {}", static_cast<uint8_t>(value[1]));
  }
  return Status::OK();
}

/// Checks one value and what is inside it. The values of a container take no more bytes together than it has for them:
/// they could otherwise share bytes, and those inside them again, so that a few bytes would stand for very many values.
class Checker {
 public:
  explicit Checker(const VariantMetadata& metadata) : metadata_(metadata) {}

  Status Check(std::string_view value, int depth) {
    ARROW_ASSIGN_OR_RAISE(const size_t size, ValueSize(value));
    if (size != value.size()) return Invalid("a variant value of {} bytes in {} bytes", size, value.size());
    if (depth > kMaxVariantDepth) return Invalid("a variant value is nested deeper than {} levels", kMaxVariantDepth);
    switch (BasicType(value)) {
      case kPrimitive:
        return CheckPrimitive(value);
      case kShortString:
        return CheckUtf8(value.substr(1));
      case kObject:
        return CheckObject(value, depth);
      default:
        return CheckArray(value, depth);
    }
  }

 private:
  Status CheckObject(std::string_view value, int depth) {
    ARROW_ASSIGN_OR_RAISE(const auto fields, VariantFields(metadata_, value));
    ARROW_ASSIGN_OR_RAISE(size_t bytes_left, BytesOfValues(value));
    bool sorted = true;
    for (size_t i = 0; i < fields.size(); ++i) {
      ARROW_RETURN_NOT_OK(CheckInside(fields[i].value, depth, &bytes_left));
      sorted &= i == 0 || metadata_.name(fields[i - 1].id) < metadata_.name(fields[i].id);
    }
    // Names in order are told apart on the way; writers that order them otherwise pay for a sort.
    if (sorted) return Status::OK();
    std::vector<std::string_view> names;
    for (const VariantField& field : fields) names.push_back(metadata_.name(field.id));
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return Invalid("a variant object has two fields '{}'", *twice);
    return Status::OK();
  }

  Status CheckArray(std::string_view value, int depth) {
    ARROW_ASSIGN_OR_RAISE(const auto elements, VariantElements(value));
    ARROW_ASSIGN_OR_RAISE(size_t bytes_left, BytesOfValues(value));
    for (std::string_view element : elements) ARROW_RETURN_NOT_OK(CheckInside(element, depth, &bytes_left));
    return Status::OK();
  }

  static Result<size_t> BytesOfValues(std::string_view container) {
    ARROW_ASSIGN_OR_RAISE(const Container parsed, Container::Parse(container));
    return parsed.values.size();
  }

  Status CheckInside(std::string_view value, int depth, size_t* bytes_left) {
    if (value.size() > *bytes_left) return Invalid("variant values overlap");
    *bytes_left -= value.size();
    return Check(value, depth + 1);
  }

  const VariantMetadata& metadata_;
};

/// Bytes of the values of a container, laid one after another.
template <typename Values>
uint64_t TotalBytes(const Values& values) {
  uint64_t total = 0;
  for (std::string_view value : values) total += value.size();
  return total;
}

template <typename Values>
void AppendOffsetsAndValues(const Values& values, int offset_size, std::string* out) {
  uint64_t offset = 0;
  for (std::string_view value : values) {
    AppendNumber(offset, offset_size, out);
    offset += value.size();
  }
  AppendNumber(offset, offset_size, out);
  for (std::string_view value : values) out->append(value);
}

}  // namespace

Result<VariantMetadata> VariantMetadata::Parse(std::string_view bytes) {
  constexpr uint8_t kVersion = 1;
  ByteCursor cursor(bytes);
  const auto header = cursor.Little<uint8_t>();
  if (!cursor.ok()) return Invalid("variant metadata of no bytes");
  if ((header & 0xf) != kVersion) return Invalid("variant metadata of version {} (expected 1)", header & 0xf);
  VariantMetadata result;
  result.offset_size_ = (header >> 6) + 1;
  const auto size = cursor.Text(static_cast<size_t>(result.offset_size_));
  if (cursor.ok()) result.size_ = static_cast<uint32_t>(Number(size, 0, result.offset_size_));
  // Some writers leave out the one offset of an empty dictionary.
  if (cursor.ok() && cursor.at_end() && result.size_ == 0) return result;
  result.offsets_ = cursor.Text((uint64_t{result.size_} + 1) * static_cast<uint64_t>(result.offset_size_));
  result.names_ = cursor.Text(cursor.remaining());
  if (!cursor.ok()) {
    return Invalid("variant metadata of {} names is cut short after {} bytes", result.size_, bytes.size());
  }
  for (uint32_t i = 0; i < result.size_; ++i) {
    const uint64_t begin = result.Offset(i), end = result.Offset(i + 1);
    if ((i == 0 && begin != 0) || begin > end || end > result.names_.size()) {
      return Invalid("variant metadata: name {} lies at bytes {} to {} of {}", i, begin, end, result.names_.size());
    }
    ARROW_RETURN_NOT_OK(WithContext(CheckUtf8(result.name(i)), "variant metadata"));
  }
  if (result.Offset(result.size_) != result.names_.size()) {
    return Invalid("variant metadata: the names take {} bytes, expected {}", result.names_.size(),
                   result.Offset(result.size_));
  }
  return result;
}

uint64_t VariantMetadata::Offset(uint32_t i) const {
  return Number(offsets_, uint64_t{i} * static_cast<uint64_t>(offset_size_), offset_size_);
}

std::string_view VariantMetadata::name(uint32_t id) const {
  return names_.substr(Offset(id), Offset(id + 1) - Offset(id));
}

std::optional<uint32_t> VariantMetadata::Find(std::string_view name) const {
  if (ids_.empty()) {
    for (uint32_t id = 0; id < size_; ++id) ids_.emplace(this->name(id), id);
  }
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool IsVariantObject(std::string_view value) { return !value.empty() && BasicType(value) == kObject; }

Result<std::vector<VariantField>> VariantFields(const VariantMetadata& metadata, std::string_view object) {
  if (!IsVariantObject(object)) return Invalid("a variant value is no object");
  ARROW_ASSIGN_OR_RAISE(const Container container, Container::Parse(object));
  std::vector<VariantField> fields;
  for (uint64_t i = 0; i < container.count; ++i) {
    VariantField field;
    field.id = container.Id(i);
    if (field.id >= metadata.size()) {
      return Invalid("variant field id {} out of range (the metadata has {} names)", field.id, metadata.size());
    }
    ARROW_ASSIGN_OR_RAISE(const std::string_view rest, container.From(i));
    ARROW_ASSIGN_OR_RAISE(field.value, FirstValue(rest));
    fields.push_back(field);
  }
  return fields;
}

Result<std::vector<std::string_view>> VariantElements(std::string_view array) {
  if (array.empty() || BasicType(array) != kArray) return Invalid("a variant value is no array");
  ARROW_ASSIGN_OR_RAISE(const Container container, Container::Parse(array));
  std::vector<std::string_view> elements;
  for (uint64_t i = 0; i < container.count; ++i) {
    ARROW_ASSIGN_OR_RAISE(const std::string_view rest, container.From(i));
    ARROW_ASSIGN_OR_RAISE(const std::string_view element, FirstValue(rest));
    elements.push_back(element);
  }
  return elements;
}

Status CheckVariantValue(const VariantMetadata& metadata, std::string_view value) {
  return Checker(metadata).Check(value, 0);
}

void AppendVariantPrimitive(VariantPrimitive type, std::string_view bytes, std::string* out) {
  out->push_back(static_cast<char>(static_cast<int>(type) << 2));
  out->append(bytes);
}

void AppendVariantString(std::string_view text, std::string* out) {
  if (text.size() <= kLongestShortString) {
    out->push_back(static_cast<char>(text.size() << 2 | kShortString));
  } else {
    AppendVariantPrimitive(VariantPrimitive::kString, {}, out);
    AppendNumber(text.size(), 4, out);
  }
  out->append(text);
}

void AppendVariantBinary(std::string_view bytes, std::string* out) {
  AppendVariantPrimitive(VariantPrimitive::kBinary, {}, out);
  AppendNumber(bytes.size(), 4, out);
  out->append(bytes);
}

Status AppendVariantObject(const VariantMetadata& metadata, std::vector<VariantField> fields, std::string* out) {
  const auto name = [&](const VariantField& field) { return metadata.name(field.id); };
  std::sort(fields.begin(), fields.end(), [&](const auto& a, const auto& b) { return name(a) < name(b); });
  uint32_t largest_id = 0;
  std::vector<std::string_view> values;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0 && name(fields[i - 1]) == name(fields[i])) {
      return Invalid("a variant object has two fields '{}'", name(fields[i]));
    }
    largest_id = std::max(largest_id, fields[i].id);
    values.push_back(fields[i].value);
  }
  const int id_size = NumberSize(largest_id), offset_size = NumberSize(TotalBytes(values));
  const bool is_large = fields.size() > 255;
  const int header = (is_large ? 1 : 0) << 4 | (id_size - 1) << 2 | (offset_size - 1);
  out->push_back(static_cast<char>(header << 2 | kObject));
  AppendNumber(fields.size(), is_large ? 4 : 1, out);
  for (const VariantField& field : fields) AppendNumber(field.id, id_size, out);
  AppendOffsetsAndValues(values, offset_size, out);
  return Status::OK();
}

void AppendVariantArray(std::span<const std::string_view> elements, std::string* out) {
  const int offset_size = NumberSize(TotalBytes(elements));
  const bool is_large = elements.size() > 255;
  const int header = (is_large ? 1 : 0) << 2 | (offset_size - 1);
  out->push_back(static_cast<char>(header << 2 | kArray));
  AppendNumber(elements.size(), is_large ? 4 : 1, out);
  AppendOffsetsAndValues(elements, offset_size, out);
}

}  // namespace calve::parquet
