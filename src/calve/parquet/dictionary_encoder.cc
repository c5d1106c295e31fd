#include "calve/parquet/dictionary_encoder.h"

#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/value_hash.h"

#include <bit>
#include <type_traits>

namespace calve::parquet {
namespace {

constexpr int64_t kFirstSlots = 256;

template <typename T>
constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

}  // namespace

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
  for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
    Slot* slot = slots_.data() + i;
    if (slot->id_plus_one == 0) return slot;
    if (slot->hash == hash && SameBits(this->value(slot->id_plus_one - 1), value)) return slot;
  }
}

template <typename T>
arrow::Status DictionaryEncoder<T>::Grow() {
  PoolVector<Slot> old = std::move(slots_);
  slots_ = PoolVector<Slot>(page_.pool());
  ARROW_RETURN_NOT_OK(slots_.AppendRun(Slot{0, 0}, std::max(old.size() * 2, kFirstSlots)));
  const auto mask = static_cast<uint64_t>(slots_.size() - 1);
  for (const Slot& slot : old.span()) {
    if (slot.id_plus_one == 0) continue;
    uint64_t i = slot.hash & mask;
    while (slots_[static_cast<int64_t>(i)].id_plus_one != 0) i = (i + 1) & mask;
    slots_[static_cast<int64_t>(i)] = slot;
  }
  return arrow::Status::OK();
}

template <typename T>
arrow::Status DictionaryEncoder<T>::Insert(const T& value, uint32_t hash, Slot* slot) {
  ARROW_RETURN_NOT_OK(AppendPlain(std::span<const T>(&value, 1), fixed_, &page_));
  if constexpr (kIsBytes<T>) {
    const int64_t length_bytes = fixed_ ? 0 : sizeof(uint32_t);
    if (starts_.empty()) ARROW_RETURN_NOT_OK(starts_.Append(length_bytes));
    ARROW_RETURN_NOT_OK(starts_.Append(page_.size() + length_bytes));
  }
  *slot = {hash, static_cast<uint32_t>(++size_)};
  return arrow::Status::OK();
}

template <typename T>
arrow::Result<bool> DictionaryEncoder<T>::Append(std::span<const T> values, PoolVector<uint32_t>* ids) {
  ARROW_RETURN_NOT_OK(ids->Reserve(static_cast<int64_t>(values.size())));
  if (slots_.empty()) ARROW_RETURN_NOT_OK(Grow());
  for (const T& value : values) {
    const uint32_t hash = HashOf(value);
    Slot* slot = Find(value, hash);
    if (slot->id_plus_one == 0) {
      if (page_.size() + AddedBytes(value) > limit_bytes_) return false;
      if (size_ * 2 >= slots_.size()) {
        ARROW_RETURN_NOT_OK(Grow());
        slot = Find(value, hash);
      }
      ARROW_RETURN_NOT_OK(Insert(value, hash, slot));
    }
    ids->UnsafeAppend(slot->id_plus_one - 1);
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
