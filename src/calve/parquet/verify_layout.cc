#include "calve/parquet/verify_layout.h"

#include "calve/base/checked.h"

#include <algorithm>
#include <tuple>

namespace calve::parquet {
namespace {

constexpr int64_t kMagicBytes = 4;

int64_t StartOf(const ColumnMetadata& column) {
  const int64_t dictionary = column.dictionary_page_offset.value_or(0);
  return dictionary > 0 && dictionary < column.data_page_offset ? dictionary : column.data_page_offset;
}

}  // namespace

void FileLayout::Add(std::optional<int64_t> offset, std::optional<int64_t> bytes, std::string name) {
  if (offset) parts_.push_back({*offset, bytes.value_or(0), std::move(name)});
}

FileLayout FileLayout::Of(const Footer& footer) {
  FileLayout layout;
  layout.end_ = footer.begin();
  for (int group = 0; group < footer.num_row_groups(); ++group) {
    for (int leaf = 0; leaf < footer.num_columns(); ++leaf) {
      const auto chunk = footer.Chunk(group, leaf);
      if (!chunk.ok() || (chunk->file_path && !chunk->file_path->empty())) continue;
      const std::string where = fmt::format("of row group {}, column {}", group, leaf);
      layout.Add(chunk->offset_index_offset, chunk->offset_index_length, "the offset index " + where);
      layout.Add(chunk->column_index_offset, chunk->column_index_length, "the column index " + where);
      if (!chunk->metadata) continue;
      layout.Add(StartOf(*chunk->metadata), chunk->metadata->total_compressed_size, "the pages " + where);
      layout.Add(chunk->metadata->bloom_filter_offset, chunk->metadata->bloom_filter_length,
                 "the bloom filter " + where);
    }
  }
  std::sort(layout.parts_.begin(), layout.parts_.end(),
            [](const Part& a, const Part& b) { return std::tie(a.offset, a.name) < std::tie(b.offset, b.name); });
  return layout;
}

int64_t FileLayout::NextAfter(int64_t offset) const {
  const auto next = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                     [](int64_t position, const Part& part) { return position < part.offset; });
  return next == parts_.end() ? end_ : std::min(next->offset, end_);
}

void FileLayout::Verify(VerifyReport* report) const {
  const Part* last = nullptr;
  int64_t last_end = kMagicBytes;
  for (const Part& part : parts_) {
    const auto end = CheckedAdd(part.offset, part.bytes);
    const std::string said = fmt::format("{} at byte {}, {} bytes", part.name, part.offset, part.bytes);
    if (part.offset < kMagicBytes || part.bytes < 0 || !end || *end > end_) {
      report->Add("file.range", said, fmt::format("the file's body is bytes {} to {}", kMagicBytes, end_));
      continue;
    }
    if (part.offset < last_end)
      report->Add("file.overlap", said, fmt::format("{} ends at byte {}", last->name, last_end));
    if (*end > last_end) {
      last_end = *end;
      last = &part;
    }
  }
}

}  // namespace calve::parquet
