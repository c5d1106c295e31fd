#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace calve::parquet {

using arrow::Result;
using arrow::Status;

/// Values nested deeper are refused.
constexpr int kMaxVariantDepth = 128;

/// The names of a variant's fields ("Metadata encoding" of VariantEncoding). Not owning: the bytes outlive it.
class VariantMetadata {
 public:
  /// Invalid when the bytes are cut short, contradict themselves, or are of another version than 1.
  static Result<VariantMetadata> Parse(std::string_view bytes);

  uint32_t size() const { return size_; }
  /// `id` is less than size().
  std::string_view name(uint32_t id) const;
  /// The id of a field's name; nothing when it is not among them.
  std::optional<uint32_t> Find(std::string_view name) const;

 private:
  uint64_t Offset(uint32_t i) const;

  int offset_size_ = 1;
  uint32_t size_ = 0;
  std::string_view offsets_, names_;
  mutable std::unordered_map<std::string_view, uint32_t> ids_;  ///< made when it is first asked for
};

/// The numbers of the primitive types ("Encoding types").
enum class VariantPrimitive {
  kNull = 0,
  kTrue = 1,
  kFalse = 2,
  kInt8 = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kDecimal4 = 8,
  kDecimal8 = 9,
  kDecimal16 = 10,
  kDate = 11,
  kTimestamp = 12,
  kTimestampNtz = 13,
  kFloat = 14,
  kBinary = 15,
  kString = 16,
  kTimeNtz = 17,
  kTimestampNanos = 18,
  kTimestampNtzNanos = 19,
  kUuid = 20
};

/// A field of an object: the id of its name, and its encoded value.
struct VariantField {
  uint32_t id = 0;
  std::string_view value;
};

/// True when an encoded value is an object.
bool IsVariantObject(std::string_view value);

/// The fields of an encoded object, in its order. Invalid when it is cut short or contradicts itself; the values
/// themselves are not looked into.
Result<std::vector<VariantField>> VariantFields(const VariantMetadata& metadata, std::string_view object);

/// The elements of an encoded array; as VariantFields.
Result<std::vector<std::string_view>> VariantElements(std::string_view array);

/// Checks an encoded value to the bottom: it fills its bytes, every offset and field id is in range, strings are UTF-8,
/// no object has two fields of one name, types are known, and the nesting is no deeper than kMaxVariantDepth.
Status CheckVariantValue(const VariantMetadata& metadata, std::string_view value);

/// Appends a primitive: its header, and the little-endian bytes that the type has.
void AppendVariantPrimitive(VariantPrimitive type, std::string_view bytes, std::string* out);
/// Appends text, in the short form when it fits.
void AppendVariantString(std::string_view text, std::string* out);
void AppendVariantBinary(std::string_view bytes, std::string* out);
/// Appends an object of `fields`, which it sorts by their names. Invalid when a name stands twice.
Status AppendVariantObject(const VariantMetadata& metadata, std::vector<VariantField> fields, std::string* out);
void AppendVariantArray(std::span<const std::string_view> elements, std::string* out);

}  // namespace calve::parquet
