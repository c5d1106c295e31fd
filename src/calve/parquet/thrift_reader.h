#pragma once

#include "calve/base/byte_cursor.h"

#include <arrow/status.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace calve::parquet {

/// The wire types of Thrift's compact protocol.
enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13
};

std::string_view ToString(ThriftType type);

/// Reads Thrift's compact protocol from a span, never outside it.
///
/// Failure is sticky: the first one is kept with the structure, the member and the byte offset it happened at, and
/// everything read afterwards is empty. Nesting is limited, and no list is believed to hold more elements than bytes
/// that are left.
class ThriftReader {
 public:
  explicit ThriftReader(std::span<const uint8_t> bytes) : cursor_(bytes) {}

  struct Field {
    int16_t id = 0;
    ThriftType type = ThriftType::kStop;
  };

  /// Ids below 64 that a structure had.
  class Seen {
   public:
    void Add(int16_t id) {
      if (id >= 0 && id < 64) bits_ |= uint64_t{1} << id;
    }
    bool Has(int16_t id) const { return (bits_ >> id & 1) != 0; }

   private:
    uint64_t bits_ = 0;
  };

  bool ok() const { return cursor_.ok() && error_.empty(); }
  size_t offset() const { return cursor_.offset(); }
  /// True when the failure is that the bytes ended.
  bool cut_short() const { return !cursor_.ok() && error_.empty(); }
  /// OK, or Invalid with what failed where.
  arrow::Status status() const;
  /// Records a failure of the member being read.
  void Fail(std::string message);

  /// Calls `member(field)` for each field of the structure called `name`; members that it returns false for are
  /// skipped, and do not count as seen. Names, here and below, live as long as the reader.
  template <typename Member>
  Seen Struct(const char* name, Member&& member) {
    Seen seen;
    const char* outer = structure_;
    if (!Enter(name)) return seen;
    Field field;
    while (NextField(&field)) {
      member_ = nullptr;
      if (member(field)) {
        seen.Add(field.id);
      } else {
        Skip(field.type);
      }
    }
    Leave(outer);
    return seen;
  }

  /// Fails when the structure `structure` was without its required member.
  void Require(const Seen& seen, int16_t id, const char* structure, const char* member);

  // Members of a structure; `name` is for messages. They return false, and read nothing, when the wire type is another
  // one: as Thrift has it, such a member is one that this reader does not know.
  bool Read(Field field, const char* name, bool* out);
  bool Read(Field field, const char* name, std::string* out);
  template <typename T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  bool Read(Field field, const char* name, T* out) {
    int64_t value = 0;
    if (!Integer(field, name, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), &value)) return false;
    *out = static_cast<T>(value);
    return true;
  }
  template <typename T>
  bool Read(Field field, const char* name, std::optional<T>* out) {
    T value{};
    if (!Read(field, name, &value)) return false;
    if (ok()) *out = std::move(value);
    return true;
  }
  /// An enumeration's number, not checked to be one of its members.
  template <typename T>
    requires(std::is_enum_v<T>)
  bool Read(Field field, const char* name, T* out) {
    int32_t value = 0;
    if (!Read(field, name, &value)) return false;
    *out = static_cast<T>(value);
    return true;
  }
  /// A nested structure; `read()` reads it.
  template <typename ReadElement>
  bool ReadStruct(Field field, const char* name, ReadElement&& read) {
    if (!Is(field, name, ThriftType::kStruct)) return false;
    read();
    return true;
  }
  /// A list: calls `read(element_field)` for each element, until one fails. An element that it returns false for is a
  /// failure.
  template <typename ReadElement>
  bool ReadList(Field field, const char* name, ReadElement&& read) {
    if (!Is(field, name, ThriftType::kList) && !Is(field, name, ThriftType::kSet)) return false;
    ThriftType element = ThriftType::kStop;
    const uint32_t count = ListHeader(&element);
    for (uint32_t i = 0; i < count && ok(); ++i) {
      member_ = name;
      if (!read(Field{0, ElementType(element)})) FailElement(element);
    }
    return true;
  }

  void Skip(ThriftType type);

  static constexpr int kMaxDepth = 64;

 private:
  bool Enter(const char* name);
  void Leave(const char* outer);
  bool NextField(Field* field);
  bool Is(Field field, const char* name, ThriftType type);
  bool Integer(Field field, const char* name, int64_t min, int64_t max, int64_t* out);
  uint32_t ListHeader(ThriftType* element);
  void FailElement(ThriftType type);
  /// The type of the next element: a boolean element's byte is its value.
  ThriftType ElementType(ThriftType declared);
  void SkipList();
  void SkipMap();

  ByteCursor cursor_;
  const char* structure_ = "";
  const char* member_ = nullptr;
  int depth_ = 0;
  std::vector<int16_t> last_ids_;
  std::string error_;
};

}  // namespace calve::parquet
