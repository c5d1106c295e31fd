#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace calve::parquet {

/// Writes one structure in Thrift's compact protocol. Members are written in the order of their ids; nested structures
/// and lists are written by the functions passed in.
class ThriftWriter {
 public:
  enum class Type : uint8_t {
    kTrue = 1,
    kFalse = 2,
    kI8 = 3,
    kI16 = 4,
    kI32 = 5,
    kI64 = 6,
    kBinary = 8,
    kList = 9,
    kStruct = 12
  };

  /// `expected_bytes`: room to begin with.
  explicit ThriftWriter(size_t expected_bytes = 64) { out_.reserve(expected_bytes); }

  void Bool(int16_t id, bool value) { Member(id, value ? Type::kTrue : Type::kFalse); }
  void I8(int16_t id, int8_t value) {
    Member(id, Type::kI8);
    out_.push_back(static_cast<char>(value));
  }
  void I16(int16_t id, int16_t value) {
    Member(id, Type::kI16);
    ZigZag(value);
  }
  void I32(int16_t id, int32_t value) {
    Member(id, Type::kI32);
    ZigZag(value);
  }
  void I64(int16_t id, int64_t value) {
    Member(id, Type::kI64);
    ZigZag(value);
  }
  void Binary(int16_t id, std::string_view value) {
    Member(id, Type::kBinary);
    BinaryElement(value);
  }
  /// `body()` writes the members.
  template <typename Body>
  void Struct(int16_t id, Body&& body) {
    Member(id, Type::kStruct);
    StructElement(body);
  }
  /// `element(e)` writes one element, by one of the functions below.
  template <typename Elements, typename Element>
  void List(int16_t id, Type type, const Elements& elements, Element&& element) {
    Member(id, Type::kList);
    ListHeader(type, elements.size());
    for (const auto& e : elements) element(e);
  }

  void BoolElement(bool value) { out_.push_back(static_cast<char>(value ? Type::kTrue : Type::kFalse)); }
  void I32Element(int32_t value) { ZigZag(value); }
  void I64Element(int64_t value) { ZigZag(value); }
  void BinaryElement(std::string_view value) {
    Varint(value.size());
    out_.append(value);
  }
  template <typename Body>
  void StructElement(Body&& body) {
    const int16_t outer = last_id_;
    last_id_ = 0;
    body();
    out_.push_back(0);
    last_id_ = outer;
  }

  /// Ends the outermost structure.
  std::string Finish() {
    out_.push_back(0);
    return std::move(out_);
  }

 private:
  void Member(int16_t id, Type type);
  void ListHeader(Type type, size_t size);
  void Varint(uint64_t value);
  void ZigZag(int64_t value) { Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63)); }

  std::string out_;
  int16_t last_id_ = 0;
};

}  // namespace calve::parquet
