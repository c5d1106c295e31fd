#include "calve/parquet/content_chunker.h"

#include "calve/hash/hash.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace calve::parquet {
namespace {

/// What is written depends on this mix: it stays as it is.
uint64_t Mix(uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93u;
  bits = (bits ^ (bits >> 32)) * 0xD6E8FEB86659FD93u;
  return bits ^ (bits >> 32);
}

template <typename T>
uint64_t MixOf(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return Xxh64({reinterpret_cast<const uint8_t*>(value.data()), value.size()}, 0);
  } else {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return Mix(bits + 0x9E3779B97F4A7C15u);
  }
}

template <typename T>
int64_t BytesOf(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) return static_cast<int64_t>(value.size() + sizeof(uint32_t));
  return sizeof(T);
}

bool IsSet(const uint8_t* bits, int64_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

/// The level of slot `i`: how many of the planes have its bit.
int LevelOf(std::span<const BitPlane> planes, int64_t i) {
  int level = 0;
  for (const BitPlane& plane : planes) level += IsSet(plane.bytes(), i) ? 1 : 0;
  return level;
}

int DefinitionLevelOf(const LeafSlots& slots, int max_level, int64_t i) {
  if (!slots.flat) return LevelOf(slots.definition_planes, i);
  if (max_level == 0) return 0;
  if (slots.all_null) return 0;
  return slots.validity == nullptr || IsSet(slots.validity, slots.validity_offset + i) ? 1 : 0;
}

/// The slots from `slot` on, a multiple of 64, that have level 0 of both kinds: whole words of them.
int64_t NullSlots(const LeafSlots& slots, int64_t slot) {
  const auto all_zero = [](std::span<const BitPlane> planes, int64_t word) {
    for (const BitPlane& plane : planes) {
      if (plane.words()[word] != 0) return false;
    }
    return true;
  };
  if (slots.all_null) return slots.slot_count - slot;
  if (slots.flat ? slots.validity == nullptr : slots.definition_planes.empty()) return 0;
  int64_t end = slot;
  for (; end + 64 <= slots.slot_count; end += 64) {
    const bool null = slots.flat
                          ? LoadBits(slots.validity, slots.validity_offset + end, 64) == 0
                          : all_zero(slots.definition_planes, end / 64) && all_zero(slots.repetition_planes, end / 64);
    if (!null) break;
  }
  return end - slot;
}

}  // namespace

ContentChunker::ContentChunker(const ParquetContentChunking& options)
    : min_bytes_(options.min_bytes), max_bytes_(options.max_bytes) {
  const double middle = static_cast<double>(options.max_bytes - options.min_bytes) / 2;
  odds_before_ = std::ldexp(1 / middle, 32 - options.norm_level);
  odds_after_ = std::ldexp(1 / middle, 32 + options.norm_level);
}

void ContentChunker::Roll(uint64_t mixed, int64_t bytes) {
  hash_ = (hash_ << 1) + mixed;
  bytes_ += bytes;
  if (bytes_ < min_bytes_) return;
  const double odds = bytes_ < (min_bytes_ + max_bytes_) / 2 ? odds_before_ : odds_after_;
  at_end_ = at_end_ || bytes_ >= max_bytes_ || static_cast<double>(hash_ >> 32) < odds * static_cast<double>(bytes);
}

int64_t ContentChunker::RollNulls(int64_t count) {
  const uint64_t mixed = Mix(0);
  int64_t rolled = 0;
  while (rolled < count && !at_end_) {
    const int64_t before_min = std::min(count - rolled, min_bytes_ - 1 - bytes_);
    if (before_min >= 64) {
      // What was before is doubled out of the hash; of the last 64, all the same, it is the sum of all doublings.
      hash_ = 0 - mixed;
      bytes_ += before_min;
      rolled += before_min;
      continue;
    }
    Roll(mixed, 1);
    ++rolled;
  }
  return rolled;
}

template <typename NextWeight>
int64_t ContentChunker::RollRows(const LeafSlots& slots, int max_definition_level, NextWeight&& next_weight) {
  int64_t row = 0;
  for (int64_t slot = 0; slot < slots.slot_count; ++slot) {
    if (const int64_t nulls = slot % 64 == 0 && !at_end_ ? NullSlots(slots, slot) : 0; nulls > 0) {
      const int64_t rolled = RollNulls(nulls);
      row += rolled;
      slot += rolled - 1;
      continue;
    }
    const int repetition = slots.flat ? 0 : LevelOf(slots.repetition_planes, slot);
    if (repetition == 0) {
      if (at_end_) {
        at_end_ = false;
        bytes_ = 0;
        return row;
      }
      ++row;
    }
    const int definition = DefinitionLevelOf(slots, max_definition_level, slot);
    const uint64_t levels = static_cast<uint64_t>(definition) << 8 | static_cast<uint64_t>(repetition);
    if (definition == max_definition_level) {
      const Weight weight = next_weight();
      Roll(weight.mixed + levels, weight.bytes + 1);
    } else {
      Roll(Mix(levels), 1);
    }
  }
  return slots.row_count;
}

template <typename T>
ContentChunker::Weight ContentChunker::WeightOf(const T& value) {
  return {MixOf(value), BytesOf(value)};
}

template <typename T>
int64_t ContentChunker::RowsBeforeCut(const LeafSlots& slots, int max_definition_level, std::span<const T> values) {
  const T* value = values.data();
  return RollRows(slots, max_definition_level, [&] { return WeightOf(*value++); });
}

int64_t ContentChunker::RowsBeforeCut(const LeafSlots& slots, int max_definition_level, std::span<const Weight> weights,
                                      std::span<const uint32_t> positions) {
  const uint32_t* position = positions.data();
  return RollRows(slots, max_definition_level, [&] { return weights[*position++]; });
}

template int64_t ContentChunker::RowsBeforeCut(const LeafSlots&, int, std::span<const uint8_t>);
template int64_t ContentChunker::RowsBeforeCut(const LeafSlots&, int, std::span<const int32_t>);
template int64_t ContentChunker::RowsBeforeCut(const LeafSlots&, int, std::span<const int64_t>);
template int64_t ContentChunker::RowsBeforeCut(const LeafSlots&, int, std::span<const float>);
template int64_t ContentChunker::RowsBeforeCut(const LeafSlots&, int, std::span<const double>);
template int64_t ContentChunker::RowsBeforeCut(const LeafSlots&, int, std::span<const std::string_view>);

template ContentChunker::Weight ContentChunker::WeightOf(const uint8_t&);
template ContentChunker::Weight ContentChunker::WeightOf(const int32_t&);
template ContentChunker::Weight ContentChunker::WeightOf(const int64_t&);
template ContentChunker::Weight ContentChunker::WeightOf(const float&);
template ContentChunker::Weight ContentChunker::WeightOf(const double&);
template ContentChunker::Weight ContentChunker::WeightOf(const std::string_view&);

}  // namespace calve::parquet
