#include "calve/parquet/thrift_skimmer.h"

namespace calve::parquet {

void ThriftSkimmer::SkipNested(ThriftType type, int depth) {
  if (depth == ThriftReader::kMaxDepth) return Fail();
  switch (type) {
    case ThriftType::kList:
    case ThriftType::kSet: {
      ThriftType of = ThriftType::kStop;
      const uint32_t count = ListHeader(&of);
      for (uint32_t i = 0; i < count && ok_; ++i) Skip(ElementType(of), depth + 1);
      return;
    }
    case ThriftType::kMap: {
      const uint64_t count = Varint();
      if (count > remaining()) return Fail();
      const uint8_t types = count == 0 ? 0 : Byte();
      for (uint64_t i = 0; i < count && ok_; ++i) {
        Skip(ElementType(static_cast<ThriftType>(types >> 4)), depth + 1);
        Skip(ElementType(static_cast<ThriftType>(types & 0x0f)), depth + 1);
      }
      return;
    }
    case ThriftType::kStruct:
      Struct(depth + 1, [](int, ThriftType) { return false; });
      return;
    default:
      return Fail();
  }
}

}  // namespace calve::parquet
