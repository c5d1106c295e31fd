// Raw snappy: the decompressed size as a varint, then literals and copies.
#include "calve/base/byte_cursor.h"
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"
#include "calve/simd/snappy.h"

#include <snappy.h>

namespace calve {
namespace {

const char* Chars(const uint8_t* bytes) { return reinterpret_cast<const char*>(bytes); }
char* Chars(uint8_t* bytes) { return reinterpret_cast<char*>(bytes); }

}  // namespace

DecodeOutcome DecodeSnappy(ByteSpan in, MutableByteSpan out) {
  ByteCursor cursor(in);
  const uint64_t size = cursor.Varint();
  if (!cursor.ok() || size > UINT32_MAX) return DecodeOutcome::Malformed();
  if (size / MaxExpansion(Codec::kSnappy) > in.size()) return DecodeOutcome::Malformed();
  if (size > out.size()) return DecodeOutcome::NoSpace();
  const bool done = simd::DecodeSnappyElements(in.subspan(cursor.offset()), out.first(static_cast<size_t>(size)));
  return done ? DecodeOutcome::Done(static_cast<size_t>(size)) : DecodeOutcome::Malformed();
}

size_t SnappyBound(size_t size) { return snappy::MaxCompressedLength(size); }

Result<size_t> EncodeSnappy(ByteSpan in, MutableByteSpan out) {
  if (in.size() > UINT32_MAX) return Invalid("snappy: {} bytes are more than a block may have", in.size());
  size_t size = 0;
  snappy::RawCompress(Chars(in.data()), in.size(), Chars(out.data()), &size);
  return size;
}

}  // namespace calve
