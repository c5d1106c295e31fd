#pragma once

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/decimal.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace calve::testing {

/// Makes Arrow arrays of any type that are as awkward as the format allows: sliced at every level, with bytes under
/// nulls, null lists over ranges that are not empty, and bitmaps whose unused bits are set.
class RandomArrays {
 public:
  struct Options {
    double null_probability = 0.25;
    int64_t largest_offset = 65;
    int distinct = 0;  ///< 0: any value; otherwise about so many different ones
  };

  RandomArrays(uint64_t seed, const Options& options) : random_(seed), options_(options) {}

  std::shared_ptr<arrow::Array> Make(const arrow::Field& field, int64_t length) {
    return arrow::MakeArray(Data(*field.type(), field.type(), field.nullable(), length));
  }

 private:
  using DataPtr = std::shared_ptr<arrow::ArrayData>;

  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool Chance(double probability) { return std::uniform_real_distribution<double>(0, 1)(random_) < probability; }
  int64_t Value() {
    return options_.distinct > 0 ? Between(0, options_.distinct - 1) * 7919 : static_cast<int64_t>(random_());
  }

  static std::shared_ptr<arrow::Buffer> Bytes(std::string bytes) { return arrow::Buffer::FromString(std::move(bytes)); }

  std::shared_ptr<arrow::Buffer> Bits(int64_t count, double set) {
    std::string bits(static_cast<size_t>(count / 8 + 1), '\xFF');
    for (int64_t i = 0; i < count; ++i) {
      arrow::bit_util::SetBitTo(reinterpret_cast<uint8_t*>(bits.data()), i, Chance(set));
    }
    return Bytes(std::move(bits));
  }

  /// A slice of `length` slots, nullable when asked.
  DataPtr Data(const arrow::DataType& layout, const std::shared_ptr<arrow::DataType>& type, bool nullable,
               int64_t length) {
    if (layout.id() == arrow::Type::EXTENSION) {
      return Data(*static_cast<const arrow::ExtensionType&>(layout).storage_type(), type, nullable, length);
    }
    const int64_t before = Between(0, options_.largest_offset), after = Between(0, 3);
    DataPtr data = Whole(layout, type, nullable, before + length + after);
    if (layout.id() == arrow::Type::NA) {
      data->null_count = data->length;
    } else if (nullable && options_.null_probability > 0) {
      data->buffers[0] = Bits(data->length, 1 - options_.null_probability);
      data->null_count = arrow::kUnknownNullCount;
    } else {
      data->null_count = 0;
    }
    return data->Slice(before, length);
  }

  template <typename T>
  std::shared_ptr<arrow::Buffer> Numbers(int64_t count) {
    std::string bytes(static_cast<size_t>(count) * sizeof(T), '\0');
    for (int64_t i = 0; i < count; ++i) {
      T value;
      if constexpr (std::is_floating_point_v<T>) {
        value = Chance(0.05) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(Value() % 100000) / 16;
      } else {
        value = static_cast<T>(Value());
      }
      std::memcpy(bytes.data() + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    }
    return Bytes(std::move(bytes));
  }

  template <typename Offset>
  std::shared_ptr<arrow::Buffer> Offsets(int64_t count, int longest, int64_t* end) {
    std::vector<Offset> offsets;
    Offset next = static_cast<Offset>(Between(0, 3));
    for (int64_t i = 0; i <= count; ++i) {
      offsets.push_back(next);
      next += static_cast<Offset>(Between(0, longest));
    }
    *end = offsets.back();
    return Bytes(std::string(reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(Offset)));
  }

  std::string Text(int64_t size) {
    std::string text;
    const int64_t value = Value();
    for (int64_t i = 0; i < size; ++i) text.push_back(static_cast<char>('a' + (value >> (i % 50) & 15)));
    return text;
  }

  std::shared_ptr<arrow::Buffer> DecimalValues(const arrow::DecimalType& type, int64_t count) {
    const int width = type.byte_width();
    std::string bytes;
    const int digits = std::min(type.precision(), 18);
    int64_t bound = 1;
    for (int i = 0; i < digits; ++i) bound *= 10;
    for (int64_t i = 0; i < count; ++i) {
      arrow::Decimal256 value(Value() % bound);
      for (int more = digits; more < type.precision(); more += 9) {
        if (more + 9 <= type.precision() && Chance(0.5)) value *= arrow::Decimal256(1000000000);
      }
      const auto stored = value.ToBytes();
      bytes.append(reinterpret_cast<const char*>(stored.data()), static_cast<size_t>(width));
    }
    return Bytes(std::move(bytes));
  }

  DataPtr Views(const std::shared_ptr<arrow::DataType>& type, int64_t count) {
    std::string views, heap;
    for (int64_t i = 0; i < count; ++i) {
      const std::string text = Text(Between(0, 20));
      arrow::BinaryViewType::c_type view{};
      std::memset(static_cast<void*>(&view), 0, sizeof(view));
      if (text.size() <= 12) {
        view.inlined.size = static_cast<int32_t>(text.size());
        std::memcpy(view.inlined.data.data(), text.data(), text.size());
      } else {
        view.ref.size = static_cast<int32_t>(text.size());
        std::memcpy(view.ref.prefix.data(), text.data(), 4);
        view.ref.offset = static_cast<int32_t>(heap.size());
        heap += text;
      }
      views.append(reinterpret_cast<const char*>(&view), sizeof(view));
    }
    return arrow::ArrayData::Make(type, count, {nullptr, Bytes(views), Bytes(heap)});
  }

  template <typename Offset>
  DataPtr Binary(const std::shared_ptr<arrow::DataType>& type, int64_t count) {
    int64_t end = 0;
    auto offsets = Offsets<Offset>(count, 6, &end);
    std::string bytes;
    const Offset* starts = reinterpret_cast<const Offset*>(offsets->data());
    bytes.assign(static_cast<size_t>(starts[0]), 'x');
    for (int64_t i = 0; i < count; ++i) bytes += Text(starts[i + 1] - starts[i]);
    return arrow::ArrayData::Make(type, count, {nullptr, offsets, Bytes(bytes)});
  }

  template <typename Offset>
  DataPtr List(const std::shared_ptr<arrow::DataType>& type, const arrow::Field& element, int64_t count) {
    int64_t end = 0;
    auto offsets = Offsets<Offset>(count, 4, &end);
    return arrow::ArrayData::Make(type, count, {nullptr, offsets},
                                  {Data(*element.type(), element.type(), element.nullable(), end)});
  }

  DataPtr Dictionary(const arrow::DictionaryType& layout, const std::shared_ptr<arrow::DataType>& type, bool nullable,
                     int64_t count) {
    const int64_t entries = Between(1, 20);
    std::string indices;
    const int width = layout.index_type()->byte_width();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = Between(0, entries - 1);
      indices.append(reinterpret_cast<const char*>(&index), static_cast<size_t>(width));
    }
    DataPtr data = arrow::ArrayData::Make(type, count, {nullptr, Bytes(indices)});
    // A required column must not get nulls from its dictionary.
    data->dictionary = Data(*layout.value_type(), layout.value_type(), nullable, entries);
    return data;
  }

  /// Without validity; offset 0.
  DataPtr Whole(const arrow::DataType& layout, const std::shared_ptr<arrow::DataType>& type, bool nullable,
                int64_t count) {
    using arrow::Type;
    const auto fixed = [&](std::shared_ptr<arrow::Buffer> values) {
      return arrow::ArrayData::Make(type, count, {nullptr, std::move(values)});
    };
    switch (layout.id()) {
      case Type::NA:
        return arrow::ArrayData::Make(type, count, {nullptr});
      case Type::BOOL:
        return fixed(Bits(count, 0.6));
      case Type::INT8:
      case Type::UINT8:
        return fixed(Numbers<uint8_t>(count));
      case Type::INT16:
      case Type::UINT16:
      case Type::HALF_FLOAT:
        return fixed(Numbers<uint16_t>(count));
      case Type::INT32:
      case Type::UINT32:
      case Type::DATE32:
        return fixed(Numbers<int32_t>(count));
      case Type::TIME32:
        return fixed(Seconds(count));
      case Type::INT64:
      case Type::UINT64:
        return fixed(Numbers<int64_t>(count));
      case Type::TIME64:
        return fixed(TimesOfDay(count));
      case Type::TIMESTAMP:
        if (static_cast<const arrow::TimestampType&>(layout).unit() == arrow::TimeUnit::SECOND) {
          return fixed(Multiples(count, 1));
        }
        return fixed(Numbers<int64_t>(count));
      case Type::DATE64:
        return fixed(Multiples(count, 86400000));
      case Type::FLOAT:
        return fixed(Numbers<float>(count));
      case Type::DOUBLE:
        return fixed(Numbers<double>(count));
      case Type::DECIMAL32:
      case Type::DECIMAL64:
      case Type::DECIMAL128:
      case Type::DECIMAL256:
        return fixed(DecimalValues(static_cast<const arrow::DecimalType&>(layout), count));
      case Type::FIXED_SIZE_BINARY: {
        std::string bytes;
        for (int64_t i = 0; i < count; ++i) bytes += Text(layout.byte_width());
        return fixed(Bytes(std::move(bytes)));
      }
      case Type::STRING:
      case Type::BINARY:
        return Binary<int32_t>(type, count);
      case Type::LARGE_STRING:
      case Type::LARGE_BINARY:
        return Binary<int64_t>(type, count);
      case Type::STRING_VIEW:
      case Type::BINARY_VIEW:
        return Views(type, count);
      case Type::DICTIONARY:
        return Dictionary(static_cast<const arrow::DictionaryType&>(layout), type, nullable, count);
      case Type::STRUCT: {
        DataPtr data = arrow::ArrayData::Make(type, count, {nullptr});
        for (const auto& child : layout.fields()) {
          data->child_data.push_back(Data(*child->type(), child->type(), child->nullable(), count));
        }
        return data;
      }
      case Type::LIST:
      case Type::MAP:
        return List<int32_t>(type, *layout.field(0), count);
      case Type::LARGE_LIST:
        return List<int64_t>(type, *layout.field(0), count);
      case Type::FIXED_SIZE_LIST: {
        const int64_t size = static_cast<const arrow::FixedSizeListType&>(layout).list_size();
        DataPtr data = arrow::ArrayData::Make(type, count, {nullptr});
        const auto& element = *layout.field(0);
        data->child_data.push_back(Data(*element.type(), element.type(), element.nullable(), count * size));
        return data;
      }
      default:
        return nullptr;
    }
  }

  std::shared_ptr<arrow::Buffer> Seconds(int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<int32_t>(Between(0, 86399));
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return Bytes(std::move(bytes));
  }

  /// A day has so many microseconds, and more nanoseconds.
  std::shared_ptr<arrow::Buffer> TimesOfDay(int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = Value() & 0x7FFFFFFFFFFFFFFF;
      const int64_t time = value % 86400000000;
      bytes.append(reinterpret_cast<const char*>(&time), sizeof(time));
    }
    return Bytes(std::move(bytes));
  }

  std::shared_ptr<arrow::Buffer> Multiples(int64_t count, int64_t factor) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = Between(-1000000, 1000000) * factor;
      bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    return Bytes(std::move(bytes));
  }

  std::mt19937_64 random_;
  Options options_;
};

}  // namespace calve::testing
