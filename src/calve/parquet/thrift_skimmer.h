#pragma once

#include "calve/parquet/thrift_reader.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace calve::parquet {

/// Passes over Thrift's compact protocol without making anything of it: for finding where structures begin, and for
/// checking that they could be read.
///
/// It takes and refuses exactly what ThriftReader does with the same members (a member of another wire type is one
/// that the reader does not know), but keeps no message. After a failure ok() is false and nothing is left to pass
/// over.
class ThriftSkimmer {
 public:
  explicit ThriftSkimmer(std::span<const uint8_t> bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  /// A span of the bytes.
  struct Text {
    uint32_t begin = 0, size = 0;
  };

  bool ok() const { return ok_; }
  uint32_t offset() const { return static_cast<uint32_t>(at_ - begin_); }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  const uint8_t* at() const { return at_; }
  const uint8_t* end() const { return end_; }
  /// Goes on at `at`, which lies ahead.
  void MoveTo(const uint8_t* at) { at_ = at; }

  /// Passes over these bytes, if they are what comes.
  bool PassBytes(std::span<const uint8_t> bytes) {
    if (remaining() < bytes.size() || std::memcmp(at_, bytes.data(), bytes.size()) != 0) return false;
    at_ += bytes.size();
    return true;
  }

  /// Calls `member(id, type)` for each field of the structure; what it returns false for is skipped. Returns the ids
  /// below 32 that it returned true for, as bits. `depth`: of the structure, 1 for the outermost.
  template <typename Member>
  uint32_t Struct(int depth, Member&& member) {
    uint32_t seen = 0;
    int64_t id = 0;
    while (at_ != end_) {
      const uint8_t head = *at_++;
      if (head == 0) return seen;
      const auto type = static_cast<ThriftType>(head & 0x0f);
      if (type == ThriftType::kStop || type > ThriftType::kUuid) break;
      id = (head >> 4) != 0 ? id + (head >> 4) : ZigZag();
      if (id < std::numeric_limits<int16_t>::min() || id > std::numeric_limits<int16_t>::max()) break;
      if (member(static_cast<int>(id), type)) {
        if (id >= 0 && id < 32) seen |= uint32_t{1} << id;
      } else {
        Skip(type, depth);
      }
    }
    Fail();
    return 0;
  }

  /// The members, as ThriftReader::Read has them: false, and nothing passed over, for another wire type.
  template <typename T>
  bool Integer(ThriftType type) {
    if (IsVarint(type)) {
      const uint8_t* from = at_;
      SkipVarint();
      // An integer of n bits takes no more than n / 7 whole bytes before one that may be too many.
      if (sizeof(T) < 8 && at_ - from > static_cast<ptrdiff_t>(sizeof(T) * 8 / 7)) CheckRange<T>(from);
      return true;
    }
    if (type != ThriftType::kByte) return false;
    SkipBytes(1);
    return true;
  }
  template <typename T>
  bool Integer(ThriftType type, T* out) {
    if (!IsVarint(type) && type != ThriftType::kByte) return false;
    const int64_t value = type == ThriftType::kByte ? static_cast<int8_t>(Byte()) : ZigZag();
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) Fail();
    *out = static_cast<T>(value);
    return true;
  }
  /// An enumeration whose members are 0 to `last`.
  bool Enum(ThriftType type, int32_t last, int32_t* out) {
    if (!Integer(type, out)) return false;
    if (*out < 0 || *out > last) Fail();
    return true;
  }
  bool Bool(ThriftType type) const { return type == ThriftType::kTrue || type == ThriftType::kFalse; }
  bool Binary(ThriftType type, Text* out) {
    if (type != ThriftType::kBinary) return false;
    const uint64_t size = Varint();
    *out = {offset(), static_cast<uint32_t>(size)};
    SkipBytes(size);
    return true;
  }
  bool Binary(ThriftType type) {
    Text text;
    return Binary(type, &text);
  }
  /// A list: calls `begin(count)`, with what it says to have, and `element(type)` for each; one that it returns false
  /// for is a failure.
  template <typename Element, typename Begin>
  bool List(ThriftType type, Element&& element, Begin&& begin) {
    if (type != ThriftType::kList && type != ThriftType::kSet) return false;
    ThriftType of = ThriftType::kStop;
    uint32_t left = ListHeader(&of);
    begin(size_t{left});
    for (; left > 0 && at_ != end_; --left) {
      if (!element(ElementType(of))) Fail();
    }
    return true;
  }
  template <typename Element>
  bool List(ThriftType type, Element&& element) {
    return List(type, element, [](size_t) {});
  }
  /// A list of structures: `read()` passes over one.
  template <typename ReadElement, typename Begin>
  bool Structs(ThriftType type, ReadElement&& read, Begin&& begin) {
    const auto one = [&](ThriftType element) {
      if (element != ThriftType::kStruct) return false;
      read();
      return true;
    };
    return List(type, one, begin);
  }
  template <typename ReadElement>
  bool Structs(ThriftType type, ReadElement&& read) {
    return Structs(type, read, [](size_t) {});
  }

  /// A value of any type in a structure of depth `depth`.
  void Skip(ThriftType type, int depth) {
    switch (type) {
      case ThriftType::kTrue:
      case ThriftType::kFalse:
        return;
      case ThriftType::kByte:
        return SkipBytes(1);
      case ThriftType::kI16:
      case ThriftType::kI32:
      case ThriftType::kI64:
        return SkipVarint();
      case ThriftType::kDouble:
        return SkipBytes(8);
      case ThriftType::kBinary:
        return SkipBytes(Varint());
      case ThriftType::kUuid:
        return SkipBytes(16);
      default:
        return SkipNested(type, depth);
    }
  }

 private:
  static bool IsVarint(ThriftType type) {
    return static_cast<unsigned>(type) - static_cast<unsigned>(ThriftType::kI16) < 3;
  }

  uint8_t Byte() {
    if (at_ != end_) return *at_++;
    Fail();
    return 0;
  }

  void SkipBytes(uint64_t size) {
    if (size > remaining()) return Fail();
    at_ += size;
  }

  void SkipVarint() {
    if (remaining() >= 8) {
      uint64_t word;
      std::memcpy(&word, at_, sizeof(word));
      const uint64_t ends = ~word & 0x8080808080808080u;
      if (ends != 0) {
        at_ += (std::countr_zero(ends) >> 3) + 1;
        return;
      }
    }
    LongVarint();
  }

  uint64_t Varint() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return LongVarint();
  }

  int64_t ZigZag() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }

  template <typename T>
  void CheckRange(const uint8_t* from) {
    if (!ok_) return;
    ThriftSkimmer again({from, at_});
    const int64_t value = again.ZigZag();
    if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) Fail();
  }

  uint32_t ListHeader(ThriftType* element) {
    const uint8_t head = Byte();
    *element = static_cast<ThriftType>(head & 0x0f);
    const uint64_t count = (head >> 4) == 15 ? Varint() : head >> 4;
    if (ok_ && count <= remaining()) return static_cast<uint32_t>(count);
    Fail();
    return 0;
  }

  ThriftType ElementType(ThriftType declared) {
    if (declared != ThriftType::kTrue && declared != ThriftType::kFalse) return declared;
    return Byte() == 1 ? ThriftType::kTrue : ThriftType::kFalse;
  }

  void SkipNested(ThriftType type, int depth);
  uint64_t LongVarint();

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace calve::parquet
