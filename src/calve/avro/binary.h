#pragma once

#include "calve/avro/schema.h"
#include "calve/avro/value.h"
#include "calve/base/byte_cursor.h"

#include <string>

namespace calve::avro {

/// Decodes values of Avro's binary encoding from one block.
///
/// What is allocated follows from the bytes: lengths and counts are checked against what is left, and items that take
/// no byte are limited in number.
class BinaryDecoder {
 public:
  explicit BinaryDecoder(std::string_view bytes) : cursor_(bytes), free_items_left_(bytes.size() + kFreeItems) {}

  /// Invalid says what is wrong ("field 'a': ..."), or that the bytes end too early.
  Status Decode(const Schema& schema, Value* out);
  size_t remaining() const { return cursor_.remaining(); }

 private:
  static constexpr size_t kFreeItems = 1024;

  Status DecodeScalar(const Schema& schema, Value* out);
  Status DecodeInteger(const Schema& schema, Value* out);
  Status DecodeText(Value* out);
  Status DecodeEnum(const Schema& schema, Value* out);
  Status DecodeRecord(const Schema& schema, Value* out);
  Status DecodeUnion(const Schema& schema, Value* out);
  Status DecodeItems(const Schema& schema, Value* out);
  Result<uint64_t> DecodeItemCount(const Schema& schema);
  Result<size_t> DecodeSize();

  ByteCursor cursor_;
  size_t free_items_left_;
};

/// Appends a long in zigzag base-128 form.
void AppendLong(int64_t value, std::string* out);
/// Appends a length and the bytes.
void AppendText(std::string_view text, std::string* out);

/// Appends `value`. Invalid ("field 'a': ...") when it is not of the schema's type.
Status Encode(const Schema& schema, const Value& value, std::string* out);

}  // namespace calve::avro
