#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <memory>
#include <string>
#include <string_view>

namespace calve::cli {

/// True when `status` says that the reader of our output has gone, as `| head` does: a reason to end, not an error.
bool IsBrokenPipe(const arrow::Status& status);

/// Writes all of `text` to standard output.
arrow::Status Print(std::string_view text);

/// Writes `text` to stderr. What cannot be written there is lost: there is nowhere left to say so.
void PrintToStderr(std::string_view text) noexcept;

/// Puts /dev/null in the place of standard descriptors that are closed, so that no file that is opened later gets
/// their numbers. Writing to a closed standard output stays an error. Called once, first.
void ReopenClosedDescriptors() noexcept;

/// Where a command's data goes: standard output, or a file that appears whole or not at all.
class Output {
 public:
  /// `path` empty or "-": standard output. Otherwise the bytes go to a temporary name in the same folder until Commit.
  /// AlreadyExists when `path` is there and not `force`. Pipes and devices are written directly.
  static arrow::Result<std::unique_ptr<Output>> Open(const std::string& path, bool force);
  virtual ~Output() = default;

  virtual arrow::io::OutputStream* stream() = 0;
  /// Syncs the file and gives it its name. Destroyed without it, nothing is left behind.
  virtual arrow::Status Commit() = 0;
};

}  // namespace calve::cli
