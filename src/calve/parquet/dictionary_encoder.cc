#include "calve/parquet/dictionary_encoder.h"

#include "calve/parquet/plain_encoder.h"

#include <bit>
#include <type_traits>

namespace calve::parquet {
namespace {

constexpr int64_t kFirstSlots = 1024;

template <typename T>
constexpr bool kIsBytes = std::is_same_v<T, std::string_view>;

constexpr uint64_t kOddA = 0x9E3779B97F4A7C15u, kOddB = 0xD6E8FEB86659FD93u;

uint32_t MixBits(uint64_t bits) {
  bits *= kOddA;
  bits ^= bits >> 32;
  bits *= kOddB;
  return static_cast<uint32_t>(bits >> 32);
}

uint32_t HashBytes(const char* bytes, size_t size) {
  uint64_t hash = size, word = 0;
  const auto mix = [&hash](uint64_t next) { hash = std::rotl((hash ^ next) * kOddA, 29); };
  for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
    std::memcpy(&word, bytes, sizeof(word));
    mix(word);
  }
  if (size > 0) {
    word = 0;
    std::memcpy(&word, bytes, size);
    mix(word);
  }
  return MixBits(hash);
}

template <typename T>
uint32_t HashOf(const T& value) {
  if constexpr (kIsBytes<T>) {
    return HashBytes(value.data(), value.size());
  } else if constexpr (sizeof(T) == 8) {
    return MixBits(std::bit_cast<uint64_t>(value));
  } else {
    return MixBits(std::bit_cast<uint32_t>(value));
  }
}

template <typename T>
bool SameBits(const T& a, const T& b) {
  if constexpr (kIsBytes<T>) {
    return a == b;
  } else {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

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
  for (const T& value : values) {
    if (size_ * 2 >= slots_.size()) ARROW_RETURN_NOT_OK(Grow());
    const uint32_t hash = HashOf(value);
    Slot* slot = Find(value, hash);
    if (slot->id_plus_one == 0) {
      if (page_.size() + AddedBytes(value) > limit_bytes_) return false;
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
