#pragma once

#include "calve/parquet/footer.h"

#include <memory>
#include <vector>

namespace calve::parquet {

/// The fields of a read by a filter: those the filter tests, and the other ones. A field of the output is taken from
/// the tested ones when it is wholly there; a struct of which only a part is tested is read as a whole with the others.
struct FieldSplit {
  Selection output, tested, rest;
  /// Of each field of the output: its index in `tested`, or ~ its index in `rest`.
  std::vector<int> sources;

  static Result<FieldSplit> Make(const Footer& footer, const std::vector<int>& leaves,
                                 const std::vector<int>& tested_leaves);

  /// True when a field of the output is taken from the tested ones.
  bool uses_tested() const;
  /// The output of batches of `tested` and `rest` that have the same rows. A batch that no field comes from may be
  /// null.
  std::shared_ptr<arrow::RecordBatch> Join(int64_t rows, const arrow::RecordBatch* from_tested,
                                           const arrow::RecordBatch* from_rest) const;
};

}  // namespace calve::parquet
