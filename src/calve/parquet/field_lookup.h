#pragma once

#include "calve/parquet/footer_index.h"

#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace calve::parquet {

/// Finds the top-level fields of a footer by name and by field id, without building the schema. The first lookups pass
/// over the fields; where there are many lookups, a table is made for them. Thread-safe.
class FieldLookup {
 public:
  /// `index` outlives the lookup.
  explicit FieldLookup(const FooterIndex& index) : index_(index) {}

  /// The fields (as numbers among index.fields(), sorted) that are called `path`, or begin it and are followed by a
  /// dot.
  std::vector<size_t> Named(std::string_view path) const;
  /// The fields that hold an element with this id at any depth.
  std::vector<size_t> WithId(int32_t field_id) const;

  /// There will be many lookups: the next one makes its table.
  void ExpectMany() const;
  /// What both tables take in memory, made or not.
  int64_t memory_bytes() const;

 private:
  static constexpr int kPasses = 8;

  /// Entries by the hash of their keys, those of one bucket in a chain: made in one pass, whatever the keys.
  class Table {
   public:
    /// For entries below `count`.
    void Reset(size_t count) {
      heads_.assign(BucketsFor(count), kNone);
      next_.resize(count);
    }
    /// Each entry once at most.
    void Add(uint32_t entry, size_t hash) { next_[entry] = std::exchange(heads_[Bucket(hash)], entry); }
    template <typename Visit>
    void ForEach(size_t hash, Visit&& visit) const {
      for (uint32_t entry = heads_[Bucket(hash)]; entry != kNone; entry = next_[entry]) visit(entry);
    }
    /// Counts a lookup; whether it should use the table.
    bool WantsTable() { return lookups_ >= kPasses || lookups_++ >= kPasses; }
    void ExpectMany() { lookups_ = kPasses; }
    static size_t BucketsFor(size_t count) { return std::bit_ceil(count + 1); }

    std::once_flag built;

   private:
    static constexpr uint32_t kNone = ~uint32_t{0};
    size_t Bucket(size_t hash) const { return hash & (heads_.size() - 1); }

    std::atomic<int> lookups_{0};
    std::vector<uint32_t> heads_, next_;
  };

  std::string_view NameOf(size_t field) const { return index_.text(index_.elements()[index_.fields()[field]].name); }

  const FooterIndex& index_;
  mutable Table names_;  ///< its entries are fields
  mutable Table ids_;    ///< its entries are elements
};

}  // namespace calve::parquet
