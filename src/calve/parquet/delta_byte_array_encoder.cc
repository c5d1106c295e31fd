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

std::string_view TextOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

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
    const size_t shared = SharedPrefix(TextOf(previous), TextOf(value)), rest = value.size() - shared;
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

bool DeltaByteArrayPage::WasMeasured(std::span<const std::string_view> values) const {
  return measured_.size() == static_cast<int64_t>(values.size()) && !values.empty() &&
         values.front().data() == first_measured_.data() && values.back().data() == last_measured_.data() &&
         values.front().size() == first_measured_.size() && values.back().size() == last_measured_.size();
}

arrow::Result<int64_t> DeltaByteArrayPage::BytesWith(std::span<const std::string_view> values, int64_t page_bytes) {
  constexpr int64_t kLargestPage = int64_t{1} << 30;
  // What pages begin with again stays under so small a part of them.
  constexpr int64_t kPart = 64;
  measured_.Clear();
  int64_t bytes = this->bytes(), plain_bytes = plain_bytes_, more = 0;
  std::string_view previous = count() > 0 ? previous_.view() : std::string_view();
  for (std::string_view value : values) {
    const auto shared = static_cast<int64_t>(SharedPrefix(previous, value));
    if (measured_.empty()) more = std::min(shared * kPart, kLargestPage / 2);
    ARROW_RETURN_NOT_OK(measured_.Append(static_cast<int32_t>(shared)));
    const auto size = static_cast<int64_t>(value.size());
    bytes += size - shared + kLengthBytes;
    plain_bytes += size + static_cast<int64_t>(sizeof(uint32_t));
    if (plain_bytes > kLargestPage) return plain_bytes;
    if (bytes - more > page_bytes) break;
    previous = value;
  }
  if (!values.empty()) {
    first_measured_ = values.front();
    last_measured_ = values.back();
  }
  return std::max<int64_t>(bytes - more, 0);
}

arrow::Status DeltaByteArrayPage::Append(std::span<const std::string_view> values, bool stay) {
  if (values.empty()) return arrow::Status::OK();
  const auto added = static_cast<int64_t>(values.size());
  ARROW_RETURN_NOT_OK(prefixes_.Reserve(added));
  ARROW_RETURN_NOT_OK(suffixes_.Reserve(added));
  const bool measured = stay && WasMeasured(values);
  std::string_view previous = count() > 0 ? previous_.view() : std::string_view();
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string_view value = values[i];
    const size_t shared =
        measured ? static_cast<size_t>(measured_[static_cast<int64_t>(i)]) : SharedPrefix(previous, value);
    const Bytes rest(reinterpret_cast<const uint8_t*>(value.data()) + shared, value.size() - shared);
    prefixes_.UnsafeAppend(static_cast<int32_t>(shared));
    suffixes_.UnsafeAppend(static_cast<int32_t>(rest.size()));
    if (stay && static_cast<int64_t>(rest.size()) >= kLongValueBytes) {
      ARROW_RETURN_NOT_OK(bytes_.Borrow(rest));
    } else {
      ARROW_RETURN_NOT_OK(bytes_.own()->Append(rest.data(), static_cast<int64_t>(rest.size())));
    }
    plain_bytes_ += static_cast<int64_t>(value.size() + sizeof(uint32_t));
    previous = value;
  }
  measured_.Clear();
  previous_.Keep(previous, stay);
  return arrow::Status::OK();
}

arrow::Status DeltaByteArrayPage::Own() {
  measured_.Clear();
  previous_.Own();
  return bytes_.OwnAll();
}

arrow::Status DeltaByteArrayPage::Finish(std::vector<PagePiece>* pieces) {
  lengths_.Clear();
  ARROW_RETURN_NOT_OK(AppendLengths(prefixes_, &lengths_));
  ARROW_RETURN_NOT_OK(AppendLengths(suffixes_, &lengths_));
  pieces->push_back({lengths_.span(), false});
  return bytes_.VisitAll([&](Bytes bytes, bool borrowed) {
    pieces->push_back({bytes, borrowed});
    return arrow::Status::OK();
  });
}

void DeltaByteArrayPage::Clear() {
  prefixes_.Clear();
  suffixes_.Clear();
  bytes_.Clear();
  measured_.Clear();
  plain_bytes_ = 0;
  previous_.Keep({}, false);
}

void DeltaByteArrayPage::Release() {
  Clear();
  prefixes_.Release();
  suffixes_.Release();
  bytes_.Release();
  lengths_.Release();
}

}  // namespace calve::parquet
