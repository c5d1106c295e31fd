#pragma once

#include "calve/partitioner.h"

#include <arrow/record_batch.h>

#include <memory>
#include <string>
#include <vector>

namespace calve::shuffle {

/// Appends the key of one column's values to the keys of rows. Keys compare as bytes the way the values are ordered:
///
///   key   := for each column: null_marker value?      null_marker sorts nulls first or last
///   value := big-endian bytes with the sign flipped    (numbers, dates, times, decimals)
///          | (byte, 00 as 00 FF)* 00 00                (strings, binary)
///   descending columns: the value's bytes inverted
class KeyAppender {
 public:
  virtual ~KeyAppender() = default;
  virtual void Append(int64_t row, std::string* key) const = 0;
};

/// The keys of the rows of a batch.
class OrderKeys {
 public:
  /// `columns[i]` is the column of `keys[i]`. The batch outlives the result. NotImplemented names a type without order.
  static arrow::Result<OrderKeys> Make(const arrow::RecordBatch& batch, const std::vector<RangeKey>& keys,
                                       const std::vector<int>& columns);
  /// The key of `row`, into `key` (what it held before is gone).
  void Get(int64_t row, std::string* key) const;

 private:
  std::vector<std::unique_ptr<KeyAppender>> appenders_;
};

}  // namespace calve::shuffle
