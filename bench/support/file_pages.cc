#include "support/file_pages.h"

#include "calve/parquet/metadata.h"
#include "calve/parquet_reader.h"

#include <arrow/io/file.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

namespace calve::bench {
namespace {

using parquet::CompressionCodec;
using parquet::PageType;

arrow::Result<Codec> CodecOf(CompressionCodec codec) {
  switch (codec) {
    case CompressionCodec::kUncompressed:
      return Codec::kUncompressed;
    case CompressionCodec::kSnappy:
      return Codec::kSnappy;
    case CompressionCodec::kZstd:
      return Codec::kZstd;
    case CompressionCodec::kLz4Raw:
      return Codec::kLz4Raw;
    case CompressionCodec::kGzip:
      return Codec::kGzip;
    default:
      return arrow::Status::NotImplemented("no case has codec ", parquet::ToString(codec));
  }
}

/// Bytes at the front of a page's body that are never compressed.
size_t LevelBytes(const parquet::PageHeader& header) {
  if (header.type != PageType::kDataPageV2) return 0;
  return static_cast<size_t>(header.data_page_v2->repetition_levels_byte_length +
                             header.data_page_v2->definition_levels_byte_length);
}

arrow::Status AddChunk(std::span<const uint8_t> bytes, Codec chunk_codec, FilePages* out) {
  while (!bytes.empty()) {
    size_t header_size = 0;
    ARROW_ASSIGN_OR_RAISE(const auto header, parquet::ParsePageHeader(bytes, &header_size));
    bytes = bytes.subspan(header_size);
    const auto size = static_cast<size_t>(header.compressed_page_size);
    const size_t levels = LevelBytes(header);
    if (size > bytes.size() || levels > size) return arrow::Status::Invalid("a page does not fit its chunk");
    const bool compressed = header.type != PageType::kDataPageV2 || header.data_page_v2->is_compressed;
    out->pages.push_back({compressed ? chunk_codec : Codec::kUncompressed, bytes.subspan(levels, size - levels),
                          static_cast<size_t>(header.uncompressed_page_size) - levels});
    bytes = bytes.subspan(size);
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<int>> LeavesOf(const ParquetReader& reader, const std::vector<std::string>& columns) {
  std::vector<int> leaves;
  for (const std::string& column : columns) {
    ARROW_ASSIGN_OR_RAISE(const auto some, reader.LeavesOf(column));
    leaves.insert(leaves.end(), some.begin(), some.end());
  }
  if (columns.empty()) {
    leaves.resize(reader.metadata().row_groups.front().columns.size());
    std::iota(leaves.begin(), leaves.end(), 0);
  }
  return leaves;
}

}  // namespace

arrow::Status AddFile(const std::string& path, const std::vector<std::string>& columns, FilePages* out) {
  ARROW_ASSIGN_OR_RAISE(const auto reader, ParquetReader::Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto leaves, LeavesOf(*reader, columns));
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(path));
  for (const auto& row_group : reader->metadata().row_groups) {
    for (const int leaf : leaves) {
      const auto& chunk = *row_group.columns[static_cast<size_t>(leaf)].metadata;
      const int64_t dictionary = chunk.dictionary_page_offset.value_or(0);
      const int64_t begin = dictionary > 0 ? std::min(dictionary, chunk.data_page_offset) : chunk.data_page_offset;
      ARROW_ASSIGN_OR_RAISE(const Codec codec, CodecOf(chunk.codec));
      ARROW_ASSIGN_OR_RAISE(auto buffer, file->ReadAt(begin, chunk.total_compressed_size));
      ARROW_RETURN_NOT_OK(AddChunk({buffer->data(), static_cast<size_t>(buffer->size())}, codec, out));
      out->chunks.push_back(std::move(buffer));
    }
  }
  out->rows += reader->num_rows();
  return arrow::Status::OK();
}

size_t CopyPieceBytes() {
  const int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return static_cast<size_t>(cache > 0 ? cache : 512 << 10) / 4;
}

void CopyBytes(int64_t size_bytes, std::span<const uint8_t> from, std::span<uint8_t> to) {
  for (int64_t left = size_bytes; left > 0;) {
    const size_t piece = std::min(static_cast<size_t>(left), from.size());
    std::memcpy(to.data(), from.data(), piece);
    asm volatile("" : : "r"(to.data()) : "memory");  // the copy is wanted
    left -= static_cast<int64_t>(piece);
  }
}

}  // namespace calve::bench
