#include "calve/parquet_footer_cache.h"

#include "calve/parquet/footer.h"

#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>

namespace calve {
namespace {

struct HashKey {
  size_t operator()(const ParquetFooterCache::Key& key) const {
    const std::hash<std::string_view> text;
    return (text(key.name) * 31 + text(key.version)) * 31 + static_cast<size_t>(key.file_size);
  }
};

/// What a footer takes in the cache, with its place there.
int64_t BytesOf(const ParquetFooterCache::Key& key, const parquet::StoredFooter& footer) {
  constexpr size_t kEntryBytes = 256;
  return footer.index->memory_bytes() + footer.lookup->memory_bytes() +
         static_cast<int64_t>(kEntryBytes + 2 * (key.name.size() + key.version.size()));
}

}  // namespace

/// The footers, the one used last in front.
class ParquetFooterCache::Kept {
 public:
  explicit Kept(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  std::shared_ptr<const parquet::StoredFooter> Find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      ++counts_.misses;
      return nullptr;
    }
    ++counts_.hits;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->footer;
  }

  void Put(const Key& key, std::shared_ptr<const parquet::StoredFooter> footer) {
    const int64_t bytes = BytesOf(key, *footer);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = by_key_.find(key); found != by_key_.end()) Remove(found->second);
    if (bytes > capacity_bytes_) return;
    while (counts_.bytes + bytes > capacity_bytes_) {
      ++counts_.evicted;
      Remove(std::prev(entries_.end()));
    }
    entries_.push_front({key, std::move(footer), bytes});
    by_key_[key] = entries_.begin();
    counts_.bytes += bytes;
    ++counts_.footers;
  }

  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (!entries_.empty()) Remove(entries_.begin());
  }

  Counts counts() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const parquet::StoredFooter> footer;
    int64_t bytes = 0;
  };

  void Remove(std::list<Entry>::iterator entry) {
    counts_.bytes -= entry->bytes;
    --counts_.footers;
    by_key_.erase(entry->key);
    entries_.erase(entry);
  }

  const int64_t capacity_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;
  std::unordered_map<Key, std::list<Entry>::iterator, HashKey> by_key_;
  Counts counts_;
};

ParquetFooterCache::ParquetFooterCache(int64_t capacity_bytes) : kept_(std::make_unique<Kept>(capacity_bytes)) {}
ParquetFooterCache::~ParquetFooterCache() = default;

ParquetFooterCache::Counts ParquetFooterCache::counts() const { return kept_->counts(); }
void ParquetFooterCache::Clear() { kept_->Clear(); }

std::shared_ptr<const parquet::StoredFooter> ParquetFooterCache::Find(const Key& key) { return kept_->Find(key); }

void ParquetFooterCache::Put(const Key& key, std::shared_ptr<const parquet::StoredFooter> footer) {
  kept_->Put(key, std::move(footer));
}

}  // namespace calve
