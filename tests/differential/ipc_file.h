#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>

namespace calve::differential {

/// Arrow IPC files, whole.
arrow::Status WriteIpc(const arrow::Table& table, const std::string& path);
arrow::Result<std::shared_ptr<arrow::Table>> ReadIpc(const std::string& path);

}  // namespace calve::differential
