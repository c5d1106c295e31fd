#include "calve/shuffle/spark_hash.h"

#include "calve/base/status.h"
#include "calve/hash/spark_murmur3.h"
#include "calve/shuffle/number_hasher.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/float16.h>
#include <arrow/util/ree_util.h>

#include <algorithm>
#include <vector>

namespace calve::shuffle {

namespace {

using arrow::ArrayData;
using HasherResult = Result<std::unique_ptr<ValueHasher>>;

const uint8_t* ValidityOf(const ArrayData& data) {
  const bool has_bits = !data.buffers.empty() && data.buffers[0] != nullptr && data.GetNullCount() != 0;
  return has_bits ? data.buffers[0]->data() : nullptr;
}

template <typename T>
const T* BufferOf(const ArrayData& data, size_t index) {
  const auto& buffer = data.buffers[index];
  return buffer == nullptr ? nullptr : reinterpret_cast<const T*>(buffer->data());
}

/// Hasher of an array whose value at physical index i is hashed by `Value::operator()(i, seed)`.
template <typename Value>
class HasherOf final : public ValueHasher {
 public:
  HasherOf(const ArrayData& data, Value value)
      : value_(std::move(value)), validity_(ValidityOf(data)), offset_(data.offset), length_(data.length) {}

  uint32_t Hash(int64_t i, uint32_t seed) const override {
    if (validity_ != nullptr && !arrow::bit_util::GetBit(validity_, offset_ + i)) return seed;
    return value_(offset_ + i, seed);
  }

  void HashAll(uint32_t* hashes, bool one_seed) const override {
    if (validity_ == nullptr) {
      for (int64_t i = 0; i < length_; ++i) hashes[i] = value_(offset_ + i, hashes[i]);
    } else {
      for (int64_t i = 0; i < length_; ++i) hashes[i] = Hash(i, hashes[i]);
    }
  }

 private:
  Value value_;
  const uint8_t* validity_;
  int64_t offset_, length_;
};

template <typename Value>
HasherResult Make(const ArrayData& data, Value value) {
  return std::make_unique<HasherOf<Value>>(data, std::move(value));
}

template <typename T>
HasherResult MakeInt(const ArrayData& data) {
  return Make(data, [values = BufferOf<T>(data, 1)](int64_t i, uint32_t seed) {
    return spark::HashInt(static_cast<int32_t>(values[i]), seed);
  });
}

template <typename T>
HasherResult MakeLong(const ArrayData& data) {
  return Make(data, [values = BufferOf<T>(data, 1)](int64_t i, uint32_t seed) {
    return spark::HashLong(static_cast<int64_t>(values[i]), seed);
  });
}

template <typename Offset>
HasherResult MakeBinary(const ArrayData& data) {
  return Make(data,
              [offsets = BufferOf<Offset>(data, 1), bytes = BufferOf<uint8_t>(data, 2)](int64_t i, uint32_t seed) {
                return spark::HashBytes({bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])}, seed);
              });
}

HasherResult MakeView(const ArrayData& data) {
  using View = arrow::BinaryViewType::c_type;
  std::vector<const uint8_t*> buffers;
  for (size_t b = 2; b < data.buffers.size(); ++b) buffers.push_back(data.buffers[b]->data());
  return Make(data, [views = BufferOf<View>(data, 1), data_buffers = std::move(buffers)](int64_t i, uint32_t seed) {
    const View& view = views[i];
    const uint8_t* bytes = view.is_inline()
                               ? view.inline_data()
                               : data_buffers[static_cast<size_t>(view.ref.buffer_index)] + view.ref.offset;
    return spark::HashBytes({bytes, static_cast<size_t>(view.size())}, seed);
  });
}

HasherResult MakeFixedBinary(const ArrayData& data, size_t width) {
  return Make(data, [bytes = BufferOf<uint8_t>(data, 1), width](int64_t i, uint32_t seed) {
    return spark::HashBytes({bytes + i * static_cast<int64_t>(width), width}, seed);
  });
}

HasherResult MakeDecimal(const ArrayData& data) {
  const auto& type = static_cast<const arrow::DecimalType&>(*data.type);
  const auto width = static_cast<size_t>(type.byte_width());
  if (width == 4) return MakeLong<int32_t>(data);
  if (type.precision() <= 18) {
    return Make(data, [bytes = BufferOf<uint8_t>(data, 1), width](int64_t i, uint32_t seed) {
      int64_t low;
      std::memcpy(&low, bytes + i * static_cast<int64_t>(width), 8);
      return spark::HashLong(low, seed);
    });
  }
  return Make(data, [bytes = BufferOf<uint8_t>(data, 1), width](int64_t i, uint32_t seed) {
    return spark::HashWideDecimal(bytes + i * static_cast<int64_t>(width), width, seed);
  });
}

