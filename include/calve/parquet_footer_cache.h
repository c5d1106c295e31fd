#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace calve {

namespace parquet {
struct StoredFooter;
}

/// Keeps the footers of Parquet files that were opened, for the next time that one of them is: opening it then reads
/// nothing of its footer. Give one to any number of readers, one after another or at once, by
/// ParquetReadOptions::footer_cache. Thread-safe.
///
/// A footer is found again only for the file of the same name, size and version (ParquetReadOptions::file_version), so
/// that a file that was written anew is read anew. Those of encrypted files are not kept.
class ParquetFooterCache {
 public:
  /// What is used least recently goes when more than `capacity_bytes` would be kept; footers that take more than that
  /// are not kept at all.
  explicit ParquetFooterCache(int64_t capacity_bytes = int64_t{64} << 20);
  ~ParquetFooterCache();
  ParquetFooterCache(const ParquetFooterCache&) = delete;
  ParquetFooterCache& operator=(const ParquetFooterCache&) = delete;

  struct Counts {
    int64_t hits = 0, misses = 0;
    int64_t evicted = 0;  ///< footers that made room
    int64_t footers = 0;  ///< that are kept now
    int64_t bytes = 0;    ///< that these take
  };
  Counts counts() const;
  void Clear();

  /// Which content of which file.
  struct Key {
    std::string name;
    int64_t file_size = 0;
    std::string version;
    bool operator==(const Key&) const = default;
  };
  /// For readers: the footer of a file; null: none is kept.
  std::shared_ptr<const parquet::StoredFooter> Find(const Key& key);
  void Put(const Key& key, std::shared_ptr<const parquet::StoredFooter> footer);

 private:
  class Kept;
  const std::unique_ptr<Kept> kept_;
};

}  // namespace calve
