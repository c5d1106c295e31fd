#include "calve/shuffle/order_key.h"

#include "calve/base/status.h"

#include <arrow/array/data.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/float16.h>

#include <bit>

namespace calve::shuffle {

namespace {

using arrow::ArrayData;
using AppenderResult = Result<std::unique_ptr<KeyAppender>>;

constexpr char kNullFirst = 0, kValue = 1, kNullLast = 2;

template <typename T>
const T* BufferOf(const ArrayData& data, size_t index) {
  const auto& buffer = data.buffers[index];
  return buffer == nullptr ? nullptr : reinterpret_cast<const T*>(buffer->data());
}

template <typename U>
void AppendBigEndian(U bits, std::string* key) {
  for (int shift = static_cast<int>(sizeof(U)) * 8 - 8; shift >= 0; shift -= 8) {
    key->push_back(static_cast<char>(bits >> shift));
  }
}

template <typename T>
void AppendNumber(T value, std::string* key) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr U kSign = U{1} << (sizeof(U) * 8 - 1);
    if (value != value) return AppendBigEndian(static_cast<U>(~U{0}), key);
    const U bits = value == 0 ? U{0} : std::bit_cast<U>(value);
    AppendBigEndian(static_cast<U>((bits & kSign) != 0 ? ~bits : bits | kSign), key);
  } else {
    using U = std::make_unsigned_t<T>;
    constexpr U kSign = std::is_signed_v<T> ? static_cast<U>(U{1} << (sizeof(U) * 8 - 1)) : U{0};
    AppendBigEndian(static_cast<U>(static_cast<U>(value) ^ kSign), key);
  }
}

void AppendEscaped(std::string_view bytes, std::string* key) {
  for (const char byte : bytes) {
    key->push_back(byte);
    if (byte == 0) key->push_back('\xff');
  }
  key->append(2, '\0');
}

/// `value(i, key)` appends the value at physical index i.
template <typename Value>
class AppenderOf final : public KeyAppender {
 public:
  AppenderOf(const ArrayData& data, const RangeKey& order, Value value)
      : value_(std::move(value)),
        validity_(data.GetNullCount() != 0 ? BufferOf<uint8_t>(data, 0) : nullptr),
        offset_(data.offset),
        descending_(order.descending),
        null_marker_(order.nulls_first ? kNullFirst : kNullLast) {}

  void Append(int64_t row, std::string* key) const override {
    if (validity_ != nullptr && !arrow::bit_util::GetBit(validity_, offset_ + row)) {
      key->push_back(null_marker_);
      return;
    }
    key->push_back(kValue);
    const size_t begin = key->size();
    value_(offset_ + row, key);
    if (!descending_) return;
    for (size_t i = begin; i < key->size(); ++i) (*key)[i] = static_cast<char>(~(*key)[i]);
  }

 private:
  Value value_;
  const uint8_t* validity_;
  int64_t offset_;
  bool descending_;
  char null_marker_;
};

template <typename Value>
AppenderResult Make(const ArrayData& data, const RangeKey& order, Value value) {
  return std::make_unique<AppenderOf<Value>>(data, order, std::move(value));
}

template <typename T>
AppenderResult MakeNumber(const ArrayData& data, const RangeKey& order) {
  return Make(data, order,
              [values = BufferOf<T>(data, 1)](int64_t i, std::string* key) { AppendNumber(values[i], key); });
}

AppenderResult MakeDecimal(const ArrayData& data, const RangeKey& order) {
  const int64_t width = static_cast<const arrow::DecimalType&>(*data.type).byte_width();
  return Make(data, order, [bytes = BufferOf<uint8_t>(data, 1), width](int64_t i, std::string* key) {
    const uint8_t* value = bytes + i * width;
    key->push_back(static_cast<char>(value[width - 1] ^ 0x80));
    for (int64_t b = width - 2; b >= 0; --b) key->push_back(static_cast<char>(value[b]));
  });
}

