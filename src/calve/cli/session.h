#pragma once

#include "calve/cli/progress_bar.h"
#include "calve/cli/target.h"
#include "calve/context.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace calve::cli {

/// Objects print in the order in which their members were set.
using Json = nlohmann::ordered_json;

/// The flags that every command takes.
struct CommonFlags {
  int threads = 0;
  std::optional<int64_t> memory_bytes;
  bool json = false, quiet = false;
  std::string progress = "auto";
  CatalogFlags catalog;
};

void AddCommonFlags(CLI::App* command, CommonFlags* flags);

/// Adds an option whose value is a size ("64MiB").
CLI::Option* AddSize(CLI::App* command, const std::string& name, std::optional<int64_t>* bytes,
                     const std::string& description);

/// What the command line asked for; set while it is parsed, run afterwards.
using Action = std::function<arrow::Status()>;

/// An Invalid that says the command line was wrong, though it parsed: the process ends with code 2.
arrow::Status UsageError(const std::string& message);
bool IsUsageError(const arrow::Status& status);

/// One run of a command: the library's context, the progress bar, and a clock.
class Session {
 public:
  explicit Session(const CommonFlags& flags);

  const CommonFlags& flags() const { return flags_; }
  const Context& context() const { return context_; }
  ProgressBar& bar() { return bar_; }
  double seconds() const;

  /// Prints a line for people on stderr, unless --quiet or --json.
  void Note(std::string_view line);
  /// Prints one JSON value and a newline on standard output.
  arrow::Status PrintJson(const Json& value);

 private:
  const CommonFlags& flags_;
  ProgressBar bar_;
  Context context_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool IsTerminal(int descriptor);
/// Columns of the terminal behind `descriptor`; COLUMNS, or 80, where it does not say.
int TerminalWidth(int descriptor);

// The commands. Each adds itself to `app` and sets `action` when it is the one that was called.
void AddScan(CLI::App* app, Action* action);
void AddInspect(CLI::App* app, Action* action);
void AddAppend(CLI::App* app, Action* action);
void AddRewrite(CLI::App* app, Action* action);
void AddCatalog(CLI::App* app, Action* action);
void AddShuffle(CLI::App* app, Action* action);
void AddVerify(CLI::App* app, Action* action);
void AddCopy(CLI::App* app, Action* action);

}  // namespace calve::cli
