#pragma once

#include "calve/context.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <string_view>

namespace calve {

/// Whether a file of which these are the first bytes (8 suffice) is an Arrow IPC file or stream, for OpenArrowFile.
bool BeginsAsArrow(std::string_view first_bytes);

struct ArrowFileOptions {
  /// Maps the file into memory instead of reading it: buffers are then the mapping's own memory, where they are aligned
  /// as their type wants. A file that another process cuts short meanwhile is an IOError where that is noticed in time;
  /// otherwise the system ends this process with SIGBUS, as for every mapped file, and one that is written to may
  /// change values that were checked. Leave it off for files that are not at rest.
  bool memory_map = false;
};

/// Reads a local Arrow IPC file or stream, whichever `path` is by its first bytes.
///
/// A message is read at a time, and its values stay where they were read to. Every batch is checked before it is
/// returned, as shuffle blocks are (offsets, text, dictionary keys, null counts), so that a damaged file is an error
/// and not undefined behaviour. Of a footer whose messages overlap nothing is read: what is returned is never more than
/// the file. Files that this way does not read (compressed bodies, deltas of dictionaries, metadata before version 5)
/// are read by Arrow's own reader, and their batches are then checked too. Errors name the file.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenArrowFile(const std::string& path,
                                                                       const ArrowFileOptions& options = {},
                                                                       const Context& context = {});

/// The same of bytes in memory; `name` is what errors call them. Batches hold `bytes`.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenArrowBytes(std::shared_ptr<arrow::Buffer> bytes,
                                                                        const std::string& name,
                                                                        const Context& context = {});

}  // namespace calve
