#include "calve/parquet/page_encoding.h"

#include "calve/parquet/delta_binary_packed_encoder.h"
#include "calve/parquet/delta_byte_array_encoder.h"
#include "calve/parquet/value_decoder.h"
#include "calve/simd/byte_stream_split.h"

#include <algorithm>
#include <cstring>

namespace calve::parquet {
namespace {

using Bytes = std::span<const uint8_t>;

/// Bytes that the value at the front of `plain` takes. `width`: 0 for BYTE_ARRAY.
size_t ValueBytes(int64_t width, Bytes plain) {
  if (width > 0) return static_cast<size_t>(width);
  uint32_t length = 0;
  std::memcpy(&length, plain.data(), sizeof(length));
  return sizeof(length) + length;
}

/// Appends up to kPieces pieces of about kPieceBytes, evenly spread, one value at least in each. Returns how many
/// values they are.
Result<int64_t> AppendSample(Bytes plain, int64_t width, ByteBuffer* sample) {
  constexpr size_t kPieces = 8, kPieceBytes = 4096;
  const size_t apart = plain.size() / kPieces;
  int64_t count = 0;
  size_t next = 0;  // where the next piece may begin
  for (size_t at = 0; at < plain.size();) {
    if (width > 0 && next > at) at = (next + static_cast<size_t>(width) - 1) / static_cast<size_t>(width) * width;
    while (width == 0 && at < plain.size() && at < next) at += ValueBytes(width, plain.subspan(at));
    if (at >= plain.size()) break;
    const size_t begin = at;
    for (; at < plain.size() && at - begin < kPieceBytes; ++count) at += ValueBytes(width, plain.subspan(at));
    ARROW_RETURN_NOT_OK(sample->Append(plain.data() + begin, static_cast<int64_t>(at - begin)));
    next = begin + std::max(apart, at - begin);
  }
  return count;
}

Result<size_t> CompressedSize(calve::Codec codec, std::optional<int> level, const ByteBuffer& bytes,
                              ByteBuffer* scratch) {
  const auto size = static_cast<size_t>(bytes.size());
  if (codec == calve::Codec::kUncompressed || size == 0) return size;
  ARROW_RETURN_NOT_OK(scratch->Resize(static_cast<int64_t>(calve::MaxCompressedSize(codec, size))));
  return calve::Compress(codec, level, bytes.span(), {scratch->data(), static_cast<size_t>(scratch->size())});
}

std::span<const Encoding> Candidates(PhysicalType type, bool compressed) {
  static constexpr Encoding kIntegers[] = {Encoding::kDeltaBinaryPacked};
  static constexpr Encoding kReals[] = {Encoding::kByteStreamSplit};
  static constexpr Encoding kStrings[] = {Encoding::kDeltaLengthByteArray, Encoding::kDeltaByteArray};
  // Only what all readers can read: BYTE_STREAM_SPLIT of reals, which saves nothing without compression, and no
  // encoding of FIXED_LEN_BYTE_ARRAY.
  switch (type) {
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      return kIntegers;
    case PhysicalType::kFloat:
    case PhysicalType::kDouble:
      return std::span(kReals).first(compressed ? 1 : 0);
    case PhysicalType::kByteArray:
      return kStrings;
    default:
      return {};
  }
}

}  // namespace

bool CanEncode(Encoding encoding, PhysicalType type) {
  switch (encoding) {
    case Encoding::kPlain:
      return true;
    case Encoding::kRle:
      return type == PhysicalType::kBoolean;
    case Encoding::kDeltaBinaryPacked:
      return type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
    case Encoding::kDeltaLengthByteArray:
      return type == PhysicalType::kByteArray;
    case Encoding::kDeltaByteArray:
      return type == PhysicalType::kByteArray || type == PhysicalType::kFixedLenByteArray;
    case Encoding::kByteStreamSplit:
      return type == PhysicalType::kInt32 || type == PhysicalType::kInt64 || type == PhysicalType::kFloat ||
             type == PhysicalType::kDouble || type == PhysicalType::kFixedLenByteArray;
    default:
      return false;
  }
}

Status EncodePlainAs(Encoding encoding, const SchemaElement& element, Bytes plain, int64_t count, ByteBuffer* out) {
  const int64_t width = ValueWidth(*element.type, element.type_length);
  const auto size = static_cast<int64_t>(plain.size());
  switch (encoding) {
    case Encoding::kDeltaBinaryPacked:
      return width == 4 ? EncodeDeltaBinaryPacked<int32_t>(plain, out) : EncodeDeltaBinaryPacked<int64_t>(plain, out);
    case Encoding::kDeltaLengthByteArray:
      return EncodeDeltaLengthByteArray(plain, count, out);
    case Encoding::kDeltaByteArray:
      return EncodeDeltaByteArray(plain, width, count, out);
    case Encoding::kByteStreamSplit: {
      ARROW_RETURN_NOT_OK(out->Reserve(size));
      const auto values = static_cast<size_t>(count);
      simd::SplitByteStreams(plain.data(), static_cast<size_t>(width), values, values, out->data() + out->size());
      out->UnsafeResize(out->size() + size);
      return Status::OK();
    }
    default:
      return out->Append(plain.data(), size);
  }
}

Result<Encoding> ChooseEncoding(const SchemaElement& element, Bytes plain, int64_t count, bool v2, calve::Codec codec,
                                std::optional<int> level, arrow::MemoryPool* pool) {
  const auto candidates = Candidates(*element.type, codec != calve::Codec::kUncompressed);
  if (candidates.empty() || count == 0) return Encoding::kPlain;
  ByteBuffer sample(pool), encoded(pool), scratch(pool);
  ARROW_ASSIGN_OR_RAISE(const int64_t sampled,
                        AppendSample(plain, ValueWidth(*element.type, element.type_length), &sample));
  const auto size_under = [&](Encoding encoding) -> Result<size_t> {
    encoded.Clear();
    ARROW_RETURN_NOT_OK(EncodePlainAs(encoding, element, sample.span(), sampled, &encoded));
    return CompressedSize(codec, level, encoded, &scratch);
  };
  const size_t worthwhile = v2 && element.type == PhysicalType::kByteArray ? 100 : 20;
  ARROW_ASSIGN_OR_RAISE(size_t smallest, size_under(Encoding::kPlain));
  smallest -= smallest / worthwhile;
  Encoding chosen = Encoding::kPlain;
  for (const Encoding encoding : candidates) {
    ARROW_ASSIGN_OR_RAISE(const size_t size, size_under(encoding));
    if (size >= smallest) continue;
    smallest = size;
    chosen = encoding;
  }
  return chosen;
}

Result<Bytes> PageEncoding::Encode(Bytes plain, int64_t count) {
  if (wanted_) {
    encoding_ = *wanted_;
  } else if (count == 0) {
    encoding_ = Encoding::kPlain;  // a page without values says nothing of those to come
  } else {
    if (!chosen_) {
      ARROW_ASSIGN_OR_RAISE(chosen_, ChooseEncoding(*element_, plain, count, v2_, codec_, level_, encoded_.pool()));
    }
    encoding_ = *chosen_;
  }
  if (encoding_ == Encoding::kPlain) return plain;
  encoded_.Clear();
  ARROW_RETURN_NOT_OK(EncodePlainAs(encoding_, *element_, plain, count, &encoded_));
  return Bytes(encoded_.span());
}

}  // namespace calve::parquet
