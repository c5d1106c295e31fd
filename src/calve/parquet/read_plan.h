#pragma once

#include "calve/parquet/schema.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace calve::parquet {

class ChunkDecryptor;
class Footer;

/// A data page that is to be read, as the offset index tells it.
struct PlannedPage {
  int64_t offset = 0, size_bytes = 0;  ///< header included
  int64_t num_rows = 0;
  int64_t ordinal = 0;  ///< among the chunk's data pages
};

/// The data pages of a chunk that are to be read, when that is not all of them.
struct PlannedPages {
  int64_t first_offset = 0;  ///< of the chunk's first data page; a dictionary page lies before it
  std::vector<PlannedPage> pages;
  /// Pages with fewer bytes between them than this are read in one go.
  int64_t read_gap_bytes = 0;
};

/// Where the pages of a column chunk lie, and what they must add up to.
struct ChunkPlan {
  int leaf_index = 0;  ///< in the schema that is read
  int row_group = 0;
  int64_t offset = 0, size_bytes = 0;  ///< inside the file, before its footer
  int64_t num_values = 0;              ///< levels over all data pages
  int64_t opened_bytes = 0;            ///< about what its open pages take, for planning
  CompressionCodec codec = CompressionCodec::kUncompressed;
  std::shared_ptr<ChunkDecryptor> decryptor;  ///< null: not encrypted
  bool dictionary_first = false;              ///< whether the footer says that a dictionary page comes first
  bool is_repeated = false;                   ///< a row may have several values, or none
  std::shared_ptr<const PlannedPages> pages;  ///< null: all
};

/// Checks what a footer says of the file as a whole: sound row counts, a chunk for every leaf in each row group.
/// Returns the rows of all row groups; the footer's own count is not relied on, since writers have got it wrong.
Result<int64_t> CheckFileMetadata(const FileMetadata& metadata, const FileSchema& schema);

/// NotImplemented names what of a leaf, as the footer tells it of all row groups, calve cannot decode. `column`: the
/// file's leaf `leaf_index`.
Status CheckLeafSupported(const Footer& footer, const LeafColumn& column, int leaf_index);
/// The same for several leaves, in any order; Invalid when one is no column.
Status CheckLeavesSupported(const Footer& footer, std::vector<int> leaves);

/// Plans one chunk of the file's leaf `leaf_index`. Invalid when it does not lie before the footer, or its counts
/// contradict the row group's; NotImplemented when calve cannot decode it.
Result<ChunkPlan> PlanChunk(const Footer& footer, const LeafColumn& column, int leaf_index, int row_group);

/// True for a writer that left the dictionary page's header out of the chunk's size.
bool OmitsDictionaryHeader(std::string_view created_by);

}  // namespace calve::parquet
