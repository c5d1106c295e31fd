#pragma once

#include "calve/context.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace arrow::io {
class OutputStream;
}

namespace calve::cli {

enum class Format { kTable, kJsonLines, kCsv, kArrow, kParquet };

/// "table", "jsonl", "csv", "arrow" or "parquet"; nothing for others.
std::optional<Format> FormatByName(std::string_view name);
/// By a file name's ending: .jsonl, .ndjson, .json, .csv, .arrow, .ipc, .feather, .parquet, .txt.
std::optional<Format> FormatByEnding(std::string_view path);
std::string_view NameOf(Format format);
inline bool IsBinary(Format format) { return format == Format::kArrow || format == Format::kParquet; }

/// Writes batches of one schema in some format. Not thread-safe.
class RowSink {
 public:
  struct Options {
    int table_width = 0;  ///< columns that a table may take; 0: no limit
  };
  /// `stream` outlives the sink and is not closed by it.
  static arrow::Result<std::unique_ptr<RowSink>> Make(Format format, arrow::io::OutputStream* stream,
                                                      const std::shared_ptr<arrow::Schema>& schema,
                                                      const Options& options, const Context& context);
  virtual ~RowSink() = default;
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Writes what is still buffered, and the end that the format has.
  virtual arrow::Status Finish() = 0;
};

}  // namespace calve::cli
