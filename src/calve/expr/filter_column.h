#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace arrow::compute {
class ExecContext;
}

namespace calve::expr {

/// The values of `column` where `mask` is true. Of any type: Arrow's own filter does not know views, wherever they are
/// nested. Views go on pointing into the buffers of `column`.
arrow::Result<std::shared_ptr<arrow::Array>> FilterColumn(const std::shared_ptr<arrow::Array>& column,
                                                          const std::shared_ptr<arrow::BooleanArray>& mask,
                                                          arrow::compute::ExecContext* context);

}  // namespace calve::expr
