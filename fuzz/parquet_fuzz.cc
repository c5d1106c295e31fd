// Any bytes as a Parquet file: opened and read whole.

#include "calve/parquet_reader.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace {

/// Sound in its structure. Values are passed through: text that is no UTF-8, times beyond a day, decimals of more
/// digits than their type has.
bool IsSound(const arrow::RecordBatch& batch) {
  if (!batch.Validate().ok()) return false;
  const std::string message = batch.ValidateFull().ToString();
  for (const char* of_values : {"UTF8", "not within the acceptable range", "not a multiple of", "fit in precision"}) {
    if (message.find(of_values) != std::string::npos) return true;
  }
  return message == "OK";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto buffer = std::make_shared<arrow::Buffer>(data, static_cast<int64_t>(size));
  calve::Context context;
  context.threads = 1;
  context.memory_budget_bytes = int64_t{512} << 20;
  const auto reader =
      calve::ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(buffer), "fuzzed", {}, context);
  if (!reader.ok()) return 0;
  const auto batches = (*reader)->ReadAll();
  if (!batches.ok()) return 0;
  constexpr int kMostBatches = 1000;
  for (int i = 0; i < kMostBatches; ++i) {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (!(*batches)->ReadNext(&batch).ok() || batch == nullptr) break;
    if (!IsSound(*batch)) std::abort();
  }
  return 0;
}
