#include "calve/parquet/delta_length_byte_array_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

namespace calve::parquet {
namespace {

constexpr int64_t kBatch = 1024;
/// Pages with more bytes than this are looked through for their longest value.
constexpr size_t kLargeData = 16 << 20;

}  // namespace

Result<std::unique_ptr<BinaryDecoder>> DeltaLengthByteArrayDecoder::Make(std::span<const uint8_t> bytes,
                                                                         int64_t max_values) {
  size_t lengths_size = 0;
  // A page of nulls only may be empty.
  if (!bytes.empty()) {
    ARROW_ASSIGN_OR_RAISE(lengths_size, DeltaBinaryPackedSize(bytes, max_values));
  }
  const auto lengths = bytes.first(lengths_size), data = bytes.subspan(lengths_size);
  std::unique_ptr<DeltaLengthByteArrayDecoder> decoder(new DeltaLengthByteArrayDecoder(lengths, data));
  if (data.size() > kLargeData) ARROW_RETURN_NOT_OK(decoder->FindLargest(lengths));
  return decoder;
}

Status DeltaLengthByteArrayDecoder::FindLargest(std::span<const uint8_t> lengths) {
  if (lengths.empty()) return Status::OK();
  ByteCursor head(lengths);
  ARROW_ASSIGN_OR_RAISE(const DeltaHeader header, DeltaHeader::Parse(&head));
  DeltaBinaryPackedDecoder<int32_t> decoder(lengths);
  int32_t values[kBatch], largest = 0;
  for (uint64_t done = 0; done < header.total; done += kBatch) {
    const int64_t n = static_cast<int64_t>(std::min<uint64_t>(header.total - done, kBatch));
    ARROW_RETURN_NOT_OK(decoder.DecodeValues(n, values));
    largest = std::max(largest, *std::max_element(values, values + n));
  }
  largest_ = largest;
  return Status::OK();
}

int64_t DeltaLengthByteArrayDecoder::BytesAtMost(int64_t count) const {
  const int64_t left = static_cast<int64_t>(data_.remaining());
  return std::min(left, CheckedMultiply(count, largest_).value_or(left));
}

/// The bytes of the next values, whose lengths these are.
Result<std::span<const uint8_t>> DeltaLengthByteArrayDecoder::Take(const int32_t* lengths, int64_t count) {
  int64_t total = 0;
  int32_t signs = 0;
  for (int64_t i = 0; i < count; ++i) {
    total += lengths[i];
    signs |= lengths[i];
  }
  if (signs < 0) return Invalid("a byte array of {} bytes", *std::min_element(lengths, lengths + count));
  if (total > static_cast<int64_t>(data_.remaining())) {
    return Invalid("byte arrays of {} bytes, {} bytes are left", total, data_.remaining());
  }
  return data_.Bytes(static_cast<size_t>(total));
}

Status DeltaLengthByteArrayDecoder::Decode(int64_t count, BinaryValues* out) {
  int32_t lengths[kBatch];
  ARROW_RETURN_NOT_OK(out->offsets.Reserve(count));
  while (count > 0) {
    const int64_t n = std::min(count, kBatch);
    ARROW_RETURN_NOT_OK(lengths_.DecodeValues(n, lengths));
    ARROW_ASSIGN_OR_RAISE(const auto bytes, Take(lengths, n));
    int32_t* const ends = out->offsets.data() + out->offsets.size();
    int32_t end = ends[-1];
    for (int64_t i = 0; i < n; ++i) ends[i] = end += lengths[i];
    out->offsets.UnsafeResize(out->offsets.size() + n);
    ARROW_RETURN_NOT_OK(out->data.Append(bytes.data(), static_cast<int64_t>(bytes.size())));
    count -= n;
  }
  return Status::OK();
}

Status DeltaLengthByteArrayDecoder::Skip(int64_t count) {
  int32_t lengths[kBatch];
  for (int64_t n = 0; count > 0; count -= n) {
    n = std::min(count, kBatch);
    ARROW_RETURN_NOT_OK(lengths_.DecodeValues(n, lengths));
    ARROW_RETURN_NOT_OK(Take(lengths, n).status());
  }
  return Status::OK();
}

Status DeltaLengthByteArrayDecoder::DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>& page,
                                                ViewValues* out) {
  if (page == nullptr) return BinaryDecoder::DecodeViews(count, page, out);
  const uint32_t buffer_index = out->IndexOf(page);
  PoolVector<BinaryView>& views = out->views();
  ARROW_RETURN_NOT_OK(views.Reserve(count));
  int32_t lengths[kBatch];
  while (count > 0) {
    const int64_t n = std::min(count, kBatch);
    ARROW_RETURN_NOT_OK(lengths_.DecodeValues(n, lengths));
    ARROW_ASSIGN_OR_RAISE(const auto bytes, Take(lengths, n));
    const uint8_t* in = bytes.data();
    const uint8_t* const end = in + bytes.size();
    for (int64_t i = 0; i < n; ++i) {
      const auto length = static_cast<uint32_t>(lengths[i]);
      views.UnsafeAppend(
          MakeView(in, length, static_cast<size_t>(end - in), buffer_index, static_cast<uint32_t>(in - page->data())));
      in += length;
    }
    count -= n;
  }
  return Status::OK();
}

}  // namespace calve::parquet
