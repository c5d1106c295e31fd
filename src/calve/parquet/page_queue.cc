#include "calve/parquet/page_queue.h"

#include "calve/base/status.h"

#include <utility>

namespace calve::parquet {

namespace {

/// Rows of a data page; -1 when its header does not tell, and for a dictionary page.
int64_t RowsOf(const PageHeader& header, bool flat) {
  if (header.data_page) return flat ? header.data_page->num_values : -1;
  if (header.data_page_v2) return flat ? header.data_page_v2->num_values : header.data_page_v2->num_rows;
  return -1;
}

}  // namespace

PageQueue::~PageQueue() {
  ReleaseCurrent();
  for (const auto& slot : slots_) Release(slot.get());
}

Result<const Page*> PageQueue::Next() {
  const auto begin = std::chrono::steady_clock::now();
  Lock lock(mutex_);
  auto page = TakeNext(&lock);
  NoteChange();
  if (options_.counters != nullptr) {
    // A decoder counts its time as a whole; what it spent here is other stages'.
    const auto spent = std::chrono::steady_clock::now() - begin;
    options_.counters->decode_ns -= std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
    if (page.ok() && *page != nullptr) ++options_.counters->pages_read;
  }
  return page;
}

Result<const Page*> PageQueue::TakeNext(Lock* lock) {
  ARROW_RETURN_NOT_OK(returned_);
  ReleaseCurrent();
  while (true) {
    if (!slots_.empty()) {
      Slot* first = slots_.front().get();
      if (first->state == State::kRaw) Open(first, lock);
      if (first->state == State::kReady) break;
      HelpOrWait(lock);
    } else if (reading_) {
      HelpOrWait(lock);
    } else if (ended_) {
      returned_ = failure_;
      ARROW_RETURN_NOT_OK(returned_);
      return nullptr;
    } else {
      ReadOne(Need::kNow, lock);
    }
  }
  current_ = std::move(slots_.front());
  slots_.pop_front();
  returned_ = current_->status;
  ARROW_RETURN_NOT_OK(returned_);
  return &current_->page;
}

Result<int64_t> PageQueue::SkipRows(int64_t rows, bool flat) {
  Lock lock(mutex_);
  ARROW_RETURN_NOT_OK(returned_);
  ReleaseCurrent();
  int64_t passed = 0;
  while (passed < rows) {
    const bool busy = slots_.empty() ? reading_ : slots_.front()->state == State::kOpening;
    if (busy) {
      HelpOrWait(&lock);
      continue;
    }
    auto skipped = SkipFirst(rows - passed, flat, &lock);
    if (!skipped.ok()) returned_ = skipped.status();
    ARROW_RETURN_NOT_OK(returned_);
    if (*skipped < 0) break;
    passed += *skipped;
    if (options_.counters != nullptr) ++options_.counters->pages_skipped;
  }
  NoteChange();
  return passed;
}

Result<int64_t> PageQueue::SkipFirst(int64_t rows, bool flat, Lock* lock) {
  if (slots_.empty()) return ended_ ? -1 : SkipUnread(rows, flat, lock);
  Slot* first = slots_.front().get();
  if (!first->status.ok()) return -1;
  const int64_t held = RowsOf(first->state == State::kRaw ? first->raw.header : first->page.header, flat);
  if (held < 0 || held > rows) return -1;
  Release(first);
  slots_.pop_front();
  return held;
}

/// The next page of the source, whose body is then not even read.
Result<int64_t> PageQueue::SkipUnread(int64_t rows, bool flat, Lock* lock) {
  reading_ = true;
  lock->unlock();
  Result<bool> more = true;
  if (!postponed_) {
    postponed_.emplace();
    more = source_.ReadHeader(&*postponed_);
  }
  int64_t held = -1;
  if (more.ok() && *more) held = RowsOf(postponed_->header, flat);
  const bool skips = held >= 0 && held <= rows;
  if (skips) source_.SkipBody(*postponed_);
  lock->lock();
  reading_ = false;
  if (skips || !more.ok() || !*more) postponed_.reset();
  ended_ = !more.ok() || !*more;
  if (!more.ok()) failure_ = more.status();
  changed_.notify_all();
  return skips ? held : -1;
}

bool PageQueue::WorkAhead() {
  Lock lock(mutex_);
  bool worked = false;
  if (Slot* slot = FirstRaw()) {
    Open(slot, &lock);
    worked = true;
  } else if (!ended_ && !reading_ && slots_.size() < kPagesAhead) {
    worked = ReadOne(Need::kAhead, &lock);
    if (Slot* read = FirstRaw()) Open(read, &lock);
  }
  NoteChange();
  return worked;
}

bool PageQueue::ReadOne(Need need, Lock* lock) {
  reading_ = true;
  lock->unlock();
  std::unique_ptr<Slot> slot;
  Result<bool> more = true;
  if (!postponed_) {
    postponed_.emplace();
    more = source_.ReadHeader(&*postponed_);
  }
  Status status = more.status();
  if (status.ok() && *more) status = ReadBody(need, &slot);
  lock->lock();
  reading_ = false;
  const bool waits = slot == nullptr && status.ok() && *more;
  if (!waits) postponed_.reset();
  if (slot != nullptr) slots_.push_back(std::move(slot));
  if (!status.ok()) failure_ = std::move(status);
  ended_ = !failure_.ok() || !more.ok() || !*more;
  changed_.notify_all();
  return !waits;
}

/// Gives no slot, and no error, when the budget has no room.
Status PageQueue::ReadBody(Need need, std::unique_ptr<Slot>* slot) {
  const int64_t bytes = postponed_->held_bytes();
  if (!Reserve(need, bytes)) return Status::OK();
  auto read = std::make_unique<Slot>();
  read->held_bytes = bytes;
  read->raw = std::move(*postponed_);
  Status status = source_.ReadBody(&read->raw);
  if (!status.ok()) {
    Release(read.get());
    return status;
  }
  *slot = std::move(read);
  return status;
}

bool PageQueue::Reserve(Need need, int64_t bytes) {
  if (options_.budget == nullptr) return true;
  if (need == Need::kAhead) return options_.budget->TryTake(bytes);
  options_.budget->Take(bytes);
  return true;
}

void PageQueue::ReleaseCurrent() {
  if (current_ != nullptr) Release(current_.get());
  current_.reset();
}

void PageQueue::Release(Slot* slot) {
  if (options_.budget != nullptr) options_.budget->Give(std::exchange(slot->held_bytes, 0));
  slot->page = Page{};
  slot->raw = RawPage{};
}

void PageQueue::Open(Slot* slot, Lock* lock) {
  slot->state = State::kOpening;
  lock->unlock();
  const PagePlace place = slot->raw.place();
  auto page = OpenPage(std::move(slot->raw), source_.plan(), options_);
  lock->lock();
  if (page.ok()) slot->page = page.MoveValueUnsafe();
  slot->status = WithContext(page.status(), place);
  slot->state = State::kReady;
  changed_.notify_all();
}

PageQueue::Slot* PageQueue::FirstRaw() {
  for (const auto& slot : slots_) {
    if (slot->state == State::kRaw) return slot.get();
  }
  return nullptr;
}

/// Another thread is at work on what the decoder needs.
bool PageQueue::HelpOrWait(Lock* lock) {
  if (Slot* slot = FirstRaw()) {
    Open(slot, lock);
    return true;
  }
  StageTimer timer(options_.counters == nullptr ? nullptr : &options_.counters->wait_ns);
  changed_.wait(*lock);
  return false;
}

void PageQueue::NoteChange() {
  const bool can_read = !ended_ && !reading_ && slots_.size() < kPagesAhead;
  wants_work_.store(can_read || FirstRaw() != nullptr, std::memory_order_relaxed);
}

}  // namespace calve::parquet
