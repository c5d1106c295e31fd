#include "calve/io/range_reader.h"

#include "calve/base/status.h"

#include <algorithm>

namespace calve {

Result<std::shared_ptr<arrow::Buffer>> ReadRange(arrow::io::RandomAccessFile* file, const ByteRange& range,
                                                 arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(range.size_bytes, pool));
  ARROW_ASSIGN_OR_RAISE(const int64_t got, file->ReadAt(range.offset, range.size_bytes, buffer->mutable_data()));
  if (got == range.size_bytes) return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  return IOError("{} bytes at byte {} of the file, {} expected", got, range.offset, range.size_bytes);
}

RangeReader::RangeReader(arrow::io::RandomAccessFile* file, const std::vector<ByteRange>& reads,
                         arrow::MemoryPool* pool)
    : file_(file), pool_(pool) {
  for (const ByteRange& read : reads) {
    fetches_.push_back(std::make_unique<Fetch>());
    fetches_.back()->range = read;
  }
}

Result<std::shared_ptr<arrow::Buffer>> RangeReader::Read(const ByteRange& range, int64_t* read_bytes) {
  *read_bytes = 0;
  Fetch* fetch = FetchOf(range);
  if (fetch == nullptr) return nullptr;
  std::lock_guard<std::mutex> lock(fetch->mutex);
  if (fetch->bytes == nullptr) {
    ARROW_ASSIGN_OR_RAISE(fetch->bytes, ReadRange(file_, fetch->range, pool_));
    *read_bytes = fetch->range.size_bytes;
  }
  return arrow::SliceBuffer(fetch->bytes, range.offset - fetch->range.offset, range.size_bytes);
}

RangeReader::Fetch* RangeReader::FetchOf(const ByteRange& range) const {
  const auto begins_behind = [](int64_t offset, const auto& fetch) { return offset < fetch->range.offset; };
  auto it = std::upper_bound(fetches_.begin(), fetches_.end(), range.offset, begins_behind);
  // Reads may overlap; the one that begins last need not be the one that holds the range.
  while (it != fetches_.begin()) {
    --it;
    if (range.end() <= (*it)->range.end()) return it->get();
  }
  return nullptr;
}

}  // namespace calve
