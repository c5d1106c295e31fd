#include "calve/parquet/page_source.h"

#include "calve/parquet/metadata_reader.h"

#include "calve/base/status.h"

// A column chunk is a row of pages; each is a PageHeader and compressed_page_size bytes:
//
//   chunk      := [dictionary page] data page*       pages of other kinds are passed over
//
// For encrypted chunks see page_decryption.cc.

namespace calve::parquet {
namespace {

/// A header holds statistics, whose values may be long; one that is longer than this is taken for damage.
constexpr int64_t kMaxHeaderBytes = 16 << 20;
constexpr int64_t kFirstHeaderBytes = 4096;

bool IsDataPage(PageType type) { return type == PageType::kDataPage || type == PageType::kDataPageV2; }

}  // namespace

PageSource::PageSource(ChunkBytes bytes, const ChunkPlan& plan) : bytes_(std::move(bytes)), plan_(plan) {
  if (plan.decryptor != nullptr) decryptor_.emplace(plan.decryptor, plan.dictionary_first);
  if (plan_.pages != nullptr) bytes_.SeekTo(plan_.offset, plan_.pages->first_offset);
}

bool PageSource::AtEnd() const {
  if (plan_.pages != nullptr) return planned_ == plan_.pages->pages.size();
  return values_seen_ >= plan_.num_values;
}

void PageSource::SeekPlannedPage() {
  if (!in_planned_ && bytes_.remaining() > 0) return;
  in_planned_ = true;
  const auto& pages = plan_.pages->pages;
  if (decryptor_) decryptor_->SkipTo(pages[planned_].ordinal);
  if (bytes_.remaining() > 0) return bytes_.Skip(pages[planned_].offset - bytes_.position());
  // A stretch of pages that lie close together.
  int64_t end = pages[planned_].offset + pages[planned_].size_bytes;
  for (size_t i = planned_ + 1; i < pages.size() && pages[i].offset - end <= plan_.pages->read_gap_bytes; ++i) {
    end = pages[i].offset + pages[i].size_bytes;
  }
  bytes_.SeekTo(pages[planned_].offset, end);
}

Status PageSource::CheckPlanned(const RawPage& page) {
  if (IsDataPage(page.header.type) != in_planned_) {
    return Invalid("{}, against the offset index", in_planned_ ? "no data page" : "a data page");
  }
  if (!in_planned_) return Status::OK();
  const PlannedPage& planned = plan_.pages->pages[planned_++];
  const int64_t size = bytes_.position() - page.offset + page.header.compressed_page_size;
  if (size != planned.size_bytes) {
    return Invalid("a page of {} bytes, the offset index says {}", size, planned.size_bytes);
  }
  const auto& v2 = page.header.data_page_v2;
  const int64_t rows = !plan_.is_repeated ? page.num_values() : v2 ? v2->num_rows : planned.num_rows;
  if (rows != planned.num_rows) return Invalid("a page of {} rows, the offset index says {}", rows, planned.num_rows);
  return Status::OK();
}

Result<bool> PageSource::ReadHeader(RawPage* page) {
  while (!AtEnd()) {
    if (plan_.pages != nullptr) SeekPlannedPage();
    *page = RawPage{};
    page->offset = bytes_.position();
    page->index = next_index_++;
    if (bytes_.remaining() == 0) {
      return Invalid("the pages end at byte {} with {} of {} values", bytes_.position(), values_seen_,
                     plan_.num_values);
    }
    Status status = ReadOneHeader(page);
    if (status.ok()) status = CheckHeader(*page);
    if (status.ok() && plan_.pages != nullptr) status = CheckPlanned(*page);
    if (!status.ok()) return WithContext(status, page->place());
    const PageType type = page->header.type;
    if (IsDataPage(type)) values_seen_ += page->num_values();
    if (IsDataPage(type) || type == PageType::kDictionaryPage) return true;
    bytes_.Skip(page->header.compressed_page_size);
  }
  return false;
}

Status PageSource::ReadBody(RawPage* page) {
  const int64_t size = page->header.compressed_page_size;
  const auto window = bytes_.Peek(size);
  if (!window.ok()) return WithContext(window.status(), page->place());
  page->bytes = window->first(static_cast<size_t>(size));
  page->memory = bytes_.memory();
  bytes_.Skip(size);
  bytes_.ExpectPages(bytes_.position() - page->offset);
  return Status::OK();
}

Status PageSource::ReadOneHeader(RawPage* page) {
  if (!decryptor_) return ParseHeader(&page->header);
  ARROW_ASSIGN_OR_RAISE(page->header, decryptor_->Read(&bytes_));
  page->ordinal = decryptor_->page();
  return Status::OK();
}

Status PageSource::ParseHeader(PageHeader* header) {
  for (int64_t wanted = kFirstHeaderBytes;; wanted *= 4) {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, bytes_.Peek(wanted));
    size_t size = 0;
    bool cut_short = false;
    auto parsed = ParsePageHeader(bytes, &size, &cut_short);
    if (parsed.ok()) {
      *header = parsed.MoveValueUnsafe();
      bytes_.Skip(static_cast<int64_t>(size));
      return Status::OK();
    }
    if (!cut_short || wanted >= bytes_.remaining() || wanted >= kMaxHeaderBytes) return parsed.status();
  }
}

Status PageSource::CheckHeader(const RawPage& page) const {
  const PageHeader& header = page.header;
  if (header.compressed_page_size < 0 || header.compressed_page_size > bytes_.remaining()) {
    return Invalid("a page of {} bytes, the column chunk has {} left", header.compressed_page_size, bytes_.remaining());
  }
  if (header.uncompressed_page_size < 0)
    return Invalid("an uncompressed size of {} bytes", header.uncompressed_page_size);
  int64_t values = 0;
  if (header.type == PageType::kDictionaryPage) {
    values = header.dictionary_page->num_values;
  } else if (IsDataPage(header.type)) {
    values = page.num_values();
    if (values > plan_.num_values - values_seen_) {
      return Invalid("a page of {} values, the column chunk has {} left", values, plan_.num_values - values_seen_);
    }
  }
  if (values < 0) return Invalid("a page of {} values", values);
  return Status::OK();
}

}  // namespace calve::parquet
