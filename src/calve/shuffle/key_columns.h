#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <string>
#include <vector>

namespace calve::shuffle {

/// The indices of the columns named `keys`, in their order. Invalid when there are none, or a name fits no column or
/// several.
arrow::Result<std::vector<int>> FindKeyColumns(const arrow::Schema& schema, const std::vector<std::string>& keys);

/// Invalid unless at least 1.
arrow::Status CheckPartitions(int32_t partitions);

}  // namespace calve::shuffle
