#include "calve/parquet/usual_chunk.h"

#include "calve/parquet/metadata.h"

#include <cstring>

// A field begins with (delta << 4 | type), where delta is added to the last field's id; see thrift_reader.cc for the
// types. In what follows a pointer is null once something was not as usual.
//
// Bounds are checked once for many members: a chunk is passed over only where kMostBytes are left, and no part of it
// may be longer than these allow.

namespace calve::parquet {
namespace {

constexpr uint8_t kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12;
constexpr uint8_t Field(int delta, uint8_t type) { return static_cast<uint8_t>(delta << 4 | type); }

constexpr ptrdiff_t kVarintBytes = 6;  ///< the longest that is usual
constexpr ptrdiff_t kTextBytes = 128;  ///< a byte for the length, which is less, and the text
constexpr int kFlatFields = 12;        ///< of a structure of plain members
constexpr int kListElements = 14;      ///< of a list, its short form
constexpr ptrdiff_t kFlatBytes = kFlatFields * (1 + kTextBytes + kListElements * kVarintBytes);
constexpr ptrdiff_t kMostBytes = 2 * kFlatBytes + kListElements * (kTextBytes + 8 + 1) + 32 * (1 + kVarintBytes) + 8;

/// One test after another: predicted, they let what follows begin, where a computed length would have to be waited for.
const uint8_t* Varint(const uint8_t* at) {
  if (at[0] < 0x80) return at + 1;
  if (at[1] < 0x80) return at + 2;
  if (at[2] < 0x80) return at + 3;
  if (at[3] < 0x80) return at + 4;
  if (at[4] < 0x80) return at + 5;
  if (at[5] < 0x80) return at + 6;
  return nullptr;
}

/// A varint that is in range for 32 bits whatever it is.
const uint8_t* ShortVarint(const uint8_t* at) {
  const uint8_t* behind = Varint(at);
  return behind == nullptr || behind - at > 4 ? nullptr : behind;
}

const uint8_t* Text(const uint8_t* at) { return *at < kTextBytes ? at + 1 + *at : nullptr; }

const uint8_t* Required(const uint8_t* at, uint8_t head) {
  if (at == nullptr || *at != head) return nullptr;
  return Varint(at + 1);
}

/// A list of numbers, or of text.
template <typename PassElement>
const uint8_t* List(const uint8_t* at, uint8_t type, size_t* count, PassElement&& pass) {
  const uint8_t head = *at++;
  *count = head >> 4;
  if ((head & 0x0f) != type || *count > kListElements) return nullptr;
  for (size_t i = 0; i < *count && at != nullptr; ++i) at = pass(at);
  return at;
}

/// The rest of a structure of numbers, texts and lists of numbers, none of which is checked when it is parsed.
const uint8_t* Flat(const uint8_t* at) {
  for (int i = 0; i < kFlatFields && at != nullptr; ++i) {
    const uint8_t head = *at++;
    if (head == 0) return at;
    if (head < 0x10) return nullptr;
    const uint8_t type = head & 0x0f;
    if (type == kI64) {
      at = Varint(at);
    } else if (type == kBinary) {
      at = Text(at);
    } else if (type == kList) {
      size_t count;
      at = List(at, kI64, &count, Varint);
    } else if (type == 0 || type > 2) {
      return nullptr;
    }
  }
  return nullptr;
}

/// PageEncodingStats: three numbers, each of one byte.
const uint8_t* EncodingStats(const uint8_t* at) {
  constexpr uint64_t kMask = 0xff80ff80ff80ff, kWanted = 0x00001500150015;
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return (word & kMask) == kWanted ? at + 7 : nullptr;
}

/// The members of ColumnMetaData up to data_page_offset (9).
const uint8_t* RequiredMembers(const uint8_t* at, size_t* structure_bytes) {
  // type (1): one of 0 to 7, by zigzag.
  if (at[0] != Field(1, kI32) || (at[1] & 1) != 0 || at[1] > 14 || at[2] != Field(1, kList)) return nullptr;
  size_t encodings = 0, parts = 0;
  at = List(at + 3, kI32, &encodings, ShortVarint);
  if (at == nullptr || *at != Field(1, kList)) return nullptr;
  at = List(at + 1, kBinary, &parts, Text);
  if (at == nullptr || at[0] != Field(1, kI32)) return nullptr;
  at = ShortVarint(at + 1);           // codec (4)
  at = Required(at, Field(1, kI64));  // num_values (5)
  at = Required(at, Field(1, kI64));  // total_uncompressed_size (6)
  at = Required(at, Field(1, kI64));  // total_compressed_size (7)
  *structure_bytes += encodings * sizeof(Encoding) + parts * sizeof(std::string);
  return Required(at, Field(2, kI64));
}

/// The members behind data_page_offset, whose id is 9.
const uint8_t* OptionalMembers(const uint8_t* at, size_t* structure_bytes) {
  int id = 9;
  bool has_flat = false;
  while (at != nullptr) {
    const uint8_t head = *at++;
    if (head == 0) return at;
    if (head < 0x10) return nullptr;
    id += head >> 4;
    switch (static_cast<uint32_t>(id) << 4 | (head & 0x0f)) {
      case 10 << 4 | kI64:
      case 11 << 4 | kI64:
      case 14 << 4 | kI64:
        at = Varint(at);
        break;
      case 15 << 4 | kI32:
        at = ShortVarint(at);
        break;
      case 12 << 4 | kStruct:
        at = Flat(at);
        break;
      case 13 << 4 | kList: {
        size_t count;
        at = List(at, kStruct, &count, EncodingStats);
        *structure_bytes += count * sizeof(PageEncodingStats);
        break;
      }
      case 16 << 4 | kStruct:
        at = has_flat ? nullptr : Flat(at);
        has_flat = true;
        break;
      default:
        return nullptr;
    }
  }
  return nullptr;
}

}  // namespace

const uint8_t* PassUsualChunk(const uint8_t* at, const uint8_t* end, size_t* structure_bytes) {
  if (end - at < kMostBytes) return nullptr;
  *structure_bytes = sizeof(ColumnChunk);
  // file_offset (2), then meta_data (3).
  if (at[0] != Field(2, kI64)) return nullptr;
  at = Varint(at + 1);
  if (at == nullptr || at[0] != Field(1, kStruct)) return nullptr;
  at = RequiredMembers(at + 1, structure_bytes);
  if (at != nullptr) at = OptionalMembers(at, structure_bytes);
  // offset_index_offset (4), offset_index_length, column_index_offset, column_index_length.
  for (const uint8_t type : {kI64, kI32, kI64, kI32}) {
    if (at == nullptr || *at != Field(1, type)) break;
    at = type == kI32 ? ShortVarint(at + 1) : Varint(at + 1);
  }
  return at != nullptr && *at == 0 ? at + 1 : nullptr;
}

}  // namespace calve::parquet
