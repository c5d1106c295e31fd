#include "calve/parquet/value_decoder.h"

#include "calve/parquet/byte_stream_split_decoder.h"
#include "calve/parquet/delta_binary_packed_decoder.h"
#include "calve/parquet/delta_byte_array_decoder.h"
#include "calve/parquet/delta_length_byte_array_decoder.h"
#include "calve/parquet/dictionary_decoder.h"
#include "calve/parquet/plain_decoder.h"
#include "calve/parquet/rle_boolean_decoder.h"

#include "calve/base/status.h"

namespace calve::parquet {
namespace {

Status CannotHold(Encoding encoding, PhysicalType type) {
  ARROW_RETURN_NOT_OK(CheckEncodingSupported(encoding));
  return Invalid("encoding {} cannot hold {}", ToString(encoding), ToString(type));
}

Status CheckDictionary(const Dictionary* dictionary) {
  return dictionary != nullptr ? Status::OK()
                               : Invalid("a dictionary-encoded page in a column chunk without a dictionary");
}

/// Converts what another decoder gives.
class ConvertingDecoder : public FixedDecoder {
 public:
  ConvertingDecoder(const ValueConversion& conversion, std::unique_ptr<FixedDecoder> values)
      : conversion_(conversion), values_(std::move(values)) {}

  Status Decode(int64_t count, uint8_t* out) override {
    constexpr int64_t kBatchBytes = 4096;
    const int64_t most = std::max<int64_t>(kBatchBytes / std::max<int64_t>(conversion_.in_width, 1), 1);
    physical_.resize(static_cast<size_t>(most * conversion_.in_width + kPoolVectorSlackBytes));
    for (int64_t n = 0; count > 0; count -= n) {
      n = std::min(count, most);
      ARROW_RETURN_NOT_OK(values_->Decode(n, physical_.data()));
      ARROW_RETURN_NOT_OK(conversion_.convert(conversion_, physical_.data(), n, out));
      out += n * conversion_.out_width;
    }
    return Status::OK();
  }
  Status Skip(int64_t count) override { return values_->Skip(count); }

 private:
  ValueConversion conversion_;
  std::unique_ptr<FixedDecoder> values_;
  std::vector<uint8_t> physical_;
};

}  // namespace

int64_t ValueWidth(PhysicalType type, int32_t type_length) {
  switch (type) {
    case PhysicalType::kBoolean:
      return 1;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
      return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble:
      return 8;
    case PhysicalType::kInt96:
      return 12;
    case PhysicalType::kByteArray:
      return 0;
    case PhysicalType::kFixedLenByteArray:
      return type_length;
  }
  return 0;
}

namespace {

/// Values as the file has them.
Result<std::unique_ptr<FixedDecoder>> MakePhysicalDecoder(Encoding encoding, PhysicalType type, int64_t width,
                                                          std::span<const uint8_t> bytes, int64_t page_values) {
  const bool boolean = type == PhysicalType::kBoolean;
  switch (encoding) {
    case Encoding::kPlain:
      if (boolean) return std::make_unique<PlainBooleanDecoder>(bytes);
      return std::make_unique<PlainFixedDecoder>(width, bytes);
    case Encoding::kRle:
      if (boolean) return std::make_unique<RleBooleanDecoder>(bytes);
      break;
    case Encoding::kDeltaBinaryPacked:
      if (type == PhysicalType::kInt32) return std::make_unique<DeltaBinaryPackedDecoder<int32_t>>(bytes);
      if (type == PhysicalType::kInt64) return std::make_unique<DeltaBinaryPackedDecoder<int64_t>>(bytes);
      break;
    case Encoding::kDeltaByteArray:
      if (type == PhysicalType::kFixedLenByteArray) {
        ARROW_ASSIGN_OR_RAISE(PrefixedStrings strings, PrefixedStrings::Make(bytes, page_values));
        return std::make_unique<DeltaFixedDecoder>(width, std::move(strings));
      }
      break;
    case Encoding::kByteStreamSplit:
      if (!boolean && type != PhysicalType::kInt96) return std::make_unique<ByteStreamSplitDecoder>(width, bytes);
      break;
    default:
      break;
  }
  return CannotHold(encoding, type);
}

}  // namespace

bool IsDictionary(Encoding encoding) {
  return encoding == Encoding::kPlainDictionary || encoding == Encoding::kRleDictionary;
}

Status CheckEncodingSupported(Encoding encoding) {
  if (ToString(encoding) == "UNKNOWN") return NotImplemented("encoding {}", static_cast<int>(encoding));
  if (encoding == Encoding::kAlp) return NotImplemented("encoding {}", ToString(encoding));
  return Status::OK();
}

Result<std::unique_ptr<FixedDecoder>> MakeFixedDecoder(Encoding encoding, PhysicalType type,
                                                       const ValueConversion& conversion,
                                                       std::span<const uint8_t> bytes, int64_t page_values,
                                                       const Dictionary* dictionary) {
  if (IsDictionary(encoding)) {
    ARROW_RETURN_NOT_OK(CheckDictionary(dictionary));
    return std::make_unique<DictionaryFixedDecoder>(conversion.out_width, bytes, *dictionary);
  }
  ARROW_ASSIGN_OR_RAISE(auto decoder, MakePhysicalDecoder(encoding, type, conversion.in_width, bytes, page_values));
  if (conversion.convert == nullptr) return decoder;
  return std::make_unique<ConvertingDecoder>(conversion, std::move(decoder));
}

Status BinaryDecoder::DecodeViews(int64_t count, const std::shared_ptr<arrow::Buffer>&, ViewValues* out) {
  constexpr int64_t kMostRoomBytes = 4 << 20;  // for values that are not seen yet
  BinaryValues values(out->views().pool());
  ARROW_RETURN_NOT_OK(values.Init());
  ARROW_RETURN_NOT_OK(values.data.Reserve(std::min(BytesAtMost(count), kMostRoomBytes)));
  ARROW_RETURN_NOT_OK(Decode(count, &values));
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> data, values.data.Finish());
  return out->Append(values.offsets.span(), data);
}

Result<std::unique_ptr<BinaryDecoder>> MakeBinaryDecoder(Encoding encoding, std::span<const uint8_t> bytes,
                                                         int64_t page_values, const Dictionary* dictionary) {
  switch (encoding) {
    case Encoding::kPlain:
      return std::make_unique<PlainBinaryDecoder>(bytes);
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary:
      ARROW_RETURN_NOT_OK(CheckDictionary(dictionary));
      return std::make_unique<DictionaryBinaryDecoder>(bytes, *dictionary);
    case Encoding::kDeltaLengthByteArray:
      return DeltaLengthByteArrayDecoder::Make(bytes, page_values);
    case Encoding::kDeltaByteArray: {
      ARROW_ASSIGN_OR_RAISE(PrefixedStrings strings, PrefixedStrings::Make(bytes, page_values));
      return std::make_unique<DeltaByteArrayDecoder>(std::move(strings));
    }
    default:
      return CannotHold(encoding, PhysicalType::kByteArray);
  }
}

}  // namespace calve::parquet
