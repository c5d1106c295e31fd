#pragma once

// Any bytes as shuffle blocks, from memory and from a stream, twice each so that the schema cache is cold and warm.

#include "calve/shuffle_block.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/c/abi.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace calve::fuzz {

/// Arrow finds a validated batch valid; values apart, which are the writer's.
inline void CheckBatch(const arrow::RecordBatch& batch) {
  const auto status = batch.ValidateFull();
  if (status.ok()) return;
  for (const char* about_values : {"does not fit in precision", "is not within the acceptable range",
                                   "does not represent a whole number of days"}) {
    if (status.message().find(about_values) != std::string::npos) return;
  }
  std::abort();
}

/// Reads all blocks; the rows, -1 after an error.
inline int64_t ReadAll(ShuffleBlockReader* reader, bool trusted) {
  while (true) {
    const auto batch = reader->Next();
    if (!batch.ok()) return -1;
    if (*batch == nullptr) return reader->metrics().rows;
    if (!trusted) CheckBatch(**batch);
  }
}

inline void FuzzBlocks(const uint8_t* data, size_t size, bool trusted) {
  ShuffleBlockReadOptions options;
  options.trusted = trusted;
  // A copy of exactly the size, so that a sanitizer sees every read beyond it.
  const std::shared_ptr<arrow::Buffer> bytes =
      arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(data), size));
  const int64_t cold = ReadAll(ShuffleBlockReader::Make(bytes, options).get(), trusted);
  const int64_t warm = ReadAll(ShuffleBlockReader::Make(bytes, options).get(), trusted);
  const auto stream = std::make_shared<arrow::io::BufferReader>(bytes);
  const int64_t streamed = ReadAll(ShuffleBlockReader::Make(stream, options).get(), trusted);
  if (cold != warm || cold != streamed) std::abort();
  auto reader = ShuffleBlockReader::Make(bytes, options);
  ArrowArray array;
  for (auto more = reader->Next(&array); more.ok() && *more; more = reader->Next(&array)) array.release(&array);
}

}  // namespace calve::fuzz
