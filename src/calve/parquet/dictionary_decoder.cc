#include "calve/parquet/dictionary_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/parquet/byte_copy.h"
#include "calve/simd/gather.h"

#include <bit>

namespace calve::parquet {
namespace {

/// Repeats of at least this many indices are given out as such.
constexpr int64_t kLongRepeat = 64;

}  // namespace

Status IndexReader::Start() {
  if (bytes_.empty()) return Invalid("dictionary indices without their bit width");
  if (bytes_[0] > 32) return Invalid("dictionary indices of {} bits", bytes_[0]);
  runs_ = RunReader(bytes_.subspan(1), bytes_[0]);
  started_ = true;
  return Status::OK();
}

Status IndexReader::Check(uint32_t largest) const {
  if (largest < dictionary_count_) return Status::OK();
  return Invalid("dictionary index {} out of range (dictionary has {} values)", largest, dictionary_count_);
}

/// Sees to it that run_ holds something.
Status IndexReader::NextRun() {
  if (!started_) ARROW_RETURN_NOT_OK(Start());
  return run_.count > 0 ? Status::OK() : runs_.Next(std::numeric_limits<int64_t>::max(), &run_);
}

/// Few distinct values come in short runs of both kinds, one after the other.
int64_t IndexReader::NextShortRuns(int64_t wanted, uint32_t* out) {
  constexpr int64_t kMostValues = 16;
  if (run_.count > 0 || wanted < RunReader::kRunRoom || !runs_.NextIsShort() || dictionary_count_ == 0) return 0;
  uint8_t narrow[kBatch];
  const auto largest = static_cast<uint8_t>(std::min(dictionary_count_, kMostValues) - 1);
  const int64_t n = runs_.DecodeShortMixedRuns(wanted, largest, narrow);
  std::copy(narrow, narrow + n, out);
  return n;
}

Status IndexReader::Next(int64_t wanted, uint32_t* out, int64_t* count, bool* repeated) {
  const int64_t limit = std::min(wanted, kBatch);
  int64_t filled = 0;
  *repeated = false;
  while (filled < limit) {
    if (const int64_t n = NextShortRuns(limit - filled, out + filled); n > 0) {
      filled += n;
      continue;
    }
    ARROW_RETURN_NOT_OK(NextRun());
    int64_t n = std::min(run_.count, limit - filled);
    if (run_.packed == nullptr) {
      if (run_.count >= kLongRepeat) {
        if (filled > 0) break;
        *repeated = true;
        n = std::min(run_.count, wanted);
        out[0] = run_.value;
      } else {
        std::fill_n(out + filled, n, run_.value);
      }
    } else {
      // Left at a multiple of eight, a run goes on at a byte.
      if (n < run_.count && n >= 8) n -= n % 8;
      Run part = run_;
      part.count = n;
      UnpackRun(part, runs_.bit_width(), out + filled);
    }
    run_.first += n;
    run_.count -= n;
    filled += n;
    if (*repeated || (run_.packed != nullptr && run_.count > 0)) break;
  }
  *count = filled;
  return Check(*repeated ? out[0] : simd::Largest(out, static_cast<size_t>(filled)));
}

Status IndexReader::Decode(int64_t count, uint32_t* out) {
  while (count > 0) {
    int64_t n = 0;
    bool repeated = false;
    ARROW_RETURN_NOT_OK(Next(count, out, &n, &repeated));
    if (repeated) std::fill_n(out, n, out[0]);
    out += n;
    count -= n;
  }
  return Status::OK();
}

Status IndexReader::Skip(int64_t count) {
  while (count > 0) {
    ARROW_RETURN_NOT_OK(NextRun());
    const int64_t n = std::min(run_.count, count);
    run_.first += n;
    run_.count -= n;
    count -= n;
  }
  return Status::OK();
}

Status DictionaryFixedDecoder::Decode(int64_t count, uint8_t* out) {
  uint32_t indices[IndexReader::kBatch];
  const auto width = static_cast<size_t>(width_);
  while (count > 0) {
    int64_t n = 0;
    bool repeated = false;
    ARROW_RETURN_NOT_OK(indices_.Next(count, indices, &n, &repeated));
    if (repeated) {
      simd::Repeat(dictionary_.fixed->data() + indices[0] * width, width, static_cast<size_t>(n), out);
    } else {
      simd::Gather(dictionary_.fixed->data(), width, static_cast<size_t>(dictionary_.count), indices,
                   static_cast<size_t>(n), out);
    }
    out += n * width_;
    count -= n;
  }
  return Status::OK();
}

int64_t DictionaryBinaryDecoder::BytesAtMost(int64_t count) const {
  return CheckedMultiply(count, dictionary_.largest_bytes).value_or(std::numeric_limits<int64_t>::max());
}

/// There is room for what is appended.
template <typename Copy>
void DictionaryBinaryDecoder::AppendBy(const Copy& copy, const uint32_t* indices, int64_t count,
                                       BinaryValues* out) const {
  const int32_t* const offsets = dictionary_.ends();
  const uint8_t* const data = dictionary_.bytes->data();
  uint8_t* const begin = out->data.data();
  uint8_t* to = begin + out->data.size();
  int32_t* ends = out->offsets.data() + out->offsets.size();
  for (int64_t i = 0; i < count; ++i) {
    const int32_t start = offsets[indices[i]];
    const auto size = static_cast<size_t>(offsets[indices[i] + 1] - start);
    copy(data + start, size, to);
    to += size;
    ends[i] = static_cast<int32_t>(to - begin);
  }
  out->offsets.UnsafeResize(out->offsets.size() + count);
  out->data.UnsafeResize(to - begin);
}

/// Where values lie follows from their index. There is room for what is appended.
void DictionaryBinaryDecoder::AppendSameLengths(const uint32_t* indices, int64_t count, BinaryValues* out) const {
  const auto width = static_cast<size_t>(dictionary_.largest_bytes);
  uint8_t* to = out->data.data() + out->data.size();
  auto end = static_cast<int32_t>(out->data.size());
  int32_t* const ends = out->offsets.data() + out->offsets.size();
  for (int64_t i = 0; i < count; ++i) ends[i] = end += static_cast<int32_t>(width);
  out->offsets.UnsafeResize(out->offsets.size() + count);
  out->data.UnsafeResize(end);
  const uint8_t* const values = dictionary_.bytes->data();
  if (std::has_single_bit(width)) {
    simd::Gather(values, width, static_cast<size_t>(dictionary_.count), indices, static_cast<size_t>(count), to);
    return;
  }
  for (int64_t i = 0; i < count; ++i, to += width) std::memcpy(to, values + indices[i] * width, kOvercopyBytes);
}

void DictionaryBinaryDecoder::Append(const uint32_t* indices, int64_t count, BinaryValues* out) const {
  if (dictionary_.same_lengths && dictionary_.largest_bytes <= static_cast<int64_t>(kOvercopyBytes)) {
    return AppendSameLengths(indices, count, out);
  }
  // Where all are short, every one is copied as one block.
  constexpr size_t kHalf = kOvercopyBytes / 2;
  if (dictionary_.largest_bytes <= static_cast<int64_t>(kHalf)) {
    AppendBy([](const uint8_t* in, size_t, uint8_t* to) { std::memcpy(to, in, kHalf); }, indices, count, out);
  } else if (dictionary_.largest_bytes <= static_cast<int64_t>(kOvercopyBytes)) {
    AppendBy([](const uint8_t* in, size_t, uint8_t* to) { std::memcpy(to, in, kOvercopyBytes); }, indices, count, out);
  } else {
    AppendBy([](const uint8_t* in, size_t size, uint8_t* to) { CopyShortBytes(in, size, to); }, indices, count, out);
  }
}

Status DictionaryBinaryDecoder::Decode(int64_t count, BinaryValues* out) {
  constexpr int64_t kShort = 64;  // room for the longest value each time costs little
  uint32_t indices[IndexReader::kBatch];
  ARROW_RETURN_NOT_OK(out->offsets.Reserve(count));
  while (count > 0) {
    int64_t n = 0;
    bool repeated = false;
    ARROW_RETURN_NOT_OK(indices_.Next(std::min(count, IndexReader::kBatch), indices, &n, &repeated));
    if (repeated) std::fill(indices + 1, indices + n, indices[0]);
    int64_t room = n * dictionary_.largest_bytes;
    if (dictionary_.largest_bytes > kShort) {
      room = 0;
      const int32_t* offsets = dictionary_.ends();
      for (int64_t i = 0; i < n; ++i) room += offsets[indices[i] + 1] - offsets[indices[i]];
    }
    ARROW_RETURN_NOT_OK(out->data.Reserve(room));
    Append(indices, n, out);
    count -= n;
  }
  return Status::OK();
}

Status DictionaryBinaryDecoder::DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>&, ViewValues* out) {
  if (dictionary_.views == nullptr) return Invalid("views of a dictionary that was made for another form");
  const uint32_t buffer_index = out->IndexOf(dictionary_.bytes);
  PoolVector<BinaryView>& views = out->views();
  ARROW_RETURN_NOT_OK(views.Reserve(count));
  uint32_t indices[IndexReader::kBatch];
  const uint8_t* const values = dictionary_.views->data();
  while (count > 0) {
    int64_t n = 0;
    bool repeated = false;
    ARROW_RETURN_NOT_OK(indices_.Next(count, indices, &n, &repeated));
    BinaryView* const to = views.data() + views.size();
    auto* const bytes = reinterpret_cast<uint8_t*>(to);
    if (repeated) {
      simd::Repeat(values + indices[0] * sizeof(BinaryView), sizeof(BinaryView), static_cast<size_t>(n), bytes);
    } else {
      simd::Gather(values, sizeof(BinaryView), static_cast<size_t>(dictionary_.count), indices, static_cast<size_t>(n),
                   bytes);
    }
    // The dictionary's views say buffer 0.
    for (int64_t i = 0; buffer_index > 0 && i < n; ++i) {
      if (!to[i].is_inline()) to[i].rest[0] = buffer_index;
    }
    views.UnsafeResize(views.size() + n);
    count -= n;
  }
  return Status::OK();
}

}  // namespace calve::parquet
