#pragma once

#include "calve/parquet/footer_index.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
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

 private:
  static constexpr int kPasses = 8;

  template <typename Key>
  struct Table {
    std::atomic<int> lookups{0};
    std::once_flag built;
    std::unordered_multimap<Key, uint32_t> fields;
  };

  std::string_view NameOf(size_t field) const { return index_.text(index_.elements()[index_.fields()[field]].name); }
  void BuildNames() const;
  void BuildIds() const;

  const FooterIndex& index_;
  mutable Table<std::string_view> names_;
  mutable Table<int32_t> ids_;
};

}  // namespace calve::parquet
