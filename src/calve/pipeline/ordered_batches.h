#pragma once

#include "calve/base/operation_pool.h"
#include "calve/context.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <functional>
#include <memory>
#include <vector>

namespace calve::pipeline {

/// A stream of batches that one thread at a time pulls.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// The next batch, null at the end.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

/// A piece of a larger stream: a row group, say. Opened when its turn comes.
struct BatchUnit {
  std::function<arrow::Result<std::unique_ptr<BatchSource>>()> open;
  int64_t weight_bytes = 0;  ///< about what it holds in memory while it is read
};

/// Yields the batches of units one after another, in order, while the units ahead are decoded on the executor.
///
/// At most ThreadsOf(context) units are open at once, each with a few batches waiting; under a memory budget, units
/// ahead are opened only while the open ones weigh less than half of it. No pool thread ever waits: a unit stops when
/// its queue is full and is taken up again when the consumer has room, and the consumer decodes by itself what no
/// thread has begun. So a pool shared by many scans, or one that runs the consumer, cannot lock up. Not thread-safe.
class OrderedBatches {
 public:
  OrderedBatches(const Context& context, std::shared_ptr<OperationPool> pool, std::vector<BatchUnit> units);
  /// Stops and waits for what is running.
  ~OrderedBatches();
  OrderedBatches(const OrderedBatches&) = delete;

  /// The next batch, null at the end; Cancelled when stop was requested. After an error every call returns it.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  struct Unit;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace calve::pipeline
