// Avro's binary encoding:
//
//   null      nothing               boolean   one byte, 0 or 1
//   int long  zigzag base-128       float double  4 or 8 bytes, little-endian
//   bytes string  long size, bytes  fixed     its bytes
//   enum      int index             record    its fields
//   union     long index, value
//   array     block* long 0         block = long count, item* | long -count, long size in bytes, item*
//   map       as array, an item is string key, value
#include "calve/avro/binary.h"
#include "calve/base/status.h"

namespace calve::avro {
namespace {

Status CutShort() { return Invalid("the data ends in the middle of a value"); }

}  // namespace

Status BinaryDecoder::Decode(const Schema& schema, Value* out) {
  switch (schema.kind) {
    case Kind::kRecord:
      return DecodeRecord(schema, out);
    case Kind::kUnion:
      return DecodeUnion(schema, out);
    case Kind::kArray:
    case Kind::kMap:
      return DecodeItems(schema, out);
    default:
      return DecodeScalar(schema, out);
  }
}

Status BinaryDecoder::DecodeScalar(const Schema& schema, Value* out) {
  switch (schema.kind) {
    case Kind::kNull:
      *out = Value();
      break;
    case Kind::kBoolean: {
      auto byte = cursor_.Little<uint8_t>();
      if (byte > 1) return Invalid("a boolean of value {}", byte);
      *out = byte == 1;
      break;
    }
    case Kind::kInt:
    case Kind::kLong:
      return DecodeInteger(schema, out);
    case Kind::kFloat:
      *out = cursor_.Little<float>();
      break;
    case Kind::kDouble:
      *out = cursor_.Little<double>();
      break;
    case Kind::kBytes:
    case Kind::kString:
      return DecodeText(out);
    case Kind::kFixed:
      *out = std::string(cursor_.Text(schema.size_bytes));
      break;
    case Kind::kEnum:
      return DecodeEnum(schema, out);
    default:
      return Invalid("no scalar: {}", ToString(schema.kind));
  }
  return cursor_.ok() ? Status::OK() : CutShort();
}

Status BinaryDecoder::DecodeInteger(const Schema& schema, Value* out) {
  int64_t value = cursor_.ZigZag();
  if (!cursor_.ok()) return CutShort();
  if (schema.kind == Kind::kInt && value != static_cast<int32_t>(value)) {
    return Invalid("an int of value {}, which has more than 32 bits", value);
  }
  *out = value;
  return Status::OK();
}

Result<size_t> BinaryDecoder::DecodeSize() {
  int64_t size = cursor_.ZigZag();
  if (!cursor_.ok()) return CutShort();
  if (size < 0) return Invalid("a negative size ({})", size);
  if (static_cast<uint64_t>(size) > cursor_.remaining()) {
    return Invalid("a value of {} bytes where {} are left", size, cursor_.remaining());
  }
  return static_cast<size_t>(size);
}

Status BinaryDecoder::DecodeText(Value* out) {
  ARROW_ASSIGN_OR_RAISE(size_t size, DecodeSize());
  *out = std::string(cursor_.Text(size));
  return Status::OK();
}

Status BinaryDecoder::DecodeEnum(const Schema& schema, Value* out) {
  int64_t index = cursor_.ZigZag();
  if (!cursor_.ok()) return CutShort();
  if (index < 0 || static_cast<uint64_t>(index) >= schema.symbols.size()) {
    return Invalid("enum index {} out of range ({} symbols)", index, schema.symbols.size());
  }
  *out = schema.symbols[static_cast<size_t>(index)];
  return Status::OK();
}

Status BinaryDecoder::DecodeRecord(const Schema& schema, Value* out) {
  Value::List values(schema.fields.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& field = schema.fields[i];
    auto status = Decode(*field.type, &values[i]);
    if (!status.ok()) return WithContext(status, fmt::format("field '{}'", field.name));
  }
  *out = std::move(values);
  return Status::OK();
}

Status BinaryDecoder::DecodeUnion(const Schema& schema, Value* out) {
  int64_t index = cursor_.ZigZag();
  if (!cursor_.ok()) return CutShort();
  if (index < 0 || static_cast<uint64_t>(index) >= schema.branches.size()) {
    return Invalid("union index {} out of range ({} branches)", index, schema.branches.size());
  }
  return Decode(*schema.branches[static_cast<size_t>(index)], out);
}

Result<uint64_t> BinaryDecoder::DecodeItemCount(const Schema& schema) {
  int64_t count = cursor_.ZigZag();
  if (count < 0) {
    if (count == INT64_MIN) return Invalid("an item count of {}", count);
    count = -count;
    ARROW_RETURN_NOT_OK(DecodeSize().status());
  }
  if (!cursor_.ok()) return CutShort();
  auto items = static_cast<uint64_t>(count);
  size_t item_size = schema.element->min_size_bytes() + (schema.kind == Kind::kMap ? 1 : 0);
  uint64_t room = item_size == 0 ? free_items_left_ : cursor_.remaining() / item_size;
  if (items > room) return Invalid("{} items where {} bytes are left", items, cursor_.remaining());
  if (item_size == 0) free_items_left_ -= items;
  return items;
}

Status BinaryDecoder::DecodeItems(const Schema& schema, Value* out) {
  Value::List items;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(uint64_t count, DecodeItemCount(schema));
    if (count == 0) break;
    for (uint64_t i = 0; i < count; ++i) {
      Value key, value;
      if (schema.kind == Kind::kMap) ARROW_RETURN_NOT_OK(DecodeText(&key));
      ARROW_RETURN_NOT_OK(Decode(*schema.element, &value));
      if (schema.kind == Kind::kMap) value = Value(Value::List{std::move(key), std::move(value)});
      items.push_back(std::move(value));
    }
  }
  *out = std::move(items);
  return Status::OK();
}

}  // namespace calve::avro
