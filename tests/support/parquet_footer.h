#pragma once

#include "calve/parquet/metadata.h"

#include "written_parquet.h"

#include <cstring>

namespace calve::testing {

/// The footer of a file, as calve parses it.
inline parquet::FileMetadata Footer(const WrittenParquet& file) {
  const uint8_t* end = file.bytes->data() + file.bytes->size();
  uint32_t length = 0;
  std::memcpy(&length, end - 8, sizeof(length));
  auto metadata = parquet::ParseFileMetadata({end - 8 - length, length});
  EXPECT_TRUE(metadata.ok()) << metadata.status();
  return metadata.ValueOr(parquet::FileMetadata{});
}

}  // namespace calve::testing
