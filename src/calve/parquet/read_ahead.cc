#include "calve/parquet/read_ahead.h"

#include "calve/base/context.h"

#include <arrow/buffer.h>
#include <arrow/util/thread_pool.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace calve::parquet {
namespace {

using ArrayPtr = std::shared_ptr<arrow::ArrayData>;
using Lock = std::unique_lock<std::mutex>;

/// Arrays that a stream of the first group is ahead at most. Those behind it are held back by their bytes only: who has
/// nothing to do in the first group does all of the next.
constexpr size_t kArraysAhead = 2;

/// What the arrays made lately took, waiting for storage included.
class MakingCost {
 public:
  void Add(int64_t bytes, int64_t ns) {
    bytes_ += bytes;
    ns_ += ns;
    if (bytes_ < kForgetBytes) return;
    bytes_ /= 2;
    ns_ /= 2;
  }
  /// Whether making them took no more than about what it takes another core to fetch their memory.
  bool is_small() const { return ns_ * kBytesPerNs < bytes_; }

 private:
  static constexpr int64_t kBytesPerNs = 8;
  static constexpr int64_t kForgetBytes = int64_t{64} << 20;

  int64_t bytes_ = 0, ns_ = 0;
};

int64_t HeldBytes(const arrow::ArrayData& array) {
  int64_t bytes = 0;
  for (const auto& buffer : array.buffers) bytes += buffer == nullptr ? 0 : buffer->capacity();
  for (const auto& child : array.child_data) bytes += HeldBytes(*child);
  if (array.dictionary != nullptr) bytes += HeldBytes(*array.dictionary);
  return bytes;
}

struct Stream {
  std::shared_ptr<ArrayStream> source;
  std::deque<ArrayPtr> queue;
  Status failure;
  int64_t array_bytes = 0;  // of the last array
  bool running = false;
  bool finished = false;
  bool listed = false;  // in its group's `ready`
};

struct Group {
  std::vector<Stream> streams;
  std::deque<Stream*> ready;  // those that may run, and some that may no more
  bool first = false;         // its arrays are taken

  bool MayRun(const Stream& stream) const {
    return !stream.running && !stream.finished && (!first || stream.queue.size() < kArraysAhead);
  }
  void List(Stream* stream) {
    if (stream->listed || !MayRun(*stream)) return;
    stream->listed = true;
    ready.push_back(stream);
  }
};

}  // namespace

class ReadAhead::State : public std::enable_shared_from_this<State> {
 public:
  State(const Context& context, int64_t ahead_bytes, ReadCounters* counters)
      : context_(context), ahead_bytes_(ahead_bytes), counters_(counters), helpers_allowed_(ThreadsOf(context) - 1) {}

  void AddGroup(std::vector<std::unique_ptr<ArrayStream>> streams) {
    Lock lock(mutex_);
    auto group = std::make_shared<Group>();
    group->first = groups_.empty();
    group->streams.resize(streams.size());
    for (size_t i = 0; i < streams.size(); ++i) {
      group->streams[i].source = std::move(streams[i]);
      group->List(&group->streams[i]);
    }
    groups_.push_back(std::move(group));
    CallHelpers();
  }

  void RemoveGroup() {
    Lock lock(mutex_);
    for (const Stream& stream : groups_.front()->streams) {
      for (const ArrayPtr& array : stream.queue) waiting_bytes_ -= HeldBytes(*array);
    }
    groups_.pop_front();
    if (!groups_.empty()) groups_.front()->first = true;
  }

  size_t groups_count() {
    Lock lock(mutex_);
    return groups_.size();
  }

  /// It may only be known once the array that is being made is there.
  bool HasMore(size_t index) {
    Lock lock(mutex_);
    const Stream& stream = groups_.front()->streams[index];
    while (stream.queue.empty() && stream.running) HelpOrWait(&lock);
    return !stream.queue.empty() || !stream.finished || !stream.failure.ok();
  }

  Result<ArrayPtr> Take(size_t index) {
    Lock lock(mutex_);
    const auto group = groups_.front();
    Stream& stream = group->streams[index];
    while (stream.queue.empty()) {
      if (stream.finished) return stream.failure.ok() ? Status::Invalid("the stream has ended") : stream.failure;
      if (stream.running) {
        HelpOrWait(&lock);
      } else {
        Run(group, &stream, &lock);
      }
    }
    ArrayPtr array = std::move(stream.queue.front());
    stream.queue.pop_front();
    waiting_bytes_ -= HeldBytes(*array);
    group->List(&stream);
    CallHelpers();
    return array;
  }

  void Stop() {
    Lock lock(mutex_);
    stopped_ = true;
    changed_.wait(lock, [this] { return helpers_working_ == 0; });
    groups_.clear();
  }

 private:
  struct Work {
    std::shared_ptr<Group> group;
    Stream* stream = nullptr;
  };

  arrow::internal::Executor* executor() const {
    return context_.executor != nullptr ? context_.executor : arrow::internal::GetCpuThreadPool();
  }

