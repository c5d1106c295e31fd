// Values of a data page, after its levels:
//
//   PLAIN              the values one after another; booleans one bit each, LSB first
//   RLE_DICTIONARY     u8 bit width, then ids as runs and bit-packed groups
//   RLE (booleans)     u32 length, then runs and bit-packed groups of width 1

#include "calve/parquet/value_encoder.h"

#include "calve/parquet/packed_rle.h"
#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/rle_encoder.h"

#include <arrow/util/bit_util.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace calve::parquet {
namespace {

/// A dictionary is a page, whose size is an int32.
constexpr int64_t kLargestDictionary = int64_t{1} << 30;
constexpr int64_t kOftenEnough = 8, kLargerDictionary = 16;

}  // namespace

template <typename T>
ValueEncoder<T>::ValueEncoder(const SchemaElement& element, const ColumnOptions& options, arrow::MemoryPool* pool)
    : fixed_(element.type == PhysicalType::kFixedLenByteArray),
      may_use_dictionary_(options.dictionary),
      dictionary_bytes_(std::min(options.dictionary_bytes, kLargestDictionary)),
      page_bytes_(options.page_bytes),
      state_(options.dictionary ? State::kUndecided : State::kPlain),
      dictionary_(fixed_, dictionary_bytes_, pool),
      ids_(pool),
      entry_ids_(pool),
      used_(pool),
      plain_(pool),
      delta_page_(pool),
      encoded_ids_(pool) {}

template <typename T>
int64_t ValueEncoder<T>::bytes() const {
  if (state_ == State::kDictionary) return IdBytes(0) + dictionary_.page_bytes();
  if (state_ == State::kPlain) return IdBytes(0) + PlainPageBytes() + dictionary_.page_bytes();
  // The page will be one or the other.
  const int64_t ids_bytes = IdBytes(0);
  return std::min(plain_bytes_, dictionary_.page_bytes() + ids_bytes);
}

template <typename T>
Result<int64_t> ValueEncoder<T>::BytesWith(std::span<const T> values) {
  const auto count = static_cast<int64_t>(values.size());
  const int64_t ids_bytes = IdBytes(0);
  switch (state_) {
    case State::kUndecided:
      // The page may yet become PLAIN.
      return plain_bytes_ + PlainBytes(values, fixed_);
    case State::kDictionary:
      return ids_bytes + (count * dictionary_.bit_width() + 7) / 8;
    case State::kPlain:
      break;
  }
  if constexpr (kIsBytes) {
    if (deltas_) {
      ARROW_ASSIGN_OR_RAISE(const int64_t bytes, delta_page_.BytesWith(values, page_bytes_));
      return ids_bytes + bytes;
    }
  }
  return ids_bytes + plain_.size() + PlainBytes(values, fixed_);
}

namespace {

template <typename T>
int64_t PlainBytesOfEntries(std::span<const T> entries, std::span<const uint32_t> positions, bool fixed) {
  if constexpr (!std::is_same_v<T, std::string_view>) return static_cast<int64_t>(positions.size() * sizeof(T));
  int64_t bytes = 0;
  for (uint32_t position : positions) bytes += PlainBytes(entries.subspan(position, 1), fixed);
  return bytes;
}

}  // namespace

template <typename T>
int64_t ValueEncoder<T>::IdBytes(int64_t more) const {
  return ((ids_.size() + more) * dictionary_.bit_width() + 7) / 8;
}

template <typename T>
int64_t ValueEncoder<T>::BytesWithEntries(std::span<const T> entries, std::span<const uint32_t> positions) const {
  if (state_ == State::kUndecided) return plain_bytes_ + PlainBytesOfEntries(entries, positions, fixed_);
  return IdBytes(static_cast<int64_t>(positions.size()));
}

