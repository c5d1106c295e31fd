#pragma once

#include "calve/parquet/schema.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::parquet {

class ChunkDecryptor;

/// Where the pages of a column chunk lie, and what they must add up to.
struct ChunkPlan {
  int leaf_index = 0, row_group = 0;
  int64_t offset = 0, size_bytes = 0;  ///< inside the file, before its footer
  int64_t num_values = 0;              ///< levels over all data pages
  int64_t opened_bytes = 0;            ///< about what its open pages take, for planning
  CompressionCodec codec = CompressionCodec::kUncompressed;
  std::shared_ptr<ChunkDecryptor> decryptor;  ///< null: not encrypted
  bool dictionary_first = false;              ///< whether the footer says that a dictionary page comes first
};

/// Checks what a footer says of the file as a whole: sound row counts, a chunk for every leaf in each row group.
/// Returns the rows of all row groups; the footer's own count is not relied on, since writers have got it wrong.
Result<int64_t> CheckFileMetadata(const FileMetadata& metadata, const FileSchema& schema);

/// NotImplemented names what of these leaves, as the footer tells it, calve cannot decode.
Status CheckLeafSupported(const FileMetadata& metadata, const FileSchema& schema, int leaf_index);

/// Plans one chunk of a checked footer. `data_end` is where the footer begins. Invalid when the chunk does not lie
/// before it, or its counts contradict the row group's.
Result<ChunkPlan> PlanChunk(const FileMetadata& metadata, const FileSchema& schema, int row_group, int leaf_index,
                            int64_t data_end);

}  // namespace calve::parquet