  /// Makes the stream's next array, the lock released meanwhile.
  void Run(const std::shared_ptr<Group>& group, Stream* stream, Lock* lock) {
    stream->running = true;
    running_.push_back(stream);
    CallHelpers();
    lock->unlock();
    const Status stop = CheckStop(context_);
    std::atomic<int64_t> ns{0};
    Result<ArrayPtr> array = stop.ok() ? Make(stream, &ns) : stop;
    const bool ended = !array.ok() || stream->source->at_end();
    const int64_t bytes = array.ok() ? HeldBytes(**array) : 0;
    lock->lock();
    running_.erase(std::find(running_.begin(), running_.end(), stream));
    stream->running = false;
    stream->finished = ended;
    if (array.ok()) {
      stream->queue.push_back(array.MoveValueUnsafe());
      stream->array_bytes = bytes;
      waiting_bytes_ += bytes;
      cost_.Add(bytes, ns);
    } else {
      stream->failure = array.status();
    }
    if (ended) stream->source.reset();
    group->List(stream);
    NoteChange();
  }

  /// The next array of a stream; `ns`: the time that it took, where helpers may be of use.
  Result<ArrayPtr> Make(Stream* stream, std::atomic<int64_t>* ns) const {
    const StageTimer timer(helpers_allowed_ > 0 ? ns : nullptr);
    return stream->source->Next();
  }

  /// Arrays of a lone stream that take so little are best made where they are wanted, from what is in the caches of the
  /// caller's core: what others do for them, far ahead, costs more than it spares.
  bool IsLeftToCaller() const { return !groups_.empty() && groups_.front()->streams.size() == 1 && cost_.is_small(); }

  /// The stream that should run next, if any may.
  Work FirstReady() {
    for (const auto& group : groups_) {
      while (!group->ready.empty() && !group->MayRun(*group->ready.front())) Unlist(group.get());
      if (group->ready.empty()) continue;
      Stream* stream = group->ready.front();
      const bool fits = waiting_bytes_ == 0 || waiting_bytes_ + stream->array_bytes <= ahead_bytes_;
      return fits ? Work{group, stream} : Work{};
    }
    return {};
  }

  static void Unlist(Group* group) {
    group->ready.front()->listed = false;
    group->ready.pop_front();
  }

  /// A running stream that could be helped; it may end meanwhile.
  std::shared_ptr<ArrayStream> PickToHelp() {
    for (const Stream* stream : running_) {
      if (stream->source->wants_work()) return stream->source;
    }
    return nullptr;
  }

  bool DoSomething(Lock* lock) {
    if (IsLeftToCaller()) return false;
    if (Work work = FirstReady(); work.stream != nullptr) {
      Unlist(work.group.get());
      Run(work.group, work.stream, lock);
      return true;
    }
    auto source = PickToHelp();
    if (source == nullptr) return false;
    lock->unlock();
    const bool worked = source->WorkAhead();
    source.reset();
    lock->lock();
    return worked;
  }

  void HelpOrWait(Lock* lock) {
    const int64_t seen = changes_;
    if (DoSomething(lock) || changes_ != seen) return;
    StageTimer timer(&counters_->wait_ns);
    changed_.wait(*lock);
  }

  void NoteChange() {
    ++changes_;
    changed_.notify_all();
  }

  bool HasWork() { return !IsLeftToCaller() && (FirstReady().stream != nullptr || PickToHelp() != nullptr); }

  void CallHelpers() {
    while (!stopped_ && helpers_called_ + helpers_working_ < helpers_allowed_ && HasWork()) {
      ++helpers_called_;
      // An executor that takes no more work only costs parallelism.
      if (executor()->Spawn([self = shared_from_this()] { self->Help(); }).ok()) continue;
      --helpers_called_;
      return;
    }
  }

  /// What a pool thread runs.
  void Help() {
    Lock lock(mutex_);
    --helpers_called_;
    ++helpers_working_;
    while (!stopped_ && DoSomething(&lock)) {
    }
    --helpers_working_;
    NoteChange();
  }

  const Context context_;
  const int64_t ahead_bytes_;
  ReadCounters* counters_;
  const int helpers_allowed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Group>> groups_;
  std::vector<Stream*> running_;
  int64_t waiting_bytes_ = 0;
  MakingCost cost_;
  int64_t changes_ = 0;  // of what Take() waits for
  int helpers_called_ = 0, helpers_working_ = 0;
  bool stopped_ = false;
};

ReadAhead::ReadAhead(const Context& context, int64_t ahead_bytes, ReadCounters* counters)
    : state_(std::make_shared<State>(context, ahead_bytes, counters)) {}

ReadAhead::~ReadAhead() { state_->Stop(); }

void ReadAhead::AddGroup(std::vector<std::unique_ptr<ArrayStream>> streams) { state_->AddGroup(std::move(streams)); }
void ReadAhead::RemoveGroup() { state_->RemoveGroup(); }
size_t ReadAhead::groups_count() const { return state_->groups_count(); }
bool ReadAhead::HasMore(size_t stream) { return state_->HasMore(stream); }
Result<ArrayPtr> ReadAhead::Take(size_t stream) { return state_->Take(stream); }

}  // namespace calve::parquet
