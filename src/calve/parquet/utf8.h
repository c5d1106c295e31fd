#pragma once

#include <arrow/util/utf8.h>

#include <string_view>

namespace calve::parquet {

inline bool IsUtf8(std::string_view text) {
  // Arrow's tables are empty, and everything passes, until they are asked for.
  static const bool ready = (arrow::util::InitializeUTF8(), true);
  return ready &&
         arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size()));
}

}  // namespace calve::parquet
