#include "calve/pipeline/ordered_batches.h"

#include "calve/base/context.h"
#include "calve/base/status.h"

#include <arrow/record_batch.h>
#include <arrow/util/thread_pool.h>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace calve::pipeline {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

struct OrderedBatches::Unit {
  BatchUnit recipe;
  std::unique_ptr<BatchSource> source;  // touched only by the one who has set `running`
  std::deque<BatchPtr> queue;
  arrow::Status failure;
  bool scheduled = false;  // a task for it waits in the executor
  bool running = false;
  bool finished = false;

  bool idle() const { return !scheduled && !running && !finished; }
};

struct OrderedBatches::State : std::enable_shared_from_this<State> {
  static constexpr size_t kQueuedBatches = 2;

  Context context;
  std::shared_ptr<OperationPool> pool;
  std::vector<BatchUnit> units;
  size_t next_unit = 0;
  size_t window_units = 1;
  bool parallel = false;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Unit>> window;
  int64_t window_weight = 0;
  int running_tasks = 0;
  bool stopped = false;
  arrow::Status failure;

  arrow::internal::Executor* executor() const {
    return context.executor != nullptr ? context.executor : arrow::internal::GetCpuThreadPool();
  }

  void FillWindow() {
    const int64_t limit = pool ? pool->limit_bytes() : 0;
    while (window.size() < window_units && next_unit < units.size()) {
      const int64_t weight = units[next_unit].weight_bytes;
      if (!window.empty() && limit > 0 && window_weight + weight > limit / 2) return;
      auto unit = std::make_shared<Unit>();
      unit->recipe = std::move(units[next_unit++]);
      window_weight += weight;
      window.push_back(std::move(unit));
    }
  }

  /// Lets the executor take up every unit that has room.
  void Schedule() {
    if (!parallel) return;
    for (const auto& unit : window) {
      if (!unit->idle() || unit->queue.size() >= kQueuedBatches) continue;
      unit->scheduled = true;
      auto spawned = executor()->Spawn([self = shared_from_this(), unit] { self->RunTask(unit); });
      if (!spawned.ok()) unit->scheduled = false;  // The consumer decodes it.
    }
  }

  void RunTask(const std::shared_ptr<Unit>& unit) {
    std::unique_lock<std::mutex> lock(mutex);
    unit->scheduled = false;
    if (unit->running || unit->finished || stopped) return;
    ++running_tasks;
    while (!stopped && !unit->finished && unit->queue.size() < kQueuedBatches) Step(unit.get(), &lock);
    --running_tasks;
    changed.notify_all();
  }

  /// Decodes one batch, the lock released meanwhile.
  void Step(Unit* unit, std::unique_lock<std::mutex>* lock) {
    unit->running = true;
    lock->unlock();
    auto batch = Decode(unit);
    const bool ended = !batch.ok() || *batch == nullptr;
    if (ended) unit->source.reset();
    lock->lock();
    unit->running = false;
    if (!batch.ok()) unit->failure = batch.status();
    unit->finished = ended;
    if (!ended) unit->queue.push_back(*std::move(batch));
    changed.notify_all();
  }

  static Result<BatchPtr> Decode(Unit* unit) {
    if (unit->source == nullptr) {
      ARROW_ASSIGN_OR_RAISE(unit->source, unit->recipe.open());
    }
    return unit->source->Next();
  }

  Result<BatchPtr> Next() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      ARROW_RETURN_NOT_OK(failure);
      failure = CheckStop(context);
      ARROW_RETURN_NOT_OK(failure);
      FillWindow();
      if (window.empty()) return nullptr;
      const auto head = window.front();
      if (!head->queue.empty()) {
        BatchPtr batch = std::move(head->queue.front());
        head->queue.pop_front();
        Schedule();
        return batch;
      }
      if (head->finished) {
        failure = head->failure;
        window_weight -= head->recipe.weight_bytes;
        window.pop_front();
        continue;
      }
      Schedule();
      if (head->running) {
        changed.wait(lock);
      } else {
        Step(head.get(), &lock);
      }
    }
  }

  void Stop() {
    std::unique_lock<std::mutex> lock(mutex);
    stopped = true;
    changed.wait(lock, [this] { return running_tasks == 0; });
    // Tasks that never ran may keep their unit for a while; what it reads from goes now.
    for (const auto& unit : window) {
      unit->source.reset();
      unit->recipe.open = nullptr;
    }
    window.clear();
    units.clear();
  }
};

OrderedBatches::OrderedBatches(const Context& context, std::shared_ptr<OperationPool> pool,
                               std::vector<BatchUnit> units)
    : state_(std::make_shared<State>()) {
  state_->context = context;
  state_->pool = std::move(pool);
  state_->units = std::move(units);
  const int threads = ThreadsOf(context);
  state_->parallel = threads > 1;
  state_->window_units = static_cast<size_t>(threads);
}

OrderedBatches::~OrderedBatches() { state_->Stop(); }

Result<BatchPtr> OrderedBatches::Next() { return state_->Next(); }

}  // namespace calve::pipeline
