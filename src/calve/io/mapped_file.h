#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <memory>
#include <string>
#include <string_view>

namespace calve {

/// The file at `path`, mapped into memory: what ReadAt returns is the mapping itself, which lives as long as any of it
/// is held, after Close() too. ReadAt is thread-safe; errors name `location`.
///
/// Reads are bounded by the size that the file had when it was opened. A file that is cut short later is an IOError
/// when ReadAt notices; bytes returned before that are gone all the same, and touching them ends the process with
/// SIGBUS.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenMappedFile(const std::string& path,
                                                                           std::string_view location);

}  // namespace calve
