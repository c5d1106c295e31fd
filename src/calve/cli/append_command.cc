#include "calve/append.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/session.h"
#include "calve/cli/target.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace calve::cli {

namespace {

using arrow::Status;

struct AppendFlags {
  CommonFlags common;
  std::string table;
  std::vector<std::string> files;
  AppendOptions options;
};

Json ToJson(const AppendResult& result, double seconds) {
  return {{"snapshot_id", result.files > 0 ? Json(result.snapshot_id) : Json(nullptr)},
          {"files", result.files},
          {"rows", result.rows},
          {"bytes", result.bytes},
          {"attempts", result.attempts},
          {"peak_memory_bytes", result.peak_memory_bytes},
          {"seconds", seconds}};
}

Status RunAppend(const AppendFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(const auto files, ExpandFiles(flags.files));
  ARROW_ASSIGN_OR_RAISE(const Table table, OpenTarget(flags.table, flags.common.catalog));
  ARROW_ASSIGN_OR_RAISE(const AppendResult result, AppendFiles(table, files, flags.options, session.context()));
  if (flags.common.json) return session.PrintJson(ToJson(result, session.seconds()));
  if (result.files == 0) {
    session.Note(fmt::format("{}: nothing to append", flags.table));
    return Status::OK();
  }
  session.Note(fmt::format("{}: {} in {} ({}) appended as snapshot {} in {}", flags.table, Counted(result.rows, "row"),
                           Counted(result.files, "file"), SizeText(result.bytes), result.snapshot_id,
                           SecondsText(session.seconds())));
  return Status::OK();
}

}  // namespace

void AddAppend(CLI::App* app, Action* action) {
  auto flags = std::make_shared<AppendFlags>();
  CLI::App* command = app->add_subcommand("append", "Append Parquet files to a table, in one commit");
  command->add_option("TABLE", flags->table, "The table: [catalog.]namespace.table or its folder")->required();
  command->add_option("FILE", flags->files, "Parquet files and globs")->required();
  command->add_flag("--add-files", flags->options.add_files,
                    "Register the files where they lie instead of copying their rows");
  command->add_option("--branch", flags->options.branch, "The branch to commit to (default: main)")->type_name("NAME");
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Examples:\n"
      "  calve append prod.sales.orders new/*.parquet\n"
      "  calve append warehouse/sales/orders day.parquet --add-files");
  command->callback([flags, action] { *action = [flags] { return RunAppend(*flags); }; });
}

}  // namespace calve::cli
