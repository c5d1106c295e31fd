// The command line: parses it, runs the one command that it names, and turns what comes back into an exit code.
//
//   0          done
//   1          the data or the environment is at fault
//   2          the command line is wrong
//   128 + N    stopped by signal N

#include "calve/cli/interrupt.h"
#include "calve/cli/json_text.h"
#include "calve/cli/output.h"
#include "calve/cli/session.h"
#include "calve/version.h"

#include <arrow/status.h>
#include <fmt/format.h>

#include <exception>
#include <string>

namespace {

constexpr int kDone = 0, kFault = 1, kWrongCommandLine = 2, kSignalBase = 128;

// One line, whatever is in it.
void PrintError(std::string_view message) {
  calve::cli::PrintToStderr(fmt::format("calve: error: {}\n", calve::cli::OneLine(message)));
}

int ExitCode(const arrow::Status& status) {
  if (status.ok() || calve::cli::IsBrokenPipe(status)) return kDone;
  if (const int signal = calve::cli::InterruptSignal(); signal != 0 && status.IsCancelled()) {
    calve::cli::PrintToStderr("calve: stopped\n");
    return kSignalBase + signal;
  }
  // The name of the code is what a person searches for when something is not there yet.
  PrintError(status.IsNotImplemented() ? "NotImplemented: " + status.message() : status.message());
  return calve::cli::IsUsageError(status) ? kWrongCommandLine : kFault;
}

int ParseFailure(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != 0) {
    PrintError(error.what());
    return kWrongCommandLine;
  }
  if (error.get_name() == "CallForVersion") {
    return ExitCode(calve::cli::Print(fmt::format("calve {}\n", calve::kVersion)));
  }
  return ExitCode(calve::cli::Print(app.help()));
}

int Run(int argc, char** argv) {
  CLI::App app("calve reads, appends to and compacts Iceberg tables and Parquet files.", "calve");
  app.set_version_flag("--version", calve::kVersion);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("Example:\n  calve scan 'part-*.parquet' --limit 10\n\n`calve COMMAND --help` tells more.");
  calve::cli::Action action;
  calve::cli::AddScan(&app, &action);
  calve::cli::AddInspect(&app, &action);
  calve::cli::AddVerify(&app, &action);
  calve::cli::AddCopy(&app, &action);
  calve::cli::AddAppend(&app, &action);
  calve::cli::AddRewrite(&app, &action);
  calve::cli::AddCatalog(&app, &action);
  calve::cli::AddShuffle(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ParseFailure(app, error);
  }
  return ExitCode(action());
}

}  // namespace

int main(int argc, char** argv) {
  calve::cli::ReopenClosedDescriptors();
  calve::cli::InstallInterrupts();
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    calve::cli::PrintToStderr("calve: error: out of memory\n");
  } catch (const std::exception& error) {
    PrintError(error.what());
  }
  return kFault;
}
