// Raw snappy: the decompressed size as a varint, then literals and copies.
#include "calve/base/status.h"
#include "calve/compress/block_codecs.h"

#include <snappy.h>

namespace calve {
namespace {

const char* Chars(const uint8_t* bytes) { return reinterpret_cast<const char*>(bytes); }
char* Chars(uint8_t* bytes) { return reinterpret_cast<char*>(bytes); }

}  // namespace

DecodeOutcome DecodeSnappy(ByteSpan in, MutableByteSpan out) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(Chars(in.data()), in.size(), &size)) return DecodeOutcome::Malformed();
  if (size / MaxExpansion(Codec::kSnappy) > in.size()) return DecodeOutcome::Malformed();
  if (size > out.size()) return DecodeOutcome::NoSpace();
  if (!snappy::RawUncompress(Chars(in.data()), in.size(), Chars(out.data()))) return DecodeOutcome::Malformed();
  return DecodeOutcome::Done(size);
}

size_t SnappyBound(size_t size) { return snappy::MaxCompressedLength(size); }

Result<size_t> EncodeSnappy(ByteSpan in, MutableByteSpan out) {
  if (in.size() > UINT32_MAX) return Invalid("snappy: {} bytes are more than a block may have", in.size());
  size_t size = 0;
  snappy::RawCompress(Chars(in.data()), in.size(), Chars(out.data()), &size);
  return size;
}

}  // namespace calve
