#pragma once

#include "plain_form.h"

#include <arrow/status.h>

#include <string>

namespace calve::differential {

/// OK when both have the same rows in plain form, NaNs equal; otherwise what differs, after `how`.
arrow::Status SameTables(const arrow::Table& got, const arrow::Table& expected, const PlainOptions& form,
                         const std::string& how);

}  // namespace calve::differential
