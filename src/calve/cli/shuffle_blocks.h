#pragma once

#include "calve/cli/session.h"
#include "calve/shuffle.h"

#include <CLI/App.hpp>

#include <functional>
#include <string>
#include <vector>

namespace calve::cli {

/// The blocks that inspect, verify and read are about.
struct ShuffleBlocksFlags {
  std::string data, index;
  std::optional<int32_t> partition;
};

void AddShuffleBlocksFlags(CLI::App* command, ShuffleBlocksFlags* flags);

/// The data files that DATA names: a folder of a shuffle, or one file. The index of a file is the one given, else the
/// file of the same name that ends in .index; where there is none all its blocks are one partition.
arrow::Result<std::vector<ShuffleTaskFiles>> OpenShuffleBlocks(const ShuffleBlocksFlags& flags, const Context& context);

/// One block of a data file, decoded.
struct ShuffleBlock {
  const ShuffleTaskFiles* file = nullptr;
  int32_t partition = 0;
  int64_t decoded_bytes = 0;
  const ShuffleBlockReader* reader = nullptr;
  std::shared_ptr<arrow::RecordBatch> batch;
};

/// Calls `visit` with each block of the files, or of one partition of them, in order. Progress is shown.
arrow::Status VisitShuffleBlocks(const std::vector<ShuffleTaskFiles>& files, std::optional<int32_t> partition,
                                 const ShuffleBlockReadOptions& options, Session* session,
                                 const std::function<arrow::Status(const ShuffleBlock&)>& visit);

}  // namespace calve::cli
