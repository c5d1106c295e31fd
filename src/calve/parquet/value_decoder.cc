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
  if (ToString(encoding) == "UNKNOWN") return NotImplemented("encoding {}", static_cast<int>(encoding));
  return Invalid("encoding {} cannot hold {}", ToString(encoding), ToString(type));
}

Status CheckDictionary(const Dictionary* dictionary) {
  return dictionary != nullptr ? Status::OK()
                               : Invalid("a dictionary-encoded page in a column chunk without a dictionary");
}

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

Result<std::unique_ptr<FixedDecoder>> MakeFixedDecoder(Encoding encoding, PhysicalType type, int64_t width,
                                                       std::span<const uint8_t> bytes, int64_t page_values,
                                                       const Dictionary* dictionary) {
  const bool boolean = type == PhysicalType::kBoolean;
  switch (encoding) {
    case Encoding::kPlain:
      if (boolean) return std::make_unique<PlainBooleanDecoder>(bytes);
      return std::make_unique<PlainFixedDecoder>(width, bytes);
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary:
      ARROW_RETURN_NOT_OK(CheckDictionary(dictionary));
      return std::make_unique<DictionaryFixedDecoder>(width, bytes, *dictionary);
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
