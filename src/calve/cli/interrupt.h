#pragma once

#include <arrow/util/cancel.h>

#include <string>

namespace calve::cli {

/// Turns SIGINT, SIGTERM and, unless it is ignored, SIGHUP into a request to stop that the library polls, and makes
/// SIGPIPE and SIGXFSZ ordinary write errors.
/// A second signal ends the process at once, after removing the file that is being written. Called once, first.
void InstallInterrupts();

/// Set when the user asked to stop. Lives as long as the process.
const arrow::StopToken& InterruptToken();

/// The signal that asked to stop, 0 while none has.
int InterruptSignal();

/// Names the temporary file that an ending by force removes; empty: none.
void SetFileToRemove(const std::string& path);

}  // namespace calve::cli