/// Gives the entries that are used ids. False when the dictionary is full.
template <typename T>
Result<bool> ValueEncoder<T>::Identify(std::span<const T> entries, std::span<const uint32_t> positions) {
  PoolVector<uint32_t> id(ids_.pool());
  for (uint32_t position : positions) {
    if (entry_ids_[position] != kNoId) continue;
    id.Clear();
    ARROW_ASSIGN_OR_RAISE(bool fits, dictionary_.Append(entries.subspan(position, 1), &id));
    if (!fits && MayGrow()) {
      ARROW_ASSIGN_OR_RAISE(fits, dictionary_.Append(entries.subspan(position, 1), &id));
    }
    if (!fits) return false;
    entry_ids_[position] = id[0];
  }
  return true;
}

template <typename T>
Result<bool> ValueEncoder<T>::AppendEntries(std::span<const T> entries, std::span<const uint32_t> positions,
                                            int64_t generation) {
  if (generation != entries_generation_) {
    entry_ids_.Clear();
    ARROW_RETURN_NOT_OK(entry_ids_.AppendRun(kNoId, static_cast<int64_t>(entries.size())));
    entries_generation_ = generation;
  }
  ARROW_ASSIGN_OR_RAISE(bool fits, Identify(entries, positions));
  if (!fits) return false;
  ARROW_RETURN_NOT_OK(ids_.Reserve(static_cast<int64_t>(positions.size())));
  for (uint32_t position : positions) ids_.UnsafeAppend(entry_ids_[position]);
  chunk_ids_ += static_cast<int64_t>(positions.size());
  if (state_ == State::kUndecided) plain_bytes_ += PlainBytesOfEntries(entries, positions, fixed_);
  return true;
}

template <typename T>
bool ValueEncoder<T>::MayGrow() {
  const int64_t largest = std::min(kLargerDictionary * dictionary_bytes_, kLargestDictionary);
  if (dictionary_.limit_bytes() >= largest || chunk_ids_ < kOftenEnough * dictionary_.size()) return false;
  dictionary_.set_limit_bytes(std::min(2 * dictionary_.limit_bytes(), largest));
  return true;
}

template <typename T>
bool ValueEncoder<T>::Pays(bool last_of_chunk) const {
  // A single value says nothing of those to come.
  if (!last_of_chunk && ids_.size() == 1) return true;
  // Before the end, ids cost something but the dictionary is going to be used again: what counts is whether values
  // repeat.
  const int64_t ids_bytes = IdBytes(0);
  if (last_of_chunk) return dictionary_.page_bytes() + ids_bytes < plain_bytes_;
  return dictionary_.page_bytes() < plain_bytes_ - plain_bytes_ / 20;
}

template <typename T>
Status ValueEncoder<T>::UpdateBounds(Bounds<T>* bounds) {
  if (ids_.empty() || ids_in_bounds_ == ids_.size()) return Status::OK();
  ids_in_bounds_ = ids_.size();
  ARROW_RETURN_NOT_OK(used_.Resize(dictionary_.size()));
  std::memset(used_.data(), 0, static_cast<size_t>(used_.size()));
  std::array<T, 256> values;
  size_t count = 0;
  for (uint32_t id : ids_.span()) {
    if (used_[id] != 0) continue;
    used_[id] = 1;
    values[count++] = dictionary_.value(id);
    if (count < values.size()) continue;
    bounds->Update(values);
    count = 0;
  }
  bounds->Update({values.data(), count});
  return Status::OK();
}

template <typename T>
void ValueEncoder<T>::ResetDictionary() {
  dictionary_.Reset();
  dictionary_.set_limit_bytes(dictionary_bytes_);
  chunk_ids_ = 0;
  entries_generation_ = -1;
}

template <typename T>
Status ValueEncoder<T>::Abandon(Bounds<T>* bounds) {
  ARROW_RETURN_NOT_OK(UpdateBounds(bounds));
  if (!deltas_) ARROW_RETURN_NOT_OK(plain_.own()->Reserve(plain_bytes_));
  for (uint32_t id : ids_.span()) {
    const T value = dictionary_.value(id);
    const std::span<const T> one(&value, 1);
    if constexpr (kIsBytes) {
      if (deltas_) {
        ARROW_RETURN_NOT_OK(delta_page_.Append(one, /*stay=*/false));
        continue;
      }
    }
    ARROW_RETURN_NOT_OK(AppendPlain(one, fixed_, plain_.own()));
  }
  ids_.Release();
  ids_in_bounds_ = 0;
  plain_bytes_ = 0;
  ResetDictionary();
  state_ = State::kPlain;
  return Status::OK();
}

