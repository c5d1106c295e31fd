#pragma once

#include "calve/shuffle_block.h"

#include <arrow/result.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace calve::shuffle {

/// Writes rows as blocks of at most `block_rows` rows, halved where even those do not fit the format, and passes each
/// to `sink`, which returns a Status.
template <typename Sink>
arrow::Status WriteBlocks(ShuffleBlockWriter* writer, std::vector<ShuffleRows> rows, int64_t block_rows, Sink sink) {
  std::vector<ShuffleRows> block;
  size_t at = 0;
  while (at < rows.size()) {
    block.clear();
    int64_t room = block_rows;
    for (size_t i = at; i < rows.size() && room > 0; ++i) {
      block.push_back(rows[i]);
      block.back().count = std::min(room, rows[i].count);
      room -= block.back().count;
    }
    const auto bytes = writer->Encode(block);
    const int64_t block_count = block_rows - room;
    if (bytes.status().IsCapacityError() && block_count > 1) {
      block_rows = block_count / 2;
      continue;
    }
    ARROW_RETURN_NOT_OK(bytes.status());
    ARROW_RETURN_NOT_OK(sink(*bytes));
    for (int64_t left = block_count; left > 0;) {
      const int64_t taken = std::min(left, rows[at].count);
      if (rows[at].rows != nullptr) rows[at].rows += taken;
      if (rows[at].rows == nullptr) rows[at].first += taken;
      rows[at].count -= taken;
      left -= taken;
      if (rows[at].count == 0) ++at;
    }
  }
  return arrow::Status::OK();
}

}  // namespace calve::shuffle
