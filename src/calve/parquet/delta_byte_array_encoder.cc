// Byte arrays in two encodings:
//
//   DELTA_LENGTH_BYTE_ARRAY := lengths (DELTA_BINARY_PACKED), all bytes
//   DELTA_BYTE_ARRAY        := lengths of what each shares with the one before it (DELTA_BINARY_PACKED),
//                              the rest of each (DELTA_LENGTH_BYTE_ARRAY)

#include "calve/parquet/delta_byte_array_encoder.h"

#include "calve/parquet/delta_binary_packed_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace calve::parquet {
namespace {

using Bytes = std::span<const uint8_t>;

/// Takes the next value off the front of `plain`.
Bytes TakeValue(int64_t width, Bytes* plain) {
  size_t size = static_cast<size_t>(width);
  if (width == 0) {
    uint32_t length = 0;
    std::memcpy(&length, plain->data(), sizeof(length));
    size = length;
    *plain = plain->subspan(sizeof(length));
  }
  const Bytes value = plain->first(size);
  *plain = plain->subspan(size);
  return value;
}

/// Copies `size` bytes, of which `readable` may be read, to where kPoolVectorSlackBytes more may be written.
void CopyShort(const uint8_t* from, size_t size, size_t readable, uint8_t* to) {
  constexpr size_t kShort = 16;
  if (size <= kShort && readable >= kShort) {
    std::memcpy(to, from, kShort);
  } else if (size > 0) {
    std::memcpy(to, from, size);
  }
}

/// The bytes that two values begin with alike.
size_t SharedPrefix(Bytes a, Bytes b) {
  const size_t most = std::min(a.size(), b.size());
  size_t shared = 0;
  for (; shared + sizeof(uint64_t) <= most; shared += sizeof(uint64_t)) {
    uint64_t left, right;
    std::memcpy(&left, a.data() + shared, sizeof(left));
    std::memcpy(&right, b.data() + shared, sizeof(right));
    if (left != right) return shared + static_cast<size_t>(std::countr_zero(left ^ right)) / 8;
  }
  while (shared < most && a[shared] == b[shared]) ++shared;
  return shared;
}

arrow::Status AppendLengths(const PoolVector<int32_t>& lengths, ByteBuffer* out) {
  return EncodeDeltaBinaryPacked<int32_t>(
      {reinterpret_cast<const uint8_t*>(lengths.data()), static_cast<size_t>(lengths.size_bytes())}, out);
}

}  // namespace

arrow::Status EncodeDeltaLengthByteArray(Bytes plain, int64_t count, ByteBuffer* out) {
  PoolVector<int32_t> lengths(out->pool());
  ARROW_RETURN_NOT_OK(lengths.Reserve(count));
  Bytes rest = plain;
  for (int64_t i = 0; i < count; ++i) lengths.UnsafeAppend(static_cast<int32_t>(TakeValue(0, &rest).size()));
  ARROW_RETURN_NOT_OK(AppendLengths(lengths, out));
  ARROW_RETURN_NOT_OK(out->Reserve(static_cast<int64_t>(plain.size())));
  const uint8_t* const end = plain.data() + plain.size();
  uint8_t* to = out->data() + out->size();
  const uint8_t* const begin = to;
  for (Bytes from = plain; !from.empty();) {
    const Bytes value = TakeValue(0, &from);
    CopyShort(value.data(), value.size(), static_cast<size_t>(end - value.data()), to);
    to += value.size();
  }
  out->UnsafeResize(out->size() + (to - begin));
  return arrow::Status::OK();
}

arrow::Status EncodeDeltaByteArray(Bytes plain, int64_t width, int64_t count, ByteBuffer* out) {
  PoolVector<int32_t> prefixes(out->pool()), suffixes(out->pool());
  ByteBuffer bytes(out->pool());
  ARROW_RETURN_NOT_OK(prefixes.Reserve(count));
  ARROW_RETURN_NOT_OK(suffixes.Reserve(count));
  ARROW_RETURN_NOT_OK(bytes.Reserve(static_cast<int64_t>(plain.size())));
  const uint8_t* const end = plain.data() + plain.size();
  uint8_t* to = bytes.data();
  Bytes previous;
  for (int64_t i = 0; i < count; ++i) {
    const Bytes value = TakeValue(width, &plain);
    const size_t shared = SharedPrefix(previous, value), rest = value.size() - shared;
    prefixes.UnsafeAppend(static_cast<int32_t>(shared));
    suffixes.UnsafeAppend(static_cast<int32_t>(rest));
    const uint8_t* from = value.data() + shared;
    CopyShort(from, rest, static_cast<size_t>(end - from), to);
    to += rest;
    previous = value;
  }
  bytes.UnsafeResize(to - bytes.data());
  ARROW_RETURN_NOT_OK(AppendLengths(prefixes, out));
  ARROW_RETURN_NOT_OK(AppendLengths(suffixes, out));
  return out->Append(bytes.data(), bytes.size());
}

}  // namespace calve::parquet
