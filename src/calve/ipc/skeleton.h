#pragma once

#include "calve/ipc/batch_layout.h"
#include "calve/ipc/body.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <mutex>
#include <vector>

namespace calve::ipc {

class Skeleton;

/// The array objects of a schema's earlier batches, for its later ones. Thread-safe: batches come back on whatever
/// thread drops them.
class SkeletonPool {
 public:
  explicit SkeletonPool(std::shared_ptr<const BatchPlan> plan) : plan_(std::move(plan)) {}
  ~SkeletonPool();
  SkeletonPool(const SkeletonPool&) = delete;
  SkeletonPool& operator=(const SkeletonPool&) = delete;

  const BatchPlan& plan() const { return *plan_; }

  /// The batch that `layout` describes, which holds `body`. When the last reference to it is dropped its body is freed
  /// at once, and the objects go back to the pool; where a consumer still holds some of them, they are left to it.
  /// `reused` tells whether the objects are those of an earlier batch.
  static std::shared_ptr<arrow::RecordBatch> MakeBatch(const std::shared_ptr<SkeletonPool>& pool,
                                                       const BatchLayout& layout, Body body, bool* reused);

 private:
  friend class Skeleton;
  /// More are not kept: a consumer that held many at once need not do so again.
  static constexpr size_t kMostIdle = 4;

  Skeleton* Take(const BatchLayout& layout);
  void Give(Skeleton* skeleton);

  const std::shared_ptr<const BatchPlan> plan_;
  std::mutex mutex_;
  std::vector<Skeleton*> idle_;
};

}  // namespace calve::ipc
