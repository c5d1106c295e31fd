// Thrift compact protocol, what Parquet uses of it:
//
//   struct  := member* 0x00
//   member  := (delta << 4 | type) value          delta = id - the previous member's id, 1..15
//            | (0 << 4 | type) zigzag(id) value
//   list    := (size << 4 | type) value*           size < 15
//            | (0xf0 | type) varint(size) value*
//   binary  := varint(size) byte*
//   i16, i32, i64 := varint(zigzag(value));  i8 := byte;  a bool member has no value, its type says it

#include "calve/parquet/thrift_writer.h"

#include <array>

namespace calve::parquet {

void ThriftWriter::Member(int16_t id, Type type) {
  const int delta = id - last_id_;
  if (delta > 0 && delta < 16) {
    out_.push_back(static_cast<char>(delta << 4 | static_cast<int>(type)));
  } else {
    out_.push_back(static_cast<char>(type));
    ZigZag(id);
  }
  last_id_ = id;
}

void ThriftWriter::ListHeader(Type type, size_t size) {
  if (size < 15) {
    out_.push_back(static_cast<char>(size << 4 | static_cast<size_t>(type)));
  } else {
    out_.push_back(static_cast<char>(0xf0 | static_cast<int>(type)));
    Varint(size);
  }
}

void ThriftWriter::Varint(uint64_t value) {
  std::array<char, 10> bytes;
  size_t count = 0;
  for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<char>(value | 0x80);
  bytes[count++] = static_cast<char>(value);
  out_.append(bytes.data(), count);
}

}  // namespace calve::parquet
