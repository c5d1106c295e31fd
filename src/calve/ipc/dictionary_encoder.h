#pragma once

#include "calve/ipc/body_encoder.h"
#include "calve/ipc/column_rows.h"

#include <arrow/type.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

namespace calve::ipc {

/// Calls `visit` with a zero of the C type of dictionary indices of type `id`.
template <typename Visit>
auto WithIndexType(arrow::Type::type id, Visit visit) {
  switch (id) {
    case arrow::Type::INT8:
      return visit(int8_t{0});
    case arrow::Type::UINT8:
      return visit(uint8_t{0});
    case arrow::Type::INT16:
      return visit(int16_t{0});
    case arrow::Type::UINT16:
      return visit(uint16_t{0});
    case arrow::Type::INT32:
      return visit(int32_t{0});
    case arrow::Type::UINT32:
      return visit(uint32_t{0});
    case arrow::Type::INT64:
      return visit(int64_t{0});
    default:
      return visit(uint64_t{0});
  }
}

/// A dictionary that has to be written: entries of one or more dictionaries, in the order of their new numbers.
struct UsedDictionary {
  int64_t id = 0;
  std::shared_ptr<arrow::DataType> value_type;
  std::vector<std::pair<const arrow::ArrayData*, std::vector<uint32_t>>> entries;
  int64_t count = 0;

  void Add(const arrow::ArrayData& dictionary, uint32_t entry);
  std::vector<ColumnRows> sources() const;
};

/// What keeping a column's dictionary, or writing its values, would take, without padding and compression.
struct DictionaryCost {
  int64_t kept_bytes = 0, plain_bytes = 0;
  bool can_keep = true;     ///< the entries used can be numbered by the index type
  bool can_decide = false;  ///< false: values that are not of a plain type; the dictionary is kept
};

/// Numbers the dictionary entries that a block uses, by first use; equal strings of different dictionaries once.
class DictionaryEncoder final : public DictionarySink {
 public:
  /// Forgets the dictionaries of the block before.
  void Begin() { pending_.clear(); }
  arrow::Status Renumber(int64_t id, const arrow::DictionaryType& type, Sources sources, uint8_t* out) override;
  DictionaryCost CostOf(const arrow::DictionaryType& type, Sources sources);
  /// Those of Renumber since Begin, by first use.
  std::vector<UsedDictionary>& pending() { return pending_; }
  /// Drops what is kept between blocks; before arrays go away, so that memory is given back.
  void Forget() { numbers_.clear(); }

 private:
  /// Numbers of the entries of one dictionary; those of an earlier epoch do not count.
  struct Numbers {
    struct Entry {
      uint32_t epoch = 0, number = 0;
    };
    std::vector<Entry> entries;
  };

  Numbers& NumbersOf(const arrow::ArrayData& dictionary);
  void NextEpoch();
  template <typename Index>
  arrow::Status RenumberAs(Sources sources, UsedDictionary* used, Index* out);

  std::unordered_map<const arrow::ArrayData*, Numbers> numbers_;
  uint32_t epoch_ = 0;
  std::vector<UsedDictionary> pending_;
};

}  // namespace calve::ipc