/// Folds the elements that `range(i)` (begin and end in the child) gives.
template <typename Range>
HasherResult MakeListOf(const ArrayData& data, Range range) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<ValueHasher> elements, MakeValueHasher(*data.child_data[0]));
  return Make(data, [elements, range](int64_t i, uint32_t seed) {
    const auto [begin, end] = range(i);
    for (int64_t j = begin; j < end; ++j) seed = elements->Hash(j, seed);
    return seed;
  });
}

using ElementRange = std::pair<int64_t, int64_t>;

template <typename Offset>
HasherResult MakeList(const ArrayData& data) {
  return MakeListOf(
      data, [offsets = BufferOf<Offset>(data, 1)](int64_t i) { return ElementRange(offsets[i], offsets[i + 1]); });
}

template <typename Offset>
HasherResult MakeListView(const ArrayData& data) {
  return MakeListOf(data, [offsets = BufferOf<Offset>(data, 1), sizes = BufferOf<Offset>(data, 2)](int64_t i) {
    return ElementRange(offsets[i], offsets[i] + sizes[i]);
  });
}

HasherResult MakeFixedList(const ArrayData& data) {
  const int64_t size = static_cast<const arrow::FixedSizeListType&>(*data.type).list_size();
  return MakeListOf(data, [size](int64_t i) { return ElementRange(i * size, (i + 1) * size); });
}

HasherResult MakeStruct(const ArrayData& data) {
  std::vector<std::shared_ptr<ValueHasher>> fields;
  for (const auto& child : data.child_data) {
    ARROW_ASSIGN_OR_RAISE(auto field, MakeValueHasher(*child));
    fields.push_back(std::move(field));
  }
  return Make(data, [children = std::move(fields)](int64_t i, uint32_t seed) {
    for (const auto& field : children) seed = field->Hash(i, seed);
    return seed;
  });
}

/// Every entry is hashed once where all values have the same seed, as those of the first key have.
template <typename Index>
class DictionaryHasher final : public ValueHasher {
 public:
  DictionaryHasher(const ArrayData& data, std::unique_ptr<ValueHasher> entries)
      : entries_(std::move(entries)),
        entries_count_(data.dictionary->length),
        indices_(BufferOf<Index>(data, 1)),
        validity_(ValidityOf(data)),
        offset_(data.offset),
        length_(data.length) {}

  uint32_t Hash(int64_t i, uint32_t seed) const override { return IsNull(i) ? seed : entries_->Hash(IndexOf(i), seed); }

  void HashAll(uint32_t* hashes, bool one_seed) const override {
    if (!one_seed || length_ <= entries_count_) {
      for (int64_t i = 0; i < length_; ++i) hashes[i] = Hash(i, hashes[i]);
      return;
    }
    std::vector<uint32_t> hashes_of_entries(static_cast<size_t>(entries_count_), hashes[0]);
    entries_->HashAll(hashes_of_entries.data(), true);
    for (int64_t i = 0; i < length_; ++i) {
      if (!IsNull(i)) hashes[i] = hashes_of_entries[static_cast<size_t>(IndexOf(i))];
    }
  }

 private:
  bool IsNull(int64_t i) const { return validity_ != nullptr && !arrow::bit_util::GetBit(validity_, offset_ + i); }
  int64_t IndexOf(int64_t i) const { return static_cast<int64_t>(indices_[offset_ + i]); }

  std::unique_ptr<ValueHasher> entries_;
  int64_t entries_count_;
  const Index* indices_;
  const uint8_t* validity_;
  int64_t offset_, length_;
};

template <typename Index>
HasherResult MakeDictionaryOf(const ArrayData& data, std::unique_ptr<ValueHasher> entries) {
  return std::make_unique<DictionaryHasher<Index>>(data, std::move(entries));
}

HasherResult MakeDictionary(const ArrayData& data) {
  ARROW_ASSIGN_OR_RAISE(auto entries, MakeValueHasher(*data.dictionary));
  switch (static_cast<const arrow::DictionaryType&>(*data.type).index_type()->id()) {
    case arrow::Type::INT8:
      return MakeDictionaryOf<int8_t>(data, std::move(entries));
    case arrow::Type::UINT8:
      return MakeDictionaryOf<uint8_t>(data, std::move(entries));
    case arrow::Type::INT16:
      return MakeDictionaryOf<int16_t>(data, std::move(entries));
    case arrow::Type::UINT16:
      return MakeDictionaryOf<uint16_t>(data, std::move(entries));
    case arrow::Type::INT32:
      return MakeDictionaryOf<int32_t>(data, std::move(entries));
    case arrow::Type::UINT32:
      return MakeDictionaryOf<uint32_t>(data, std::move(entries));
    case arrow::Type::INT64:
      return MakeDictionaryOf<int64_t>(data, std::move(entries));
    default:
      return MakeDictionaryOf<uint64_t>(data, std::move(entries));
  }
}

