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

// What is wrong with a command line that lacks a command: the word in its place, and the commands that there are.
std::string LackOfCommand(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  std::string names;
  for (const CLI::App* command : deepest->get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  const auto words = app.remaining(/*recurse=*/true);
  const std::string found = words.empty() ? "a command is expected" : fmt::format("'{}' is no command", words.front());
  return fmt::format("{}: {} has {}", found, deepest == &app ? "calve" : "calve " + deepest->get_name(), names);
}

int ParseFailure(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != 0) {
    const bool lacks_command = std::string_view(error.what()) == "A subcommand is required";
    PrintError(lacks_command ? LackOfCommand(app) : error.what());
    return kWrongCommandLine;
  }
  if (error.get_name() == "CallForVersion") {
    return ExitCode(calve::cli::Print(fmt::format("calve {}\n", calve::kVersion)));
  }
  return ExitCode(calve::cli::Print(app.help()));
}

int Run(int argc, char** argv) {
  CLI::App app(
      "calve reads, writes and compacts Iceberg tables and Parquet files, and exchanges rows in shuffle blocks.",
      "calve");
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
