#include "calve/parquet/dictionary_encoder.h"

#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/value_hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace calve::parquet {
namespace {

constexpr int64_t kFirstSlots = 512;
/// Values that are looked up together, so that their slots are on the way before they are needed.
constexpr size_t kBlockValues = 64;

template <typename T>
constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

/// What is hashed is still in the cache when it is compared.
constexpr size_t kBlockBytes = 32 << 10;

template <typename T>
std::span<const T> FirstBlock(std::span<const T> values) {
  std::span<const T> block = values.first(std::min(kBlockValues, values.size()));
  if constexpr (kIsBytes<T>) {
    size_t count = 0;
    for (size_t bytes = 0; count < block.size() && bytes < kBlockBytes; ++count) bytes += block[count].size();
    block = block.first(count);
  }
  return block;
}

/// The value itself tells whether a slot is its own.
template <typename T>
constexpr bool kKeyIsValue = !kIsBytes<T> && sizeof(T) == sizeof(uint32_t);

}  // namespace

template <typename T>
uint32_t DictionaryEncoder<T>::KeyOf(const T& value, uint32_t hash) {
  if constexpr (kKeyIsValue<T>) return std::bit_cast<uint32_t>(value);
  return hash;
}

template <typename T>
uint32_t DictionaryEncoder<T>::HashOfKey(uint32_t key) {
  if constexpr (kKeyIsValue<T>) return HashOf(key);
  return key;
}

template <typename T>
int DictionaryEncoder<T>::bit_width() const {
  return size_ <= 2 ? 1 : std::bit_width(static_cast<uint64_t>(size_ - 1));
}

template <typename T>
T DictionaryEncoder<T>::value(uint32_t id) const {
  if constexpr (kIsBytes<T>) {
    const int64_t length_bytes = fixed_ ? 0 : sizeof(uint32_t);
    const int64_t end = starts_[id + 1] - length_bytes;
    return {reinterpret_cast<const char*>(page_.data() + starts_[id]), static_cast<size_t>(end - starts_[id])};
  } else {
    T result;
    std::memcpy(&result, page_.data() + static_cast<int64_t>(id) * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return result;
  }
}

template <typename T>
int64_t DictionaryEncoder<T>::AddedBytes(const T& value) const {
  if constexpr (kIsBytes<T>) {
    return static_cast<int64_t>(value.size() + (fixed_ ? 0 : sizeof(uint32_t)));
  } else {
    return sizeof(T);
  }
}

template <typename T>
typename DictionaryEncoder<T>::Slot* DictionaryEncoder<T>::Find(const T& value, uint32_t hash) {
  const auto mask = static_cast<uint64_t>(slots_.size() - 1);
  const uint32_t key = KeyOf(value, hash);
  for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
    Slot* slot = slots_.data() + i;
    if (slot->id_plus_one == 0) return slot;
    if (slot->key == key && SameBits(this->value(slot->id_plus_one - 1), value)) return slot;
  }
}

template <typename T>
arrow::Status DictionaryEncoder<T>::Grow() {
  PoolVector<Slot> old = std::move(slots_);
  slots_ = PoolVector<Slot>(page_.pool());
  // Four times as many, but no more than a full dictionary needs.
  const int64_t values = limit_bytes_ / (kIsBytes<T> ? 1 : static_cast<int64_t>(sizeof(T)));
  const int64_t most_values = std::clamp(values, size_ + 1, int64_t{1} << 32);
  const auto enough = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(most_values) / 5 * 8 + 8));
  const int64_t count = std::max({std::min(old.size() * 4, enough), old.size() * 2, kFirstSlots});
  ARROW_RETURN_NOT_OK(slots_.AppendRun(Slot{0, 0}, count));
  const auto mask = static_cast<uint64_t>(slots_.size() - 1);
  for (const Slot& slot : old.span()) {
    if (slot.id_plus_one == 0) continue;
    uint64_t i = HashOfKey(slot.key) & mask;
    while (slots_[static_cast<int64_t>(i)].id_plus_one != 0) i = (i + 1) & mask;
    slots_[static_cast<int64_t>(i)] = slot;
  }
  return arrow::Status::OK();
}

template <typename T>
arrow::Status DictionaryEncoder<T>::Insert(const T& value, uint32_t key, Slot* slot) {
  ARROW_RETURN_NOT_OK(AppendPlain(std::span<const T>(&value, 1), fixed_, &page_));
  if constexpr (kIsBytes<T>) {
    const int64_t length_bytes = fixed_ ? 0 : sizeof(uint32_t);
    if (starts_.empty()) ARROW_RETURN_NOT_OK(starts_.Append(length_bytes));
    ARROW_RETURN_NOT_OK(starts_.Append(page_.size() + length_bytes));
  }
  *slot = {key, static_cast<uint32_t>(++size_)};
  return arrow::Status::OK();
}

