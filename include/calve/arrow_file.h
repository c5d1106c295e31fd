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

/// Reads a local Arrow IPC file or stream, whichever `path` is by its first bytes.
///
/// The file is mapped and batches are decoded in place: buffers are the mapping's own memory (those that are less
/// aligned than their type wants are copied), and every batch is checked before it is returned, as shuffle blocks are
/// (offsets, text, dictionary keys, null counts), so that a damaged file is an error and not undefined behaviour.
/// Files that this way does not read (compressed bodies, deltas of dictionaries, metadata before version 5, large
/// dictionaries that many batches share) are read by Arrow's own reader, and their batches are then checked too.
/// Errors name the file.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenArrowFile(const std::string& path,
                                                                       const Context& context = {});

/// The same of bytes in memory; `name` is what errors call them. Batches hold `bytes`.
arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenArrowBytes(std::shared_ptr<arrow::Buffer> bytes,
                                                                        const std::string& name,
                                                                        const Context& context = {});

}  // namespace calve
