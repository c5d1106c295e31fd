// The floor under every reader: decompresses every page of the chosen columns and copies as many bytes as they decode
// to, and does nothing else.
//
//   codec_floor [--rounds N] [--threads T] [--columns a,b] [--copy-bytes N] [--serve] FILE...
//
// The pages lie in memory before the time begins. Copies go from one piece of memory to another that both stay in the
// second-level cache. With several threads each takes the next page, and its part of the copies: what that gains is the
// scaling that this machine allows.

#include "calve/compress/codec.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet_reader.h"
#include "support/arguments.h"

#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <numeric>
#include <thread>

namespace calve::bench {
namespace {

using parquet::CompressionCodec;
using parquet::PageType;

struct CompressedPage {
  Codec codec;
  std::span<const uint8_t> bytes;
  size_t size_bytes;  ///< decompressed
};

struct Pages {
  std::vector<std::shared_ptr<arrow::Buffer>> chunks;  ///< what the pages lie in
  std::vector<CompressedPage> pages;
  int64_t rows = 0;
};

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

arrow::Status AddChunk(std::span<const uint8_t> bytes, Codec chunk_codec, Pages* out) {
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

arrow::Status AddFile(const std::string& path, const std::vector<std::string>& columns, Pages* out) {
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

/// What one thread decompresses into and copies between.
struct Scratch {
  std::vector<uint8_t> page, from, to;
};

size_t CopyPieceBytes() {
  const int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return static_cast<size_t>(cache > 0 ? cache : 512 << 10) / 4;
}

Scratch MakeScratch(const Pages& pages) {
  size_t largest = 0;
  for (const auto& page : pages.pages) largest = std::max(largest, page.size_bytes);
  return {std::vector<uint8_t>(largest, 1), std::vector<uint8_t>(CopyPieceBytes(), 1),
          std::vector<uint8_t>(CopyPieceBytes(), 1)};
}

void CopyBytes(int64_t size_bytes, Scratch* scratch) {
  for (int64_t left = size_bytes; left > 0;) {
    const size_t piece = std::min(static_cast<size_t>(left), scratch->from.size());
    std::memcpy(scratch->to.data(), scratch->from.data(), piece);
    asm volatile("" : : "r"(scratch->to.data()) : "memory");  // the copy is wanted
    left -= static_cast<int64_t>(piece);
  }
}

arrow::Status Work(const Pages& pages, int64_t copy_bytes, std::atomic<size_t>* next, Scratch* scratch) {
  for (size_t i; (i = next->fetch_add(1)) < pages.pages.size();) {
    const CompressedPage& page = pages.pages[i];
    if (page.codec == Codec::kUncompressed || page.bytes.empty()) continue;
    ARROW_RETURN_NOT_OK(Decompress(page.codec, page.bytes, std::span(scratch->page).first(page.size_bytes)));
  }
  CopyBytes(copy_bytes, scratch);
  return arrow::Status::OK();
}

/// Milliseconds of one round; one thread a scratch.
arrow::Result<double> TimeRound(const Pages& pages, int64_t copy_bytes, std::vector<Scratch>* scratch) {
  std::atomic<size_t> next = 0;
  std::vector<arrow::Status> results(scratch->size());
  const auto work = [&](size_t i) {
    results[i] = Work(pages, copy_bytes / static_cast<int64_t>(scratch->size()), &next, &(*scratch)[i]);
  };
  const auto started = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < scratch->size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (auto& thread : threads) thread.join();
  const auto took = std::chrono::steady_clock::now() - started;
  for (const auto& result : results) ARROW_RETURN_NOT_OK(result);
  return std::chrono::duration<double, std::milli>(took).count();
}

arrow::Status Run(const Arguments& arguments) {
  Pages pages;
  for (const auto& path : arguments.files) ARROW_RETURN_NOT_OK(AddFile(path, arguments.columns, &pages));
  std::vector<Scratch> scratch;
  for (int i = 0; i < std::max(arguments.threads, 1); ++i) scratch.push_back(MakeScratch(pages));
  size_t decompressed = 0;
  for (const auto& page : pages.pages) decompressed += page.size_bytes;
  const std::string what = fmt::format("rows={} pages={} page_bytes={}", pages.rows, pages.pages.size(), decompressed);
  if (arguments.serve) {
    std::cout << what << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      ARROW_ASSIGN_OR_RAISE(const double milliseconds, TimeRound(pages, arguments.copy_bytes, &scratch));
      std::cout << fmt::format("ms={:.4f}", milliseconds) << std::endl;
    }
    return arrow::Status::OK();
  }
  std::vector<double> times(static_cast<size_t>(arguments.rounds));
  for (double& time : times) {
    ARROW_ASSIGN_OR_RAISE(time, TimeRound(pages, arguments.copy_bytes, &scratch));
  }
  std::cout << fmt::format("{} median_ms={:.3f}", what, Median(times)) << std::endl;
  return arrow::Status::OK();
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const auto arguments = calve::bench::ParseArguments(argc, argv);
  const arrow::Status status = arguments.ok() ? calve::bench::Run(*arguments) : arguments.status();
  if (!status.ok()) std::cerr << "codec_floor: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
