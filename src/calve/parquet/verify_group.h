#pragma once

#include "calve/parquet/footer.h"
#include "calve/parquet/verify_report.h"

#include "calve/context.h"

#include <memory>

namespace calve::parquet {

/// Compares what a row group says of itself with what its chunks say: sizes, offsets, its number, sorting columns that
/// are columns. `group` is parsed from the footer.
void VerifyGroup(const Footer& footer, const RowGroup& group, int row_group, VerifyReport* report);

/// Reads the sorting columns of a row group and compares each row with the one before it. What cannot be compared is
/// said to be not checked; pages that cannot be read are reported elsewhere. Statuses are about storage and memory.
Status VerifySorting(const std::shared_ptr<arrow::io::RandomAccessFile>& file, const Footer& footer,
                     const RowGroup& group, int row_group, const ParquetVerifyOptions& options, const Context& context,
                     VerifyReport* report);

}  // namespace calve::parquet
