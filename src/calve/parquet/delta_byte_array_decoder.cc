#include "calve/parquet/delta_byte_array_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/parquet/byte_copy.h"
#include "calve/simd/delta.h"

// Delta strings ("DELTA_BYTE_ARRAY = 7"):
//
//   values := DELTA_BINARY_PACKED(prefix lengths) DELTA_BINARY_PACKED(suffix lengths) suffixes

namespace calve::parquet {

PrefixedStrings::PrefixedStrings(std::span<const uint8_t> prefixes, std::span<const uint8_t> suffixes,
                                 std::span<const uint8_t> data)
    : prefix_decoder_(prefixes), suffix_decoder_(suffixes), data_(data) {}

Result<PrefixedStrings> PrefixedStrings::Make(std::span<const uint8_t> bytes, int64_t max_values) {
  if (bytes.empty()) return PrefixedStrings();
  ARROW_ASSIGN_OR_RAISE(const size_t prefixes_size, DeltaBinaryPackedSize(bytes, max_values));
  const auto prefixes = bytes.first(prefixes_size);
  const auto rest = bytes.subspan(prefixes_size);
  ARROW_ASSIGN_OR_RAISE(const size_t suffixes_size, DeltaBinaryPackedSize(rest, max_values));
  ByteCursor head(prefixes);
  ARROW_ASSIGN_OR_RAISE(const DeltaHeader header, DeltaHeader::Parse(&head));
  PrefixedStrings checked(prefixes, rest.first(suffixes_size), rest.subspan(suffixes_size));
  PrefixedStrings result = checked;
  ARROW_RETURN_NOT_OK(checked.Check(header.total));
  result.count_ = static_cast<int64_t>(header.total);
  result.largest_ = checked.largest_;
  result.total_ = checked.total_;
  return result;
}

Status PrefixedStrings::Check(uint64_t count) {
  int64_t last = 0, suffix_bytes = 0;
  for (uint64_t done = 0; done < count; done += kBatch) {
    const int64_t n = static_cast<int64_t>(std::min<uint64_t>(count - done, kBatch));
    ARROW_RETURN_NOT_OK(prefix_decoder_.DecodeValues(n, prefixes_));
    ARROW_RETURN_NOT_OK(suffix_decoder_.DecodeValues(n, suffixes_));
    for (int64_t i = 0; i < n; ++i) {
      if (prefixes_[i] < 0 || suffixes_[i] < 0 || prefixes_[i] > last) {
        return Invalid("a string of {} + {} bytes after one of {}", prefixes_[i], suffixes_[i], last);
      }
      last = int64_t{prefixes_[i]} + suffixes_[i];
      suffix_bytes += suffixes_[i];
      total_ += last;
      largest_ = std::max(largest_, last);
    }
  }
  if (suffix_bytes > static_cast<int64_t>(data_.remaining())) {
    return Invalid("suffixes of {} bytes, the page has {}", suffix_bytes, data_.remaining());
  }
  return Status::OK();
}

Result<int64_t> PrefixedStrings::NextLengths(int64_t count) {
  if (count > count_) return Invalid("{} delta strings, {} are left", count, count_);
  ARROW_RETURN_NOT_OK(prefix_decoder_.DecodeValues(count, prefixes_));
  ARROW_RETURN_NOT_OK(suffix_decoder_.DecodeValues(count, suffixes_));
  batch_count_ = count;
  batch_bytes_ = 0;
  for (int64_t i = 0; i < count; ++i) batch_bytes_ += int64_t{prefixes_[i]} + suffixes_[i];
  count_ -= count;
  total_ -= batch_bytes_;
  return batch_bytes_;
}

void PrefixedStrings::Take(uint8_t* out) {
  int64_t suffix_bytes = 0;
  for (int64_t i = 0; i < batch_count_; ++i) suffix_bytes += suffixes_[i];
  const size_t before = data_.offset();
  const uint8_t* const first = data_.Bytes(static_cast<size_t>(suffix_bytes)).data();
  const uint8_t* suffix = first;
  const uint8_t* const suffixes_end = suffix + suffix_bytes + data_.remaining();
  // The first string takes its beginning from the batch before; the others from their neighbour in `out`.
  const auto* last = reinterpret_cast<const uint8_t*>(last_.data());
  size_t last_size = last_.size();
  for (int64_t i = 0; i < batch_count_;) {
    const simd::PrefixedStrings rest{prefixes_ + i,
                                     suffixes_ + i,
                                     static_cast<size_t>(batch_count_ - i),
                                     suffix,
                                     before + static_cast<size_t>(suffix - first),
                                     static_cast<size_t>(suffixes_end - suffix)};
    auto joined = static_cast<int64_t>(simd::JoinPrefixes(rest, last, last_size, out));
    if (joined == 0) {
      const auto prefix = static_cast<size_t>(prefixes_[i]), added = static_cast<size_t>(suffixes_[i]);
      if (prefix > 0) std::memmove(out, last, prefix);
      CopyBytes(suffix, added, suffixes_end, out + prefix);
      joined = 1;
    }
    for (; joined > 0; --joined, ++i) {
      suffix += suffixes_[i];
      last = out;
      last_size = static_cast<size_t>(length(i));
      out += last_size;
    }
  }
  if (batch_count_ > 0) last_.assign(reinterpret_cast<const char*>(last), last_size);
}

Status PrefixedStrings::Skip(int64_t count) {
  std::string passed;
  for (int64_t n = 0; count > 0; count -= n) {
    n = std::min(count, kBatch);
    ARROW_ASSIGN_OR_RAISE(const int64_t size, NextLengths(n));
    passed.resize(static_cast<size_t>(size) + kPoolVectorSlackBytes);
    Take(reinterpret_cast<uint8_t*>(passed.data()));
  }
  return Status::OK();
}

int64_t DeltaByteArrayDecoder::BytesAtMost(int64_t count) const {
  return std::min(CheckedMultiply(count, strings_.largest()).value_or(strings_.total()), strings_.total());
}

Status DeltaByteArrayDecoder::Decode(int64_t count, BinaryValues* out) {
  ARROW_RETURN_NOT_OK(out->offsets.Reserve(count));
  while (count > 0) {
    const int64_t n = std::min(count, PrefixedStrings::kBatch);
    ARROW_ASSIGN_OR_RAISE(const int64_t size, strings_.NextLengths(n));
    int32_t end = out->offsets[out->offsets.size() - 1];
    for (int64_t i = 0; i < n; ++i) out->offsets.UnsafeAppend(end += strings_.length(i));
    const int64_t begin = out->data.size();
    ARROW_RETURN_NOT_OK(out->data.Resize(begin + size));
    strings_.Take(out->data.data() + begin);
    count -= n;
  }
  return Status::OK();
}

Status DeltaFixedDecoder::Decode(int64_t count, uint8_t* out) {
  while (count > 0) {
    const int64_t n = std::min(count, PrefixedStrings::kBatch);
    ARROW_ASSIGN_OR_RAISE(const int64_t size, strings_.NextLengths(n));
    for (int64_t i = 0; i < n; ++i) {
      if (strings_.length(i) != width_)
        return Invalid("a value of {} bytes in a column of {}", strings_.length(i), width_);
    }
    strings_.Take(out);
    out += size;
    count -= n;
  }
  return Status::OK();
}

}  // namespace calve::parquet
