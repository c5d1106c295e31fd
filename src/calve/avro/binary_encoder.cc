// The encoding is the one in binary_decoder.cc; arrays and maps are written as one block without its size.
#include "calve/avro/binary.h"
#include "calve/base/status.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace calve::avro {
namespace {

template <typename T>
void AppendLittle(T value, std::string* out) {
  static_assert(std::endian::native == std::endian::little);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out->append(bytes, sizeof(T));
}

Status Mismatch(const Schema& schema) { return Invalid("the value is no {}", ToString(schema.kind)); }

bool Matches(const Schema& schema, const Value& value) {
  switch (schema.kind) {
    case Kind::kNull:
      return value.is_null();
    case Kind::kBoolean:
      return value.As<bool>() != nullptr;
    case Kind::kInt:
    case Kind::kLong:
      return value.As<int64_t>() != nullptr;
    case Kind::kFloat:
      return value.As<float>() != nullptr;
    case Kind::kDouble:
      return value.As<double>() != nullptr;
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
    case Kind::kEnum:
      return value.As<std::string>() != nullptr;
    default:
      return value.As<Value::List>() != nullptr;
  }
}

Status EncodeInteger(const Schema& schema, int64_t value, std::string* out) {
  if (schema.kind == Kind::kInt && value != static_cast<int32_t>(value)) {
    return Invalid("{} does not fit an int", value);
  }
  AppendLong(value, out);
  return Status::OK();
}

Status EncodeFixed(const Schema& schema, const std::string& value, std::string* out) {
  if (value.size() != schema.size_bytes) {
    return Invalid("{} bytes for a fixed of {}", value.size(), schema.size_bytes);
  }
  out->append(value);
  return Status::OK();
}

Status EncodeEnum(const Schema& schema, const std::string& value, std::string* out) {
  auto found = std::find(schema.symbols.begin(), schema.symbols.end(), value);
  if (found == schema.symbols.end()) return Invalid("'{}' is no symbol of enum '{}'", value, schema.name);
  AppendLong(found - schema.symbols.begin(), out);
  return Status::OK();
}

Status EncodeRecord(const Schema& schema, const Value::List& values, std::string* out) {
  if (values.size() != schema.fields.size()) {
    return Invalid("record '{}' has {} fields, the value {}", schema.name, schema.fields.size(), values.size());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    auto status = Encode(*schema.fields[i].type, values[i], out);
    if (!status.ok()) return WithContext(status, fmt::format("field '{}'", schema.fields[i].name));
  }
  return Status::OK();
}

/// Takes the first branch that holds the value.
Status EncodeUnion(const Schema& schema, const Value& value, std::string* out) {
  size_t before = out->size();
  auto status = Invalid("the value is of no branch of its union");
  for (size_t i = 0; i < schema.branches.size(); ++i) {
    if (!Matches(*schema.branches[i], value)) continue;
    AppendLong(static_cast<int64_t>(i), out);
    status = Encode(*schema.branches[i], value, out);
    if (status.ok()) break;
    out->resize(before);
  }
  return status;
}

Status EncodeMapItem(const Schema& schema, const Value& item, std::string* out) {
  const auto* entry = item.As<Value::List>();
  const auto* key = entry != nullptr && entry->size() == 2 ? (*entry)[0].As<std::string>() : nullptr;
  if (key == nullptr) return Invalid("a map item that is no pair of a string and a value");
  AppendText(*key, out);
  return Encode(*schema.element, (*entry)[1], out);
}

Status EncodeItems(const Schema& schema, const Value::List& items, std::string* out) {
  if (!items.empty()) AppendLong(static_cast<int64_t>(items.size()), out);
  for (const auto& item : items) {
    ARROW_RETURN_NOT_OK(schema.kind == Kind::kMap ? EncodeMapItem(schema, item, out)
                                                  : Encode(*schema.element, item, out));
  }
  AppendLong(0, out);
  return Status::OK();
}

}  // namespace

void AppendLong(int64_t value, std::string* out) {
  uint64_t bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  while (bits >= 0x80) {
    out->push_back(static_cast<char>(bits | 0x80));
    bits >>= 7;
  }
  out->push_back(static_cast<char>(bits));
}

void AppendText(std::string_view text, std::string* out) {
  AppendLong(static_cast<int64_t>(text.size()), out);
  out->append(text);
}

Status Encode(const Schema& schema, const Value& value, std::string* out) {
  if (schema.kind == Kind::kUnion) return EncodeUnion(schema, value, out);
  if (!Matches(schema, value)) return Mismatch(schema);
  switch (schema.kind) {
    case Kind::kNull:
      break;
    case Kind::kBoolean:
      out->push_back(*value.As<bool>() ? 1 : 0);
      break;
    case Kind::kInt:
    case Kind::kLong:
      return EncodeInteger(schema, *value.As<int64_t>(), out);
    case Kind::kFloat:
      AppendLittle(*value.As<float>(), out);
      break;
    case Kind::kDouble:
      AppendLittle(*value.As<double>(), out);
      break;
    case Kind::kBytes:
    case Kind::kString:
      AppendText(*value.As<std::string>(), out);
      break;
    case Kind::kFixed:
      return EncodeFixed(schema, *value.As<std::string>(), out);
    case Kind::kEnum:
      return EncodeEnum(schema, *value.As<std::string>(), out);
    case Kind::kRecord:
      return EncodeRecord(schema, *value.As<Value::List>(), out);
    default:
      return EncodeItems(schema, *value.As<Value::List>(), out);
  }
  return Status::OK();
}

}  // namespace calve::avro