template <typename Offset>
AppenderResult MakeBinary(const ArrayData& data, const RangeKey& order) {
  return Make(data, order,
              [offsets = BufferOf<Offset>(data, 1), bytes = BufferOf<char>(data, 2)](int64_t i, std::string* key) {
                AppendEscaped({bytes + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])}, key);
              });
}

AppenderResult MakeView(const ArrayData& data, const RangeKey& order) {
  using View = arrow::BinaryViewType::c_type;
  return Make(data, order, [&data, views = BufferOf<View>(data, 1)](int64_t i, std::string* key) {
    const View& view = views[i];
    const uint8_t* bytes = view.is_inline()
                               ? view.inline_data()
                               : data.buffers[static_cast<size_t>(view.ref.buffer_index) + 2]->data() + view.ref.offset;
    AppendEscaped({reinterpret_cast<const char*>(bytes), static_cast<size_t>(view.size())}, key);
  });
}

AppenderResult MakeFixedBinary(const ArrayData& data, const RangeKey& order) {
  const int64_t width = static_cast<const arrow::FixedSizeBinaryType&>(*data.type).byte_width();
  return Make(data, order, [bytes = BufferOf<char>(data, 1), width](int64_t i, std::string* key) {
    key->append(bytes + i * width, static_cast<size_t>(width));
  });
}

AppenderResult MakeBool(const ArrayData& data, const RangeKey& order) {
  return Make(data, order, [bits = BufferOf<uint8_t>(data, 1)](int64_t i, std::string* key) {
    key->push_back(arrow::bit_util::GetBit(bits, i) ? 1 : 0);
  });
}

AppenderResult MakeHalf(const ArrayData& data, const RangeKey& order) {
  return Make(data, order, [values = BufferOf<uint16_t>(data, 1)](int64_t i, std::string* key) {
    AppendNumber(arrow::util::Float16::FromBits(values[i]).ToFloat(), key);
  });
}

AppenderResult MakeAppender(const ArrayData& data, const RangeKey& order) {
  switch (data.type->id()) {
    case arrow::Type::BOOL:
      return MakeBool(data, order);
    case arrow::Type::INT8:
      return MakeNumber<int8_t>(data, order);
    case arrow::Type::UINT8:
      return MakeNumber<uint8_t>(data, order);
    case arrow::Type::INT16:
      return MakeNumber<int16_t>(data, order);
    case arrow::Type::UINT16:
      return MakeNumber<uint16_t>(data, order);
    case arrow::Type::INT32:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32:
    case arrow::Type::INTERVAL_MONTHS:
      return MakeNumber<int32_t>(data, order);
    case arrow::Type::UINT32:
      return MakeNumber<uint32_t>(data, order);
    case arrow::Type::INT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return MakeNumber<int64_t>(data, order);
    case arrow::Type::UINT64:
      return MakeNumber<uint64_t>(data, order);
    case arrow::Type::HALF_FLOAT:
      return MakeHalf(data, order);
    case arrow::Type::FLOAT:
      return MakeNumber<float>(data, order);
    case arrow::Type::DOUBLE:
      return MakeNumber<double>(data, order);
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return MakeDecimal(data, order);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return MakeBinary<int32_t>(data, order);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return MakeBinary<int64_t>(data, order);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return MakeView(data, order);
    case arrow::Type::FIXED_SIZE_BINARY:
      return MakeFixedBinary(data, order);
    default:
      return NotImplemented("ordering values of type {}", data.type->ToString());
  }
}

}  // namespace

Result<OrderKeys> OrderKeys::Make(const arrow::RecordBatch& batch, const std::vector<RangeKey>& keys,
                                  const std::vector<int>& columns) {
  OrderKeys result;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto appender = MakeAppender(*batch.column_data(columns[i]), keys[i]);
    if (!appender.ok()) return WithContext(appender.status(), fmt::format("column '{}'", keys[i].column));
    result.appenders_.push_back(*std::move(appender));
  }
  return result;
}

void OrderKeys::Get(int64_t row, std::string* key) const {
  key->clear();
  for (const auto& appender : appenders_) appender->Append(row, key);
}

}  // namespace calve::shuffle
