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

  /// For the threads that work ahead.
  const std::shared_ptr<PageQueue>& queue() const { return queue_; }

 private:
  std::shared_ptr<PageQueue> queue_;
};

}  // namespace calve::parquet
