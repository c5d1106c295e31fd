#pragma once

#include "calve/context.h"
#include "calve/parquet/read_counters.h"

#include <arrow/array/data.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::parquet {

using arrow::Result;
using arrow::Status;

/// Arrays that are made one after another: the pieces of a field of a row group.
class ArrayStream {
 public:
  virtual ~ArrayStream() = default;
  /// The next array. One thread at a time calls it and at_end(), and not again after an error.
  virtual Result<std::shared_ptr<arrow::ArrayData>> Next() = 0;
  /// Whether Next() has nothing more to give.
  virtual bool at_end() const = 0;
  /// Does a piece of work that Next() would have to do later; false when there is none now. Any thread may call it,
  /// also while another is in Next().
  virtual bool WorkAhead() = 0;
  /// Whether WorkAhead() may find something to do.
  virtual bool wants_work() const = 0;
};

/// Runs the streams of row groups ahead of the one who takes their arrays.
///
/// ThreadsOf(context) threads are at work at most, the caller of Take() being one of them; with one thread everything
/// is done within Take(). The streams of the first group come first, each a few arrays ahead, then those of the groups
/// behind it, then what the running streams can have done for them. Arrays that wait weigh `ahead_bytes` at most. No
/// pool thread ever waits: it leaves when it finds nothing to do, and is called again when there is something. Take()
/// runs what nobody has begun by itself, and waits only for an array that another thread is at work on; so a pool
/// shared by many readers, or one that runs the caller, cannot lock up. A lone stream whose arrays take less time to
/// make than to fetch from another core is left to Take().
///
/// Used by one thread at a time.
class ReadAhead {
 public:
  /// `counters` outlives this.
  ReadAhead(const Context& context, int64_t ahead_bytes, ReadCounters* counters);
  /// Stops and waits for what is running.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;

  /// Adds the streams of a row group behind those there are.
  void AddGroup(std::vector<std::unique_ptr<ArrayStream>> streams);
  /// Lets go of the first group.
  void RemoveGroup();
  size_t groups_count() const;

  /// Whether a stream of the first group has another array, or an error.
  bool HasMore(size_t stream);
  /// The next array of a stream of the first group; Cancelled when stop was requested.
  Result<std::shared_ptr<arrow::ArrayData>> Take(size_t stream);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace calve::parquet
