// The bytes under the base64 are an IPC message, FF FF FF FF (absent in old files) and a size of 4 bytes before a
// flatbuffer:
//
//   Message   1 header_type (1: Schema)   2 header
//   Schema    1 fields
//   Field     2 type_type   3 type   4 dictionary   5 children   6 custom_metadata
//   Timestamp 1 timezone;   Decimal 2 bitWidth;   Map 0 keysSorted
//
// A flatbuffer begins with the offset of its root table. A table begins with the distance back to its vtable: its size,
// the table's size, and for each member where in the table it stands (0: absent), 2 bytes each. Offsets are of 4 bytes,
// relative to where they stand; a vector begins with its length, 4 bytes.

#include "calve/parquet/arrow_schema_peek.h"

#include <array>

namespace calve::parquet {
namespace {

constexpr int kMaxDepth = 32;

enum Type : uint8_t {
  kNull = 1,
  kInt = 2,
  kFloatingPoint = 3,
  kBinary = 4,
  kUtf8 = 5,
  kBool = 6,
  kDecimal = 7,
  kDate = 8,
  kTime = 9,
  kTimestamp = 10,
  kList = 12,
  kStruct = 13,
  kFixedSizeBinary = 15,
  kMap = 17
};

constexpr std::array<int8_t, 256> Base64Values() {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i) values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}

}  // namespace

ArrowSchemaPeek::ArrowSchemaPeek(std::string_view base64)
    : text_(base64), size_(base64.size() / 4 * 3), budget_(base64.size() / 16) {
  constexpr uint64_t kContinuation = 0xffffffff;
  origin_ = Number(0, 4) == kContinuation ? 8 : 4;
  const Table message = TableAt(origin_ + Number(origin_, 4));
  const auto header_type = Member(message, 1), header = Offset(message, 2);
  if (!ok_ || !header_type || !header || Byte(*header_type) != 1) {
    ok_ = false;
    return;
  }
  const auto fields = Offset(TableAt(*header), 1);
  if (!fields) {
    ok_ = false;
    return;
  }
  fields_count_ = Number(*fields, 4);
  fields_ = *fields + 4;
}

bool ArrowSchemaPeek::IsPlain(size_t i) {
  if (!ok_ || i >= fields_count_) return false;
  const uint64_t at = fields_ + 4 * uint64_t{i};
  return IsPlainField(TableAt(at + Number(at, 4)), 0) && ok_;
}

/// Three bytes stand in four characters, so that any byte can be had alone.
uint8_t ArrowSchemaPeek::Byte(uint64_t at) {
  static constexpr std::array<int8_t, 256> kValues = Base64Values();
  if (at >= size_) ok_ = false;
  if (!ok_) return 0;
  const size_t first = at / 3 * 4 + at % 3;
  const int high = kValues[static_cast<uint8_t>(text_[first])], low = kValues[static_cast<uint8_t>(text_[first + 1])];
  if (high < 0 || low < 0) ok_ = false;
  if (!ok_) return 0;
  const int shift = 2 * static_cast<int>(at % 3);
  return static_cast<uint8_t>(high << (2 + shift) | low >> (4 - shift));
}

uint64_t ArrowSchemaPeek::Number(uint64_t at, int size) {
  uint64_t value = 0;
  for (int i = 0; i < size; ++i) value |= uint64_t{Byte(at + static_cast<uint64_t>(i))} << (8 * i);
  return value;
}

ArrowSchemaPeek::Table ArrowSchemaPeek::TableAt(uint64_t at) {
  const auto back = static_cast<int32_t>(static_cast<uint32_t>(Number(at, 4)));
  const int64_t vtable = static_cast<int64_t>(at) - back;
  if (vtable < 0 || vtable > static_cast<int64_t>(size_)) ok_ = false;
  if (!ok_) return {};
  return {static_cast<uint32_t>(at), static_cast<uint32_t>(vtable),
          static_cast<uint32_t>(Number(static_cast<uint64_t>(vtable), 2))};
}

/// Where member `number` of a table stands; nothing when it is absent.
std::optional<uint64_t> ArrowSchemaPeek::Member(const Table& table, int number) {
  const uint32_t slot = 4 + 2 * static_cast<uint32_t>(number);
  if (!ok_ || slot + 2 > table.vtable_size) return std::nullopt;
  const uint64_t offset = Number(uint64_t{table.vtable} + slot, 2);
  if (offset == 0) return std::nullopt;
  return table.begin + offset;
}

/// What member `number` refers to.
std::optional<uint64_t> ArrowSchemaPeek::Offset(const Table& table, int number) {
  const auto member = Member(table, number);
  if (!member) return std::nullopt;
  return *member + Number(*member, 4);
}

bool ArrowSchemaPeek::IsPlainField(const Table& field, int depth) {
  if (budget_ == 0 || depth > kMaxDepth) ok_ = false;
  if (!ok_) return false;
  --budget_;
  const auto metadata = Offset(field, 6);
  if (metadata && Number(*metadata, 4) != 0) return false;
  return !Member(field, 4) && IsPlainType(field, depth);
}

bool ArrowSchemaPeek::IsPlainType(const Table& field, int depth) {
  const auto tag = Member(field, 2), type_offset = Offset(field, 3);
  if (!tag || !type_offset) return false;
  const Table type = TableAt(*type_offset);
  switch (Byte(*tag)) {
    case kNull:
    case kInt:
    case kFloatingPoint:
    case kBinary:
    case kUtf8:
    case kBool:
    case kDate:
    case kTime:
    case kFixedSizeBinary:
      return true;
    case kDecimal: {
      const auto width = Member(type, 2);
      return !width || Number(*width, 4) == 128;
    }
    case kTimestamp:
      return !Member(type, 1);
    case kMap: {
      const auto sorted = Member(type, 0);
      return (!sorted || Byte(*sorted) == 0) && HasPlainChildren(field, depth);
    }
    case kList:
    case kStruct:
      return HasPlainChildren(field, depth);
    default:
      return false;
  }
}

bool ArrowSchemaPeek::HasPlainChildren(const Table& field, int depth) {
  const auto children = Offset(field, 5);
  if (!children) return true;
  const uint64_t count = Number(*children, 4);
  for (uint64_t i = 0; i < count && ok_; ++i) {
    const uint64_t at = *children + 4 + 4 * i;
    if (!IsPlainField(TableAt(at + Number(at, 4)), depth + 1)) return false;
  }
  return ok_;
}

}  // namespace calve::parquet
