#include "calve/cli/session.h"

#include "calve/cli/interrupt.h"
#include "calve/cli/memory_limit.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"

#include <arrow/util/thread_pool.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include <cstdio>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace calve::cli {

namespace {

class WrongCommandLine : public arrow::StatusDetail {
 public:
  static constexpr const char* kId = "calve::cli::WrongCommandLine";
  const char* type_id() const override { return kId; }
  std::string ToString() const override { return "see --help"; }
};

// Moves are checked while the command line is parsed, so that a wrong one counts as a wrong command line.
std::string CheckMove(const std::string& move) {
  const size_t equals = move.find('=');
  const bool whole = equals != std::string::npos && equals > 0 && equals + 1 < move.size();
  return whole ? "" : fmt::format("OLD=NEW expected, not '{}'", move);
}

bool WantsBar(const CommonFlags& flags) {
  if (flags.progress == "always") return true;
  return flags.progress == "auto" && !flags.quiet && IsTerminal(STDERR_FILENO);
}

}  // namespace

CLI::Option* AddSize(CLI::App* command, const std::string& name, std::optional<int64_t>* bytes,
                     const std::string& description) {
  return command
      ->add_option_function<std::string>(
          name,
          [name, bytes](const std::string& text) {
            const auto parsed = ParseSize(text);
            if (!parsed.ok()) throw CLI::ValidationError(name, parsed.status().message());
            *bytes = *parsed;
          },
          description)
      ->type_name("SIZE");
}

void AddCommonFlags(CLI::App* command, CommonFlags* flags) {
  const std::string everywhere = "Everywhere";
  command->add_option("--threads", flags->threads, "Threads that work at once; 0: one a core")
      ->check(CLI::Range(0, 4096))
      ->type_name("N")
      ->group(everywhere);
  AddSize(command, "--memory", &flags->memory_bytes,
          "Memory that buffers may take, such as 256MiB; 0: no limit (default: 60 % of what there is)")
      ->group(everywhere);
  command->add_flag("--json", flags->json, "Results for programs, as JSON")->group(everywhere);
  command->add_flag("-q,--quiet", flags->quiet, "No notes and no progress bar")->group(everywhere);
  command->add_option("--progress", flags->progress, "Progress bar on stderr: auto (on a terminal), never, always")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->type_name("WHEN")
      ->group(everywhere);
  const std::string catalogs = "Catalogs and copied tables";
  command->add_option("--catalog", flags->catalog.name, "Catalog, as ~/.pyiceberg.yaml or the environment names it")
      ->type_name("NAME")
      ->group(catalogs);
  command->add_option("--catalog-uri", flags->catalog.uri, "Its address, such as sqlite:///catalog.db")
      ->type_name("URI")
      ->group(catalogs);
  command->add_option("--catalog-type", flags->catalog.type, "Its type: sql or filesystem")
      ->type_name("TYPE")
      ->group(catalogs);
  command->add_option("--warehouse", flags->catalog.warehouse, "The folder in which it makes tables")
      ->type_name("FOLDER")
      ->group(catalogs);
  command
      ->add_option("--moved", flags->catalog.moved,
                   "Look for files under NEW that the table says are under OLD; repeatable")
      ->check(CLI::Validator(CheckMove, ""))
      ->allow_extra_args(false)
      ->type_name("OLD=NEW")
      ->group(catalogs);
}

arrow::Status UsageError(const std::string& message) {
  return arrow::Status::Invalid(message).WithDetail(std::make_shared<WrongCommandLine>());
}

bool IsUsageError(const arrow::Status& status) {
  return status.detail() != nullptr && std::string_view(status.detail()->type_id()) == WrongCommandLine::kId;
}

Session::Session(const CommonFlags& flags) : flags_(flags), bar_(WantsBar(flags), TerminalWidth(STDERR_FILENO)) {
  context_.threads = flags.threads;
  context_.memory_budget_bytes = flags.memory_bytes ? *flags.memory_bytes : DefaultMemoryBudget();
  context_.stop = &InterruptToken();
  if (bar_.enabled()) {
    context_.progress = [this](const Progress& progress) { bar_.Update(progress); };
  }
  if (flags.threads > arrow::GetCpuThreadPoolCapacity()) {
    // More threads than cores only when asked for; a failure leaves the pool as it was.
    (void)arrow::SetCpuThreadPoolCapacity(flags.threads);
  }
}

double Session::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Session::Note(std::string_view line) {
  bar_.Clear();
  if (!flags_.quiet && !flags_.json) PrintToStderr(fmt::format("{}\n", line));
}

arrow::Status Session::PrintJson(const Json& value) {
  bar_.Clear();
  return Print(value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

int TerminalWidth(int descriptor) {
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int width = columns != nullptr ? std::atoi(columns) : 0;
  return width > 0 ? width : 80;
}

}  // namespace calve::cli