template <typename T>
Status ValueEncoder<T>::AppendWithoutDictionary(std::span<const T> values, Bounds<T>* bounds) {
  if constexpr (kIsBytes) {
    const bool stay = !fixed_;
    const bool are_long = stay && PlainBytes(values, fixed_) >= static_cast<int64_t>(values.size()) * kLongValueBytes;
    if (are_long) {
      bounds->Refer(values);
    } else {
      bounds->Update(values);
    }
    if (deltas_) return delta_page_.Append(values, stay);
    if (are_long) {
      for (std::string_view value : values) {
        const auto length = static_cast<uint32_t>(value.size());
        ARROW_RETURN_NOT_OK(plain_.own()->Append(reinterpret_cast<const uint8_t*>(&length), sizeof(length)));
        ARROW_RETURN_NOT_OK(plain_.Borrow({reinterpret_cast<const uint8_t*>(value.data()), value.size()}));
      }
      return Status::OK();
    }
  } else {
    bounds->Update(values);
  }
  return AppendPlain(values, fixed_, plain_.own());
}

template <typename T>
Result<bool> ValueEncoder<T>::Append(std::span<const T> values, Bounds<T>* bounds) {
  if (state_ != State::kPlain) {
    const int64_t ids_before = ids_.size();
    ARROW_ASSIGN_OR_RAISE(bool fits, dictionary_.Append(values, &ids_));
    while (!fits && MayGrow()) {
      ARROW_RETURN_NOT_OK(ids_.Resize(ids_before));
      ARROW_ASSIGN_OR_RAISE(fits, dictionary_.Append(values, &ids_));
    }
    if (fits) {
      chunk_ids_ += static_cast<int64_t>(values.size());
      if (state_ == State::kUndecided) plain_bytes_ += PlainBytes(values, fixed_);
      // Numbers cost less now, one after another, than as entries of the dictionary.
      if (std::is_arithmetic_v<T> && ids_in_bounds_ == ids_before) {
        bounds->Update(values);
        ids_in_bounds_ = ids_.size();
      }
      return true;
    }
    ARROW_RETURN_NOT_OK(ids_.Resize(ids_before));
    if (state_ == State::kDictionary || (ids_before > 0 && Pays(/*last_of_chunk=*/true))) {
      state_ = State::kPlain;
      return false;
    }
    ARROW_RETURN_NOT_OK(Abandon(bounds));
  }
  if (!ids_.empty()) return false;
  ARROW_RETURN_NOT_OK(AppendWithoutDictionary(values, bounds));
  return true;
}

template <typename T>
Result<EncodedValues> ValueEncoder<T>::EncodePage(bool last_of_chunk, Bounds<T>* bounds) {
  if (state_ == State::kUndecided && !ids_.empty()) {
    if (Pays(last_of_chunk)) {
      state_ = State::kDictionary;
    } else {
      ARROW_RETURN_NOT_OK(Abandon(bounds));
    }
  }
  EncodedValues result;
  if (ids_.empty() && deltas_ && delta_page_.count() > 0) {
    result.encoding = Encoding::kDeltaByteArray;
    ARROW_RETURN_NOT_OK(delta_page_.Finish(&result.pieces));
    return result;
  }
  if (ids_.empty()) {
    ARROW_RETURN_NOT_OK(plain_.VisitAll([&](std::span<const uint8_t> bytes, bool borrowed) {
      result.pieces.push_back({bytes, borrowed});
      return Status::OK();
    }));
    return result;
  }
  has_dictionary_pages_ = true;
  ARROW_RETURN_NOT_OK(UpdateBounds(bounds));
  encoded_ids_.Clear();
  const int bit_width = dictionary_.bit_width();
  ARROW_RETURN_NOT_OK(encoded_ids_.Append(static_cast<uint8_t>(bit_width)));
  ARROW_RETURN_NOT_OK(EncodeRle(ids_.span(), bit_width, &encoded_ids_));
  result.encoding = Encoding::kRleDictionary;
  result.pieces.push_back({encoded_ids_.span(), false});
  return result;
}

