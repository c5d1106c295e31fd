// The floor under every writer: compresses the bodies of the pages of a Parquet file that is not compressed, and copies
// as many bytes as asked, and does nothing else.
//
//   write_floor [--rounds N] [--threads T] [--level N] [--copy-bytes N] [--serve] FILE
//
// --level: of zstd; without it nothing is compressed. The pages lie in memory before the time begins. With several
// threads each takes the next page, and its part of the copies: what that gains is the scaling that this machine
// allows.

#include "support/file_pages.h"
#include "support/serve.h"
#include "support/timed_threads.h"
#include "support/write_arguments.h"

#include <atomic>
#include <iostream>

namespace calve::bench {
namespace {

/// What one thread compresses into and copies between.
struct Scratch {
  std::vector<uint8_t> page, from, to;
};

arrow::Result<Scratch> MakeScratch(const FilePages& pages) {
  size_t largest = 0;
  for (const auto& page : pages.pages) {
    if (page.codec != Codec::kUncompressed) return arrow::Status::Invalid("the pages are compressed already");
    largest = std::max(largest, page.bytes.size());
  }
  return Scratch{std::vector<uint8_t>(MaxCompressedSize(Codec::kZstd, largest), 1),
                 std::vector<uint8_t>(CopyPieceBytes(), 1), std::vector<uint8_t>(CopyPieceBytes(), 1)};
}

arrow::Status Work(const FilePages& pages, int level, std::atomic<size_t>* next, Scratch* scratch) {
  for (size_t i; level > 0 && (i = next->fetch_add(1)) < pages.pages.size();) {
    const CompressedPage& page = pages.pages[i];
    if (page.bytes.empty()) continue;
    ARROW_RETURN_NOT_OK(Compress(Codec::kZstd, level, page.bytes, scratch->page).status());
  }
  return arrow::Status::OK();
}

/// Milliseconds of one round; one thread a scratch.
arrow::Result<double> TimeRound(const FilePages& pages, const WriteArguments& arguments,
                                std::vector<Scratch>* scratch) {
  std::atomic<size_t> next = 0;
  return TimeThreads(scratch->size(), [&](size_t i) {
    Scratch& own = (*scratch)[i];
    const arrow::Status status = Work(pages, arguments.compression_level, &next, &own);
    CopyBytes(arguments.copy_bytes / static_cast<int64_t>(scratch->size()), own.from, own.to);
    return status;
  });
}

arrow::Status Run(const WriteArguments& arguments) {
  FilePages pages;
  ARROW_RETURN_NOT_OK(AddFile(arguments.file, {}, &pages));
  std::vector<Scratch> scratch(static_cast<size_t>(arguments.threads));
  size_t bytes = 0;
  for (const auto& page : pages.pages) bytes += page.bytes.size();
  for (Scratch& own : scratch) {
    ARROW_ASSIGN_OR_RAISE(own, MakeScratch(pages));
  }
  return TimeRounds(fmt::format("rows={} pages={} page_bytes={}", pages.rows, pages.pages.size(), bytes),
                    arguments.serve, arguments.rounds, [&] { return TimeRound(pages, arguments, &scratch); });
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const auto arguments = calve::bench::ParseWriteArguments(argc, argv);
  const arrow::Status status = arguments.ok() ? calve::bench::Run(*arguments) : arguments.status();
  if (!status.ok()) std::cerr << "write_floor: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
