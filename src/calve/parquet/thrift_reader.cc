#include "calve/parquet/thrift_reader.h"

#include "calve/base/status.h"

// The compact protocol, as far as parquet.thrift needs it:
//
//   struct  := field* 0x00
//   field   := (delta << 4 | type) value          delta 1..15 is added to the last id
//            | type zigzag(id) value              delta 0
//   bool    := nothing; the type is 1 (true) or 2 (false). In a list: one byte
//   byte    := one byte
//   integer := zigzag varint
//   double  := 8 bytes, little-endian
//   binary  := varint(size) bytes
//   list    := (size << 4 | type) element*        size 0..14
//            | 0xf0 | type, varint(size) element*
//   map     := 0x00 | varint(size) (key type << 4 | value type) (key value)*

namespace calve::parquet {

std::string_view ToString(ThriftType type) {
  switch (type) {
    case ThriftType::kStop:
      return "stop";
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return "bool";
    case ThriftType::kByte:
      return "byte";
    case ThriftType::kI16:
      return "i16";
    case ThriftType::kI32:
      return "i32";
    case ThriftType::kI64:
      return "i64";
    case ThriftType::kDouble:
      return "double";
    case ThriftType::kBinary:
      return "binary";
    case ThriftType::kList:
      return "list";
    case ThriftType::kSet:
      return "set";
    case ThriftType::kMap:
      return "map";
    case ThriftType::kStruct:
      return "struct";
    case ThriftType::kUuid:
      return "uuid";
  }
  return "unknown type";
}

arrow::Status ThriftReader::status() const {
  if (ok()) return arrow::Status::OK();
  if (!error_.empty()) return Invalid("{}", error_);
  return Invalid("{}{}{} at byte {}: the data is cut short", structure_, member_ ? "." : "", member_ ? member_ : "",
                 cursor_.offset());
}

void ThriftReader::Fail(std::string message) {
  if (!ok()) return;
  error_ = fmt::format("{}{}{} at byte {}: {}", structure_, member_ ? "." : "", member_ ? member_ : "",
                       cursor_.offset(), message);
}

void ThriftReader::Require(const Seen& seen, int16_t id, const char* structure, const char* member) {
  if (!ok() || seen.Has(id)) return;
  error_ = fmt::format("{} that ends at byte {} has no {}", structure, cursor_.offset(), member);
}

bool ThriftReader::Enter(const char* name) {
  if (!ok()) return false;
  if (depth_ == kMaxDepth) {
    Fail(fmt::format("nested deeper than {} levels", kMaxDepth));
    return false;
  }
  ++depth_;
  structure_ = name;
  last_ids_.push_back(0);
  return true;
}

void ThriftReader::Leave(const char* outer) {
  --depth_;
  last_ids_.pop_back();
  if (!ok()) return;  // the message still needs the names
  structure_ = outer;
  member_ = nullptr;
}

bool ThriftReader::NextField(Field* field) {
  if (!ok()) return false;
  member_ = nullptr;
  const uint8_t head = cursor_.Little<uint8_t>();
  if (!cursor_.ok() || head == 0) return false;
  if ((head & 0x0f) == 0 || (head & 0x0f) > 13) {
    Fail(fmt::format("unknown wire type {}", head & 0x0f));
    return false;
  }
  field->type = static_cast<ThriftType>(head & 0x0f);
  const int64_t id = (head >> 4) != 0 ? last_ids_.back() + (head >> 4) : cursor_.ZigZag();
  if (id < std::numeric_limits<int16_t>::min() || id > std::numeric_limits<int16_t>::max()) {
    Fail(fmt::format("field id {} out of range", id));
    return false;
  }
  field->id = last_ids_.back() = static_cast<int16_t>(id);
  return ok();
}

bool ThriftReader::Is(Field field, const char* name, ThriftType type) {
  member_ = name;
  return ok() && field.type == type;
}

bool ThriftReader::Integer(Field field, const char* name, int64_t min, int64_t max, int64_t* out) {
  member_ = name;
  if (!ok()) return false;
  switch (field.type) {
    case ThriftType::kByte:
      *out = cursor_.Little<int8_t>();
      break;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      *out = cursor_.ZigZag();
      break;
    default:
      return false;
  }
  if (*out < min || *out > max) Fail(fmt::format("{} is out of range", *out));
  return true;
}

bool ThriftReader::Read(Field field, const char* name, bool* out) {
  member_ = name;
  *out = field.type == ThriftType::kTrue;
  return *out || field.type == ThriftType::kFalse;
}

bool ThriftReader::Read(Field field, const char* name, std::string* out) {
  if (!Is(field, name, ThriftType::kBinary)) return false;
  *out = cursor_.Text(cursor_.Varint());
  return true;
}

uint32_t ThriftReader::ListHeader(ThriftType* element) {
  const uint8_t head = cursor_.Little<uint8_t>();
  const uint64_t count = (head >> 4) == 15 ? cursor_.Varint() : head >> 4;
  *element = static_cast<ThriftType>(head & 0x0f);
  if (!ok()) return 0;
  // Every element takes at least a byte.
  if (count > cursor_.remaining()) {
    Fail(fmt::format("a list of {} elements in {} bytes", count, cursor_.remaining()));
    return 0;
  }
  return static_cast<uint32_t>(std::min<uint64_t>(count, std::numeric_limits<uint32_t>::max()));
}

void ThriftReader::FailElement(ThriftType type) { Fail(fmt::format("a list of {}", ToString(type))); }

ThriftType ThriftReader::ElementType(ThriftType declared) {
  if (declared != ThriftType::kTrue && declared != ThriftType::kFalse) return declared;
  return cursor_.Little<uint8_t>() == 1 ? ThriftType::kTrue : ThriftType::kFalse;
}

void ThriftReader::Skip(ThriftType type) {
  if (!ok()) return;
  switch (type) {
    case ThriftType::kStop:
      Fail("a value of no type");
      return;
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;
    case ThriftType::kByte:
      cursor_.Skip(1);
      return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      cursor_.Varint();
      return;
    case ThriftType::kDouble:
      cursor_.Skip(8);
      return;
    case ThriftType::kBinary:
      cursor_.Skip(cursor_.Varint());
      return;
    case ThriftType::kList:
    case ThriftType::kSet:
      SkipList();
      return;
    case ThriftType::kMap:
      SkipMap();
      return;
    case ThriftType::kStruct:
      Struct("unknown structure", [](Field) { return false; });
      return;
    case ThriftType::kUuid:
      cursor_.Skip(16);
      return;
  }
  Fail(fmt::format("unknown wire type {}", static_cast<int>(type)));
}

void ThriftReader::SkipList() {
  if (!Enter(structure_)) return;
  ThriftType element = ThriftType::kStop;
  const uint32_t count = ListHeader(&element);
  for (uint32_t i = 0; i < count && ok(); ++i) Skip(ElementType(element));
  Leave(structure_);
}

void ThriftReader::SkipMap() {
  if (!Enter(structure_)) return;
  const uint64_t count = cursor_.Varint();
  if (count > cursor_.remaining()) Fail(fmt::format("a map of {} entries in {} bytes", count, cursor_.remaining()));
  const uint8_t types = count == 0 ? 0 : cursor_.Little<uint8_t>();
  for (uint64_t i = 0; i < count && ok(); ++i) {
    Skip(ElementType(static_cast<ThriftType>(types >> 4)));
    Skip(ElementType(static_cast<ThriftType>(types & 0x0f)));
  }
  Leave(structure_);
}

}  // namespace calve::parquet
