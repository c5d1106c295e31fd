#include "calve/ipc/dictionary_encoder.h"

#include "calve/base/status.h"

#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <string_view>

namespace calve::ipc {

namespace {

bool OffsetsAre32Bits(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRING || type.id() == arrow::Type::BINARY;
}

std::string_view TextOf(const arrow::ArrayData& dictionary, int64_t entry) {
  const auto* offsets = dictionary.GetValues<int32_t>(1);
  if (dictionary.buffers[2] == nullptr) return {};
  return {reinterpret_cast<const char*>(dictionary.buffers[2]->data()) + offsets[entry],
          static_cast<size_t>(offsets[entry + 1] - offsets[entry])};
}

bool SeveralDictionaries(Sources sources) {
  for (const ColumnRows& source : sources) {
    if (source.data->dictionary != sources.front().data->dictionary) return true;
  }
  return false;
}

/// Calls `visit(dictionary index)` for each row that is not null, and `on_null()` for the others.
template <typename Index, typename Visit, typename OnNull>
void ForEachIndex(const ColumnRows& source, Visit visit, OnNull on_null) {
  const auto* indices = source.Buffer<Index>(1);
  const uint8_t* validity = source.Validity();
  source.ForEach([&](int64_t i) {
    if (validity != nullptr && !arrow::bit_util::GetBit(validity, i)) return on_null();
    visit(static_cast<uint64_t>(indices[i]));
  });
}

}  // namespace

void UsedDictionary::Add(const arrow::ArrayData& dictionary, uint32_t entry) {
  if (entries.empty() || entries.back().first != &dictionary) entries.push_back({&dictionary, {}});
  entries.back().second.push_back(entry);
  ++count;
}

std::vector<ColumnRows> UsedDictionary::sources() const {
  std::vector<ColumnRows> result;
  for (const auto& [dictionary, rows] : entries) {
    result.push_back({dictionary, rows.data(), static_cast<int64_t>(rows.size()), dictionary->offset});
  }
  return result;
}

DictionaryEncoder::Numbers& DictionaryEncoder::NumbersOf(const arrow::ArrayData& dictionary) {
  Numbers& numbers = numbers_[&dictionary];
  if (numbers.entries.size() < static_cast<size_t>(dictionary.length)) {
    numbers.entries.resize(static_cast<size_t>(dictionary.length));
  }
  return numbers;
}

void DictionaryEncoder::NextEpoch() {
  if (++epoch_ != 0) return;
  Forget();
  epoch_ = 1;
}

template <typename Index>
Status DictionaryEncoder::RenumberAs(Sources sources, UsedDictionary* used, Index* out) {
  const bool by_value = OffsetsAre32Bits(*used->value_type) && SeveralDictionaries(sources);
  std::unordered_map<std::string_view, uint32_t> number_of_text;
  NextEpoch();
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    const arrow::ArrayData& dictionary = *source.data->dictionary;
    Numbers& numbers = NumbersOf(dictionary);
    const auto number_new = [&](uint64_t index) -> uint32_t {
      const auto next = static_cast<uint32_t>(used->count);
      if (by_value && !dictionary.IsNull(static_cast<int64_t>(index))) {
        const auto [known, is_new] = number_of_text.emplace(TextOf(dictionary, static_cast<int64_t>(index)), next);
        if (!is_new) return known->second;
      }
      used->Add(dictionary, static_cast<uint32_t>(index));
      return next;
    };
    ForEachIndex<Index>(
        source,
        [&](uint64_t index) {
          auto& entry = numbers.entries[index];
          if (entry.epoch != epoch_) entry = {epoch_, number_new(index)};
          *out++ = static_cast<Index>(entry.number);
        },
        [&] { *out++ = 0; });
  }
  const auto last = static_cast<uint64_t>(std::max<int64_t>(used->count, 1) - 1);
  if (last <= static_cast<uint64_t>(std::numeric_limits<Index>::max())) return Status::OK();
  return Status::CapacityError(
      fmt::format("{} dictionary entries of one block do not fit its index type", used->count));
}

Status DictionaryEncoder::Renumber(int64_t id, const arrow::DictionaryType& type, Sources sources, uint8_t* out) {
  UsedDictionary used{id, type.value_type(), {}, 0};
  ARROW_RETURN_NOT_OK(WithIndexType(type.index_type()->id(), [&](auto zero) {
    return RenumberAs(sources, &used, reinterpret_cast<decltype(zero)*>(out));
  }));
  pending_.push_back(std::move(used));
  return Status::OK();
}

DictionaryCost DictionaryEncoder::CostOf(const arrow::DictionaryType& type, Sources sources) {
  constexpr int64_t kMessageBytes = 320;  // metadata and padding of a dictionary message
  const arrow::DataType& value_type = *type.value_type();
  const bool text = OffsetsAre32Bits(value_type);
  DictionaryCost cost;
  cost.can_decide = text || arrow::is_primitive(value_type.id());
  if (!cost.can_decide) return cost;
  const int64_t width = text ? 0 : (value_type.bit_width() + 7) / 8;
  int64_t rows = 0, used = 0, used_bytes = 0, most = 0;
  NextEpoch();
  for (const ColumnRows& source : sources) {
    if (source.count == 0) continue;
    rows += source.count;
    const arrow::ArrayData& dictionary = *source.data->dictionary;
    Numbers& numbers = NumbersOf(dictionary);
    const int32_t* offsets = text ? dictionary.GetValues<int32_t>(1) : nullptr;
    const auto visit = [&](uint64_t index) {
      const int64_t size = text ? offsets[index + 1] - offsets[index] : width;
      cost.plain_bytes += size;
      auto& entry = numbers.entries[index];
      if (entry.epoch == epoch_) return;
      entry.epoch = epoch_;
      ++used;
      used_bytes += size;
    };
    WithIndexType(type.index_type()->id(), [&](auto zero) {
      using Index = decltype(zero);
      most = static_cast<int64_t>(std::min<uint64_t>(std::numeric_limits<Index>::max(), INT64_MAX));
      ForEachIndex<Index>(source, visit, [] {});
    });
  }
  cost.can_keep = used - 1 <= most;
  cost.kept_bytes = kMessageBytes + used_bytes + (text ? 4 * (used + 1) : 0) + rows * type.index_type()->byte_width();
  if (text) cost.plain_bytes += 4 * (rows + 1);
  return cost;
}

}  // namespace calve::ipc
