#include "calve/parquet/thrift_skimmer.h"

namespace calve::parquet {

uint64_t ThriftSkimmer::LongVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
    const uint64_t byte = *at_++;
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  Fail();
  return 0;
}

void ThriftSkimmer::SkipNested(ThriftType type, int depth) {
  if (depth == ThriftReader::kMaxDepth) {
    Fail();
  } else if (type == ThriftType::kList || type == ThriftType::kSet) {
    ThriftType of = ThriftType::kStop;
    const uint32_t count = ListHeader(&of);
    for (uint32_t i = 0; i < count && ok_; ++i) Skip(ElementType(of), depth + 1);
  } else if (type == ThriftType::kMap) {
    const uint64_t count = Varint();
    if (count > remaining()) Fail();
    const uint8_t types = count == 0 || !ok_ ? 0 : Byte();
    for (uint64_t i = 0; i < count && ok_; ++i) {
      Skip(ElementType(static_cast<ThriftType>(types >> 4)), depth + 1);
      Skip(ElementType(static_cast<ThriftType>(types & 0x0f)), depth + 1);
    }
  } else if (type == ThriftType::kStruct) {
    Struct(depth + 1, [](int, ThriftType) { return false; });
  } else {
    Fail();
  }
}

}  // namespace calve::parquet
