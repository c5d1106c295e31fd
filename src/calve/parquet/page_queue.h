#pragma once

#include "calve/parquet/page.h"
#include "calve/parquet/page_source.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace calve::parquet {

/// The pages of a column chunk, handed over in order, while other threads read and decompress the ones ahead.
///
/// One thread at a time, the decoder, calls Next(). Any thread may call WorkAhead(): it reads the next page, or
/// decompresses the first that nobody has begun. With nobody working ahead, Next() does it all by itself and nothing is
/// queued. Pages ahead are taken only within the budget; the page that the decoder cannot go on without is always
/// taken. The decoder waits for a page only while another thread is at work on it, and works ahead before it waits: no
/// thread waits for one that has not begun. An error stands in the place of the page that it is about.
class PageQueue {
 public:
  PageQueue(PageSource source, PageOptions options) : source_(std::move(source)), options_(std::move(options)) {}
  ~PageQueue();
  PageQueue(const PageQueue&) = delete;

  /// The next page, valid until the next call; null at the end. After an error every call returns it. Errors name the
  /// page.
  Result<const Page*> Next();

  /// Passes over data pages; see PageReader.
  Result<int64_t> SkipRows(int64_t rows, bool flat);

  /// Does one piece of work on pages ahead; false when there is none now. Never waits.
  bool WorkAhead();
  /// Whether WorkAhead() may find something to do.
  bool wants_work() const { return wants_work_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kPagesAhead = 16;
  enum class State { kRaw, kOpening, kReady };
  struct Slot {
    State state = State::kRaw;
    RawPage raw;
    Page page;
    Status status;
    int64_t held_bytes = 0;
  };
  using Lock = std::unique_lock<std::mutex>;
  enum class Need { kNow, kAhead };

  Result<const Page*> TakeNext(Lock* lock);
  void ReleaseCurrent();
  void Release(Slot* slot);
  /// Passes over the first page when it holds no more than `rows` rows. -1: it does not, or there is none.
  Result<int64_t> SkipFirst(int64_t rows, bool flat, Lock* lock);
  Result<int64_t> SkipUnread(int64_t rows, bool flat, Lock* lock);
  /// Reads the next page into a slot, the lock released meanwhile; false when it has to wait for the budget.
  bool ReadOne(Need need, Lock* lock);
  Status ReadBody(Need need, std::unique_ptr<Slot>* slot);
  bool Reserve(Need need, int64_t bytes);
  void Open(Slot* slot, Lock* lock);
  Slot* FirstRaw();
  bool HelpOrWait(Lock* lock);
  void NoteChange();

  PageSource source_;  // touched only by the one who has set reading_
  PageOptions options_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<Slot> current_;     // what Next() returned last
  std::optional<RawPage> postponed_;  // its header is read; the budget had no room for the rest
  bool reading_ = false;
  bool ended_ = false;  // nothing more comes from the source: its end, or an error
  Status failure_;      // of the source
  Status returned_;     // the error that Next() has returned
  std::atomic<bool> wants_work_{true};
};

}  // namespace calve::parquet
