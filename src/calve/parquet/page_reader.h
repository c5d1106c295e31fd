#pragma once

#include "calve/parquet/page.h"
#include "calve/parquet/page_queue.h"
#include "calve/parquet/page_source.h"

#include <memory>

namespace calve::parquet {

/// Yields the dictionary page and the data pages of a column chunk.
class PageReader {
 public:
  PageReader(ChunkBytes bytes, const ChunkPlan& plan, PageOptions options)
      : queue_(std::make_shared<PageQueue>(PageSource(std::move(bytes), plan), std::move(options))) {}

  /// The next page, valid until the next call; null when all values of the chunk have been seen. Errors name the page.
  Result<const Page*> Next() { return queue_->Next(); }
  /// Passes over data pages as long as they hold no more than `rows` rows together; those that nobody has opened yet
  /// are not decompressed. Returns how many rows they held. `flat`: a value is a row; otherwise only v2 pages tell
  /// their rows. A dictionary page that stands in front stays for Next().
  Result<int64_t> SkipRows(int64_t rows, bool flat) { return queue_->SkipRows(rows, flat); }

  /// For the threads that work ahead.
  const std::shared_ptr<PageQueue>& queue() const { return queue_; }

 private:
  std::shared_ptr<PageQueue> queue_;
};

}  // namespace calve::parquet
