#include "calve/parquet/dictionary_decoder.h"

#include "calve/parquet/plain_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

namespace calve::parquet {
namespace {

template <typename T>
void GatherAs(const uint8_t* values, const uint32_t* indices, int64_t count, uint8_t* out) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * sizeof(T), values + indices[i] * sizeof(T), sizeof(T));
}

struct Bytes12 {
  uint8_t bytes[12];
};
struct Bytes16 {
  uint8_t bytes[16];
};

/// Precondition: every index lies in the dictionary.
void Gather(const uint8_t* values, int64_t width, const uint32_t* indices, int64_t count, uint8_t* out) {
  switch (width) {
    case 1:
      return GatherAs<uint8_t>(values, indices, count, out);
    case 4:
      return GatherAs<uint32_t>(values, indices, count, out);
    case 8:
      return GatherAs<uint64_t>(values, indices, count, out);
    case 12:
      return GatherAs<Bytes12>(values, indices, count, out);
    case 16:
      return GatherAs<Bytes16>(values, indices, count, out);
    default:
      break;
  }
  if (width == 0) return;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * width, values + indices[i] * width, static_cast<size_t>(width));
}

void Repeat(const uint8_t* value, int64_t width, int64_t count, uint8_t* out) {
  const uint32_t zeros[IndexReader::kBatch] = {};
  for (; count > 0; count -= IndexReader::kBatch, out += IndexReader::kBatch * width) {
    Gather(value, width, zeros, std::min(count, IndexReader::kBatch), out);
  }
}

}  // namespace

Status FillDictionary(bool binary, int64_t width, int64_t count, std::span<const uint8_t> bytes, Dictionary* out) {
  out->count = count;
  if (!binary) {
    const auto size = CheckedMultiply(count, width);
    if (!size || *size > static_cast<int64_t>(bytes.size())) {
      return Invalid("a dictionary of {} values of {} bytes in {} bytes", count, width, bytes.size());
    }
    return out->fixed.Append(bytes.data(), *size);
  }
  if (count > static_cast<int64_t>(bytes.size()) / 4) {
    return Invalid("a dictionary of {} byte arrays in {} bytes", count, bytes.size());
  }
  ARROW_RETURN_NOT_OK(out->binary.Init());
  PlainBinaryDecoder decoder(bytes);
  ARROW_RETURN_NOT_OK(decoder.Decode(count, &out->binary));
  for (int64_t i = 0; i < count; ++i) {
    out->largest_bytes = std::max<int64_t>(out->largest_bytes, out->binary.offsets[i + 1] - out->binary.offsets[i]);
  }
  return Status::OK();
}

Status IndexReader::Start() {
  if (bytes_.empty()) return Invalid("dictionary indices without their bit width");
  if (bytes_[0] > 32) return Invalid("dictionary indices of {} bits", bytes_[0]);
  runs_ = RunReader(bytes_.subspan(1), bytes_[0]);
  started_ = true;
  return Status::OK();
}

Status IndexReader::OutOfRange(uint32_t index) const {
  return Invalid("dictionary index {} out of range (dictionary has {} values)", index, dictionary_count_);
}

Status IndexReader::Next(int64_t wanted, uint32_t* out, int64_t* count, bool* repeated) {
  if (!started_) ARROW_RETURN_NOT_OK(Start());
  Run run;
  // A repeated index may be taken at any length, packed ones as many as there is room for.
  ARROW_RETURN_NOT_OK(runs_.Next(std::min(wanted, kBatch), &run));
  *count = run.count;
  *repeated = run.packed == nullptr;
  uint32_t largest = run.value;
  if (*repeated) {
    out[0] = run.value;
  } else {
    UnpackRun(run, runs_.bit_width(), out);
    largest = *std::max_element(out, out + run.count);
  }
  return largest < dictionary_count_ ? Status::OK() : OutOfRange(largest);
}

Status DictionaryFixedDecoder::Decode(int64_t count, uint8_t* out) {
  uint32_t indices[IndexReader::kBatch];
  while (count > 0) {
    int64_t n = 0;
    bool repeated = false;
    ARROW_RETURN_NOT_OK(indices_.Next(count, indices, &n, &repeated));
    if (repeated) {
      Repeat(dictionary_.fixed.data() + indices[0] * width_, width_, n, out);
    } else {
      Gather(dictionary_.fixed.data(), width_, indices, n, out);
    }
    out += n * width_;
    count -= n;
  }
  return Status::OK();
}

int64_t DictionaryBinaryDecoder::BytesAtMost(int64_t count) const {
  return CheckedMultiply(count, dictionary_.largest_bytes).value_or(std::numeric_limits<int64_t>::max());
}

Status DictionaryBinaryDecoder::Decode(int64_t count, BinaryValues* out) {
  uint32_t indices[IndexReader::kBatch];
  const int32_t* offsets = dictionary_.binary.offsets.data();
  const uint8_t* data = dictionary_.binary.data.data();
  ARROW_RETURN_NOT_OK(out->offsets.Reserve(count));
  while (count > 0) {
    int64_t n = 0;
    bool repeated = false;
    ARROW_RETURN_NOT_OK(indices_.Next(count, indices, &n, &repeated));
    if (repeated) std::fill(indices + 1, indices + n, indices[0]);
    int32_t end = out->offsets[out->offsets.size() - 1];
    const int32_t begin = end;
    for (int64_t i = 0; i < n; ++i) {
      end += offsets[indices[i] + 1] - offsets[indices[i]];
      out->offsets.UnsafeAppend(end);
    }
    ARROW_RETURN_NOT_OK(out->data.Reserve(end - begin));
    for (int64_t i = 0; i < n; ++i) {
      const int32_t start = offsets[indices[i]];
      out->data.UnsafeAppend(data + start, offsets[indices[i] + 1] - start);
    }
    count -= n;
  }
  return Status::OK();
}

}  // namespace calve::parquet