template <typename T>
Result<std::span<const uint8_t>> ValueEncoder<T>::PlainInOnePiece() {
  ARROW_RETURN_NOT_OK(plain_.OwnAll());
  return plain_.span();
}

template <typename T>
Status ValueEncoder<T>::Own() {
  ARROW_RETURN_NOT_OK(delta_page_.Own());
  return plain_.OwnAll();
}

template <typename T>
void ValueEncoder<T>::ClearPage() {
  ids_.Clear();
  ids_in_bounds_ = 0;
  plain_bytes_ = 0;
  plain_.Clear();
  delta_page_.Clear();
}

template <typename T>
Result<EncodedDictionary> ValueEncoder<T>::EndChunk() {
  EncodedDictionary result;
  if (has_dictionary_pages_) {
    result.value_count = dictionary_.size();
    ARROW_ASSIGN_OR_RAISE(result.values, dictionary_.Finish());
  }
  ResetDictionary();
  ids_.Release();
  ids_in_bounds_ = 0;
  plain_.Release();
  delta_page_.Release();
  has_dictionary_pages_ = false;
  plain_bytes_ = 0;
  state_ = may_use_dictionary_ ? State::kUndecided : State::kPlain;
  return result;
}

Result<bool> ValueEncoder<uint8_t>::Append(std::span<const uint8_t> values, Bounds<uint8_t>* bounds) {
  ARROW_RETURN_NOT_OK(bits_.Resize(BitBytesWith(values)));
  size_t i = 0;
  const auto append_one = [&] { arrow::bit_util::SetBitTo(bits_.data(), count_++, values[i++] != 0); };
  while (i < values.size() && count_ % 8 != 0) append_one();
  for (; i + 8 <= values.size(); i += 8, count_ += 8) {
    uint64_t word;
    std::memcpy(&word, values.data() + i, sizeof(word));
    // Byte k, 0 or 1, becomes bit k of the last byte of the product.
    bits_[count_ / 8] = static_cast<uint8_t>((word * 0x0102040810204080u) >> 56);
  }
  while (i < values.size()) append_one();
  bounds->Update(values);
  return true;
}

Result<EncodedValues> ValueEncoder<uint8_t>::EncodePage(bool last_of_chunk, Bounds<uint8_t>* bounds) {
  if (count_ % 8 != 0) bits_[count_ / 8] &= static_cast<uint8_t>((1 << count_ % 8) - 1);
  EncodedValues plain{Encoding::kPlain, {PagePiece{bits_.span(), false}}};
  if (wanted_ == Encoding::kPlain || count_ == 0) return plain;
  uint32_t length = 0;
  runs_.Clear();
  ARROW_RETURN_NOT_OK(runs_.Resize(sizeof(length)));
  ARROW_RETURN_NOT_OK(EncodePackedRle(bits_.data(), count_, 1, &runs_));
  length = static_cast<uint32_t>(runs_.size() - static_cast<int64_t>(sizeof(length)));
  std::memcpy(runs_.data(), &length, sizeof(length));
  if (!wanted_ && runs_.size() >= bits_.size()) return plain;
  return EncodedValues{Encoding::kRle, {PagePiece{runs_.span(), false}}};
}

void ValueEncoder<uint8_t>::ClearPage() {
  bits_.Clear();
  count_ = 0;
}

Result<EncodedDictionary> ValueEncoder<uint8_t>::EndChunk() {
  bits_.Release();
  runs_.Release();
  return EncodedDictionary{};
}

template class ValueEncoder<int32_t>;
template class ValueEncoder<int64_t>;
template class ValueEncoder<float>;
template class ValueEncoder<double>;
template class ValueEncoder<std::string_view>;

}  // namespace calve::parquet