/// Looks up values one by one; `count` becomes how many have ids. False when the dictionary is full.
template <typename T>
arrow::Result<bool> DictionaryEncoder<T>::AppendBlock(std::span<const T> values, const uint32_t* hashes, uint32_t* ids,
                                                      int64_t* count) {
  for (*count = 0; *count < static_cast<int64_t>(values.size()); ++*count) {
    const T& value = values[static_cast<size_t>(*count)];
    const uint32_t hash = hashes[*count];
    Slot* slot = Find(value, hash);
    if (slot->id_plus_one == 0) {
      if (page_.size() + AddedBytes(value) > limit_bytes_) return false;
      if (IsCrowdedWith(1)) {
        ARROW_RETURN_NOT_OK(Grow());
        slot = Find(value, hash);
      }
      ARROW_RETURN_NOT_OK(Insert(value, KeyOf(value, hash), slot));
    }
    ids[*count] = slot->id_plus_one - 1;
  }
  return true;
}

/// The same for numbers that all have room. Whether one is new is seldom foreseen, so no branch depends on it: each is
/// put behind the last value, where the search for a new one ends.
template <typename T>
void DictionaryEncoder<T>::AppendNumbers(std::span<const T> values, const uint32_t* hashes, uint32_t* ids)
  requires std::is_arithmetic_v<T>
{
  const auto mask = static_cast<uint64_t>(slots_.size() - 1);
  Slot* const slots = slots_.data();
  T* const page = reinterpret_cast<T*>(page_.data());
  auto next = static_cast<uint32_t>(size_);
  for (size_t k = 0; k < values.size(); ++k) {
    const T value = values[k];
    const uint32_t key = KeyOf(value, hashes[k]);
    page[next] = value;
    uint64_t i = hashes[k] & mask;
    for (;; i = (i + 1) & mask) {
      const Slot slot = slots[i];
      const bool may_be = (slot.id_plus_one == 0) | (slot.key == key);
      if (!may_be) continue;
      if constexpr (kKeyIsValue<T>) break;
      if (SameBits(page[slot.id_plus_one == 0 ? next : slot.id_plus_one - 1], value)) break;
    }
    const uint32_t found = slots[i].id_plus_one;
    const uint32_t id = found == 0 ? next : found - 1;
    slots[i] = {key, id + 1};
    ids[k] = id;
    next += found == 0 ? 1 : 0;
  }
  page_.UnsafeResize(static_cast<int64_t>(next * sizeof(T)));
  size_ = next;
}

template <typename T>
arrow::Result<bool> DictionaryEncoder<T>::Append(std::span<const T> values, PoolVector<uint32_t>* ids) {
  if (values.empty()) return true;
  ARROW_RETURN_NOT_OK(ids->Reserve(static_cast<int64_t>(values.size())));
  if (slots_.empty()) ARROW_RETURN_NOT_OK(Grow());
  std::span<const T> block;
  for (size_t begin = 0; begin < values.size(); begin += block.size()) {
    block = FirstBlock(values.subspan(begin));
    std::array<uint32_t, kBlockValues> hashes;
    for (size_t i = 0; i < block.size(); ++i) {
      hashes[i] = HashOf(block[i]);
      __builtin_prefetch(slots_.data() + (hashes[i] & static_cast<uint64_t>(slots_.size() - 1)), /*rw=*/1);
    }
    const auto more = static_cast<int64_t>(block.size());
    int64_t count = more;
    bool fits = true;
    if (!kIsBytes<T> && page_.size() + static_cast<int64_t>(block.size_bytes()) <= limit_bytes_ &&
        !IsCrowdedWith(more)) {
      if constexpr (!kIsBytes<T>) {
        ARROW_RETURN_NOT_OK(page_.Reserve(static_cast<int64_t>(block.size_bytes())));
        AppendNumbers(block, hashes.data(), ids->data() + ids->size());
      }
    } else {
      ARROW_ASSIGN_OR_RAISE(fits, AppendBlock(block, hashes.data(), ids->data() + ids->size(), &count));
    }
    ids->UnsafeResize(ids->size() + count);
    if (!fits) return false;
  }
  return true;
}

template <typename T>
arrow::Result<std::shared_ptr<arrow::Buffer>> DictionaryEncoder<T>::Finish() {
  auto result = page_.Finish();
  Reset();
  return result;
}

template <typename T>
void DictionaryEncoder<T>::Reset() {
  size_ = 0;
  page_.Release();
  starts_.Release();
  slots_.Release();
}

template class DictionaryEncoder<int32_t>;
template class DictionaryEncoder<int64_t>;
template class DictionaryEncoder<float>;
template class DictionaryEncoder<double>;
template class DictionaryEncoder<std::string_view>;

}  // namespace calve::parquet
