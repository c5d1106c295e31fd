// The floor under every reader: decompresses every page of the chosen columns and copies as many bytes as they decode
// to, and does nothing else.
//
//   codec_floor [--rounds N] [--threads T] [--columns a,b] [--copy-bytes N] [--serve] FILE...
//
// The pages lie in memory before the time begins. Copies go from one piece of memory to another that both stay in the
// second-level cache. With several threads each takes the next page, and its part of the copies: what that gains is the
// scaling that this machine allows.

#include "support/arguments.h"
#include "support/file_pages.h"
#include "support/serve.h"
#include "support/timed_threads.h"

#include <atomic>
#include <iostream>

namespace calve::bench {
namespace {

/// What one thread decompresses into and copies between.
struct Scratch {
  std::vector<uint8_t> page, from, to;
};

Scratch MakeScratch(const FilePages& pages) {
  size_t largest = 0;
  for (const auto& page : pages.pages) largest = std::max(largest, page.size_bytes);
  return {std::vector<uint8_t>(largest, 1), std::vector<uint8_t>(CopyPieceBytes(), 1),
          std::vector<uint8_t>(CopyPieceBytes(), 1)};
}

arrow::Status Work(const FilePages& pages, int64_t copy_bytes, std::atomic<size_t>* next, Scratch* scratch) {
  for (size_t i; (i = next->fetch_add(1)) < pages.pages.size();) {
    const CompressedPage& page = pages.pages[i];
    if (page.codec == Codec::kUncompressed || page.bytes.empty()) continue;
    ARROW_RETURN_NOT_OK(Decompress(page.codec, page.bytes, std::span(scratch->page).first(page.size_bytes)));
  }
  CopyBytes(copy_bytes, scratch->from, scratch->to);
  return arrow::Status::OK();
}

/// Milliseconds of one round; one thread a scratch.
arrow::Result<double> TimeRound(const FilePages& pages, int64_t copy_bytes, std::vector<Scratch>* scratch) {
  std::atomic<size_t> next = 0;
  return TimeThreads(scratch->size(), [&](size_t i) {
    return Work(pages, copy_bytes / static_cast<int64_t>(scratch->size()), &next, &(*scratch)[i]);
  });
}

arrow::Status Run(const Arguments& arguments) {
  FilePages pages;
  for (const auto& path : arguments.files) ARROW_RETURN_NOT_OK(AddFile(path, arguments.columns, &pages));
  std::vector<Scratch> scratch;
  for (int i = 0; i < std::max(arguments.threads, 1); ++i) scratch.push_back(MakeScratch(pages));
  size_t decompressed = 0;
  for (const auto& page : pages.pages) decompressed += page.size_bytes;
  const std::string what = fmt::format("rows={} pages={} page_bytes={}", pages.rows, pages.pages.size(), decompressed);
  return TimeRounds(what, arguments.serve, arguments.rounds,
                    [&] { return TimeRound(pages, arguments.copy_bytes, &scratch); });
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const auto arguments = calve::bench::ParseArguments(argc, argv);
  const arrow::Status status = arguments.ok() ? calve::bench::Run(*arguments) : arguments.status();
  if (!status.ok()) std::cerr << "codec_floor: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