class NullHasher final : public ValueHasher {
 public:
  uint32_t Hash(int64_t, uint32_t seed) const override { return seed; }
  void HashAll(uint32_t*, bool) const override {}
};

class RunEndHasher final : public ValueHasher {
 public:
  RunEndHasher(const ArrayData& data, std::unique_ptr<ValueHasher> values)
      : span_(data), length_(data.length), values_(std::move(values)) {}

  uint32_t Hash(int64_t i, uint32_t seed) const override {
    return values_->Hash(arrow::ree_util::FindPhysicalIndex(span_, i, span_.offset), seed);
  }
  void HashAll(uint32_t* hashes, bool one_seed) const override {
    for (int64_t i = 0; i < length_; ++i) hashes[i] = Hash(i, hashes[i]);
  }

 private:
  arrow::ArraySpan span_;
  int64_t length_;
  std::unique_ptr<ValueHasher> values_;
};

HasherResult MakeRunEnd(const ArrayData& data) {
  ARROW_ASSIGN_OR_RAISE(auto values, MakeValueHasher(*data.child_data[1]));
  return std::make_unique<RunEndHasher>(data, std::move(values));
}

HasherResult MakeBool(const ArrayData& data) {
  return Make(data, [bits = BufferOf<uint8_t>(data, 1)](int64_t i, uint32_t seed) {
    return spark::HashInt(arrow::bit_util::GetBit(bits, i) ? 1 : 0, seed);
  });
}

HasherResult MakeHalf(const ArrayData& data) {
  return Make(data, [values = BufferOf<uint16_t>(data, 1)](int64_t i, uint32_t seed) {
    return spark::HashFloat(arrow::util::Float16::FromBits(values[i]).ToFloat(), seed);
  });
}

HasherResult MakeFloat(const ArrayData& data) {
  return Make(data, [values = BufferOf<float>(data, 1)](int64_t i, uint32_t seed) {
    return spark::HashFloat(values[i], seed);
  });
}

HasherResult MakeDouble(const ArrayData& data) {
  return Make(data, [values = BufferOf<double>(data, 1)](int64_t i, uint32_t seed) {
    return spark::HashDouble(values[i], seed);
  });
}

HasherResult MakeNested(const ArrayData& data, arrow::Type::type id) {
  switch (id) {
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return MakeList<int32_t>(data);
    case arrow::Type::LARGE_LIST:
      return MakeList<int64_t>(data);
    case arrow::Type::LIST_VIEW:
      return MakeListView<int32_t>(data);
    case arrow::Type::LARGE_LIST_VIEW:
      return MakeListView<int64_t>(data);
    case arrow::Type::FIXED_SIZE_LIST:
      return MakeFixedList(data);
    case arrow::Type::STRUCT:
      return MakeStruct(data);
    case arrow::Type::DICTIONARY:
      return MakeDictionary(data);
    case arrow::Type::RUN_END_ENCODED:
      return MakeRunEnd(data);
    default:
      return NotImplemented("hashing values of type {} as Spark does", data.type->ToString());
  }
}

}  // namespace

HasherResult MakeValueHasher(const ArrayData& data) {
  const arrow::DataType* type = data.type.get();
  if (type->id() == arrow::Type::EXTENSION) {
    ArrayData storage = data;
    storage.type = static_cast<const arrow::ExtensionType*>(type)->storage_type();
    return MakeValueHasher(storage);
  }
  switch (type->id()) {
    case arrow::Type::NA:
      return std::make_unique<NullHasher>();
    case arrow::Type::BOOL:
      return MakeBool(data);
    case arrow::Type::INT8:
      return MakeInt<int8_t>(data);
    case arrow::Type::UINT8:
      return MakeInt<uint8_t>(data);
    case arrow::Type::INT16:
      return MakeInt<int16_t>(data);
    case arrow::Type::UINT16:
      return MakeInt<uint16_t>(data);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::INTERVAL_MONTHS:
      return std::make_unique<NumberHasher<int32_t>>(data);
    case arrow::Type::UINT32:
      return MakeLong<uint32_t>(data);
    case arrow::Type::TIME32:
      return MakeLong<int32_t>(data);
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return std::make_unique<NumberHasher<int64_t>>(data);
    case arrow::Type::HALF_FLOAT:
      return MakeHalf(data);
    case arrow::Type::FLOAT:
      return MakeFloat(data);
    case arrow::Type::DOUBLE:
      return MakeDouble(data);
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return MakeDecimal(data);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return MakeBinary<int32_t>(data);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return MakeBinary<int64_t>(data);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return MakeView(data);
    case arrow::Type::FIXED_SIZE_BINARY:
      return MakeFixedBinary(data,
                             static_cast<size_t>(static_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width()));
    default:
      return MakeNested(data, type->id());
  }
}

}  // namespace calve::shuffle
