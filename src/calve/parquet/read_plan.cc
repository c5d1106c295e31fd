#include "calve/parquet/read_plan.h"

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/footer.h"
#include "calve/parquet/value_decoder.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace calve::parquet {
namespace {

constexpr int64_t kMagicBytes = 4;
/// A dictionary and a page, by the sizes that writers go for.
constexpr int64_t kOpenPagesBytes = 2 << 20;

Status CheckCodec(CompressionCodec codec) {
  switch (codec) {
    case CompressionCodec::kUncompressed:
    case CompressionCodec::kSnappy:
    case CompressionCodec::kGzip:
    case CompressionCodec::kBrotli:
    case CompressionCodec::kLz4:
    case CompressionCodec::kZstd:
    case CompressionCodec::kLz4Raw:
      return Status::OK();
    case CompressionCodec::kLzo:
      break;
  }
  return NotImplemented("compression codec {} ({})", ToString(codec), static_cast<int>(codec));
}

Status CheckChunkSupported(const ColumnChunk& chunk) {
  if (chunk.crypto != nullptr) ARROW_RETURN_NOT_OK(chunk.crypto->failure);
  if (chunk.file_path && !chunk.file_path->empty())
    return NotImplemented("column chunk in another file ('{}')", *chunk.file_path);
  if (!chunk.metadata) return Invalid("the column chunk has no metadata");
  for (Encoding encoding : chunk.metadata->encodings) ARROW_RETURN_NOT_OK(CheckEncodingSupported(encoding));
  return CheckCodec(chunk.metadata->codec);
}

/// parquet-mr before 1.2.9 left the dictionary page's header out of the chunk's size; no such header is longer than
/// this.
constexpr int64_t kOldDictionaryHeaderBytes = 100;

/// The first page: a dictionary page, when the footer says where it is, stands before the data pages.
int64_t StartOf(const ColumnMetadata& column) {
  const int64_t dictionary = column.dictionary_page_offset.value_or(0);
  return dictionary > 0 && dictionary < column.data_page_offset ? dictionary : column.data_page_offset;
}

Result<ChunkPlan> Plan(const ColumnMetadata& column, const LeafColumn& leaf, int64_t num_rows, int64_t data_end) {
  if (column.type != *leaf.element.type) {
    return Invalid("the column chunk is of type {}, the schema says {}", ToString(column.type),
                   ToString(*leaf.element.type));
  }
  ChunkPlan plan;
  plan.offset = StartOf(column);
  plan.size_bytes = column.total_compressed_size;
  plan.num_values = column.num_values;
  plan.codec = column.codec;
  plan.opened_bytes = std::clamp(column.total_uncompressed_size, int64_t{0}, kOpenPagesBytes);
  plan.is_repeated = leaf.max_repetition_level > 0;
  const auto end = CheckedAdd(plan.offset, plan.size_bytes);
  if (plan.offset < kMagicBytes || plan.size_bytes < 0 || !end || *end > data_end) {
    return Invalid("a column chunk of {} bytes at byte {} does not lie before the footer at byte {}", plan.size_bytes,
                   plan.offset, data_end);
  }
  const bool repeated = leaf.max_repetition_level > 0;
  if (plan.num_values < num_rows || (!repeated && plan.num_values != num_rows)) {
    return Invalid("the column chunk has {} values, the row group {} rows", plan.num_values, num_rows);
  }
  return plan;
}

std::string Where(const LeafColumn& column, int row_group) {
  return fmt::format("column '{}': row group {}", column.dotted_path(), row_group);
}

/// OK when values of the column's type can be decoded.
Status CheckTypeSupported(const LeafColumn& column) {
  if (column.unsupported.empty()) return Status::OK();
  return NotImplemented("column '{}': {}", column.dotted_path(), column.unsupported);
}

Result<ChunkPlan> Plan(const Footer& footer, const LeafColumn& column, int leaf_index, int row_group) {
  ARROW_ASSIGN_OR_RAISE(const ColumnChunk chunk, footer.Chunk(row_group, leaf_index));
  ARROW_RETURN_NOT_OK(CheckChunkSupported(chunk));
  ARROW_ASSIGN_OR_RAISE(ChunkPlan plan,
                        Plan(*chunk.metadata, column, footer.row_group(row_group).num_rows, footer.begin()));
  if (footer.omits_dictionary_header()) {
    plan.size_bytes += std::min(kOldDictionaryHeaderBytes, footer.begin() - plan.offset - plan.size_bytes);
  }
  if (chunk.crypto != nullptr) plan.decryptor = chunk.crypto->decryptor;
  plan.dictionary_first = chunk.metadata->dictionary_page_offset.has_value();
  plan.leaf_index = leaf_index;
  plan.row_group = row_group;
  return plan;
}

}  // namespace

Result<int64_t> CheckFileMetadata(const FileMetadata& metadata, const FileSchema& schema) {
  int64_t rows = 0;
  for (size_t i = 0; i < metadata.row_groups.size(); ++i) {
    const RowGroup& group = metadata.row_groups[i];
    if (group.columns.size() != schema.leaves.size()) {
      return Invalid("row group {} has {} column chunks, the schema has {} columns", i, group.columns.size(),
                     schema.leaves.size());
    }
    const auto sum = CheckedAdd(rows, group.num_rows);
    if (group.num_rows < 0 || !sum) return Invalid("row group {} says to have {} rows", i, group.num_rows);
    rows = *sum;
  }
  return rows;
}

Status CheckLeafSupported(const Footer& footer, const LeafColumn& column, int leaf_index) {
  ARROW_RETURN_NOT_OK(CheckTypeSupported(column));
  for (int i = 0; i < footer.num_row_groups(); ++i) {
    const auto chunk = footer.Chunk(i, leaf_index);
    const Status status = chunk.ok() ? CheckChunkSupported(*chunk) : chunk.status();
    if (!status.ok()) return WithContext(status, Where(column, i));
  }
  return Status::OK();
}

Status CheckLeavesSupported(const Footer& footer, std::vector<int> leaves) {
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  ARROW_ASSIGN_OR_RAISE(const Selection selection, footer.SelectLeaves(leaves));
  for (size_t i = 0; i < selection.leaves.size(); ++i) {
    // The selection may have more: maps are kept whole.
    if (!std::binary_search(leaves.begin(), leaves.end(), selection.leaves[i])) continue;
    ARROW_RETURN_NOT_OK(CheckLeafSupported(footer, selection.schema.leaves[i], selection.leaves[i]));
  }
  return Status::OK();
}

Result<ChunkPlan> PlanChunk(const Footer& footer, const LeafColumn& column, int leaf_index, int row_group) {
  ARROW_RETURN_NOT_OK(CheckTypeSupported(column));
  auto plan = Plan(footer, column, leaf_index, row_group);
  if (!plan.ok()) return WithContext(plan.status(), Where(column, row_group));
  return plan;
}

bool OmitsDictionaryHeader(std::string_view created_by) {
  constexpr std::string_view kName = "parquet-mr", kVersion = " version ";
  if (!created_by.starts_with(kName)) return false;
  created_by.remove_prefix(kName.size());
  int major = 0, minor = 0, patch = 0;
  if (created_by.starts_with(kVersion)) {
    std::sscanf(std::string(created_by.substr(kVersion.size())).c_str(), "%d.%d.%d", &major, &minor, &patch);
  }
  return std::tuple(major, minor, patch) < std::tuple(1, 2, 9);
}

}  // namespace calve::parquet
