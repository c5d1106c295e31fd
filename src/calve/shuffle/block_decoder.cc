#include "calve/shuffle/block_decoder.h"

namespace calve::shuffle {

arrow::Status BlockDecoder::Decode(ShuffleCodec codec, std::span<const uint8_t> payload,
                                   const std::shared_ptr<arrow::Buffer>& owner, ipc::Decoded* out) {
  ipc::DecodeOptions options;
  options.trusted = trusted_;
  switch (codec) {
    case ShuffleCodec::kNone: {
      options.owner = owner;
      options.align_values = align_values_;
      ipc::MemorySource memory(payload);
      return decoder_.Decode(&memory, options, out);
    }
    case ShuffleCodec::kLz4:
      ARROW_RETURN_NOT_OK(lz4_.Open(payload));
      return decoder_.Decode(&lz4_, options, out);
    case ShuffleCodec::kZstdOffsetsAsLengths:
      options.offsets_as_lengths = true;
      [[fallthrough]];
    case ShuffleCodec::kZstd:
      ARROW_RETURN_NOT_OK(zstd_.Open(payload));
      return decoder_.Decode(&zstd_, options, out);
    case ShuffleCodec::kSnappy:
      ARROW_RETURN_NOT_OK(snappy_.Open(payload));
      return decoder_.Decode(&snappy_, options, out);
  }
  return arrow::Status::Invalid("unknown codec");
}

arrow::Status BlockDecoder::Decode(ipc::ByteSource* source, ipc::Decoded* out) {
  ipc::DecodeOptions options;
  options.trusted = trusted_;
  return decoder_.Decode(source, options, out);
}

}  // namespace calve::shuffle
