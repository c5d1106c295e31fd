#include "calve/parquet/column_tasks.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace calve::parquet {
namespace {

struct Column {
  int64_t number = 0, weight = 0;
  int64_t done = 0;  ///< rounds
  bool busy = false;
};

/// Deals out the rounds of columns.
class ColumnQueue {
 public:
  ColumnQueue(std::span<const int64_t> weights, int64_t rounds, int workers)
      : rounds_(rounds), workers_(static_cast<size_t>(workers)), failed_column_(static_cast<int64_t>(weights.size())) {
    for (const int64_t weight : weights) columns_.push_back({static_cast<int64_t>(columns_.size()), weight});
    std::sort(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.number < b.number;
    });
  }

  /// The column whose next round is to run now. `own`: the one that the same thread had before, null: none. Null when
  /// there is none, or something has failed.
  Column* Next(Column* own) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (own != nullptr) {
      own->busy = false;
      ++own->done;
    }
    if (failed_) return nullptr;
    while (first_ < columns_.size() && columns_[first_].done == rounds_) ++first_;
    // While there are columns for all, each thread stays with its own, whose state is in its cache.
    const bool goes_on = own != nullptr && own->done < rounds_;
    Column* next = goes_on && columns_.size() - first_ > 2 * workers_ ? own : MostLeft();
    if (goes_on && next != nullptr && Left(*next) <= Left(*own)) next = own;
    if (next != nullptr) next->busy = true;
    return next;
  }

  void Fail(int64_t column, Status status) {
    std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
    if (column >= failed_column_) return;
    failed_column_ = column;
    failure_ = std::move(status);
  }

  const Status& failure() const { return failure_; }

 private:
  int64_t Left(const Column& column) const { return (rounds_ - column.done) * column.weight; }
  Column* MostLeft() {
    Column* most = nullptr;
    for (size_t i = first_; i < columns_.size(); ++i) {
      Column& column = columns_[i];
      if (column.busy || column.done == rounds_) continue;
      // Those behind that have not begun have less.
      if (most == nullptr || Left(column) > Left(*most)) most = &column;
      if (column.done == 0) break;
    }
    return most;
  }

  const int64_t rounds_;
  const size_t workers_;
  std::mutex mutex_;
  std::vector<Column> columns_;  ///< the heaviest first
  size_t first_ = 0;             ///< all before are done
  bool failed_ = false;
  int64_t failed_column_;
  Status failure_;
};

}  // namespace

Status RunColumns(const Context& context, std::span<const int64_t> weights, int64_t rounds,
                  const std::function<Status(int64_t column, int64_t round)>& work) {
  const auto columns = static_cast<int64_t>(weights.size());
  const auto workers = static_cast<int>(std::min<int64_t>(ThreadsOf(context), columns));
  if (workers <= 1) {
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t round = 0; round < rounds; ++round) {
        ARROW_RETURN_NOT_OK(CheckStop(context));
        ARROW_RETURN_NOT_OK(work(column, round));
      }
    }
    return Status::OK();
  }
  ColumnQueue queue(weights, rounds, workers);
  ARROW_RETURN_NOT_OK(ParallelFor(context, workers, [&](int64_t) {
    for (Column* column = queue.Next(nullptr); column != nullptr; column = queue.Next(column)) {
      Status status = CheckStop(context);
      if (status.ok()) status = work(column->number, column->done);
      if (!status.ok()) queue.Fail(column->number, std::move(status));
    }
    return Status::OK();
  }));
  return queue.failure();
}

}  // namespace calve::parquet
