// Any bytes as one IPC stream, validated and trusted, with offsets as they are and as lengths.
#include "calve/ipc/skeleton.h"
#include "calve/ipc/stream_decoder.h"
#include "shuffle_block_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace calve;
  ipc::StreamDecoder decoder(arrow::default_memory_pool());
  for (const bool trusted : {false, true}) {
    for (const bool lengths : {false, true}) {
      ipc::DecodeOptions options;
      options.trusted = trusted;
      options.offsets_as_lengths = lengths;
      ipc::MemorySource source({data, size});
      ipc::Decoded decoded;
      if (!decoder.Decode(&source, options, &decoded).ok()) continue;
      bool reused = false;
      const auto batch = ipc::SkeletonPool::MakeBatch(decoded.schema, decoded.layout, std::move(decoded.body), &reused);
      if (!trusted) fuzz::CheckBatch(*batch);
    }
  }
  return 0;
}
