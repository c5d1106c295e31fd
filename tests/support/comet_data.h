#pragma once

#include "temp_folder.h"
#include "test_data.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

/// The rows of a Parquet file by libparquet, as one batch.
inline std::shared_ptr<arrow::RecordBatch> ParquetBatch(const std::string& path) {
  auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  auto reader = ::parquet::arrow::OpenFile(file, arrow::default_memory_pool()).ValueOrDie();
  return reader->ReadTable().ValueOrDie()->CombineChunksToBatch().ValueOrDie();
}

/// The rows that Comet shuffled, one batch a map task; their `id` is their place among all.
inline std::vector<std::shared_ptr<arrow::RecordBatch>> CometInput(const std::string& comet, const std::string& input) {
  return {ParquetBatch(comet + "/" + input + "/part-0.parquet"), ParquetBatch(comet + "/" + input + "/part-1.parquet")};
}

inline nlohmann::json ReadJson(const std::string& path) { return nlohmann::json::parse(ReadText(path)); }

}  // namespace calve::testing
