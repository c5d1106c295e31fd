#include "calve/cli/iso_text.h"
#include "calve/cli/json_text.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/report.h"
#include "calve/cli/session.h"
#include "calve/cli/table_summary.h"
#include "calve/cli/target.h"
#include "calve/rewrite.h"

#include <arrow/io/interfaces.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct RewriteFlags {
  CommonFlags common;
  std::string table, where, report;
  bool dry_run = false;
  std::optional<int64_t> max_file_group_size_bytes;
  RewriteOptions options;
};

Result<RewriteOptions> OptionsOf(const RewriteFlags& flags) {
  RewriteOptions options = flags.options;
  if (flags.max_file_group_size_bytes) options.max_file_group_size_bytes = *flags.max_file_group_size_bytes;
  if (!flags.where.empty()) {
    ARROW_ASSIGN_OR_RAISE(options.filter, Expression::Parse(flags.where));
  }
  return options;
}

// ---- The plan.

Json ToJson(const RewritePlan& plan) {
  Json groups = Json::array();
  for (const RewriteGroup& group : plan.groups) {
    groups.push_back({{"partition", group.partition},
                      {"files", group.files},
                      {"file_sizes_bytes", group.file_sizes_bytes},
                      {"bytes", group.bytes},
                      {"rows", group.rows},
                      {"expected_output_files", group.expected_output_files}});
  }
  return {{"files_total", plan.files_total},
          {"bytes_total", plan.bytes_total},
          {"target_file_size_bytes", plan.target_file_size_bytes},
          {"groups", std::move(groups)}};
}

std::string PlanText(const RewritePlan& plan) {
  std::string text;
  int64_t files = 0, bytes = 0, expected = 0;
  for (const RewriteGroup& group : plan.groups) {
    const auto count = static_cast<int64_t>(group.files.size());
    text += fmt::format("{}{}, {}, {} -> {}\n", group.partition.empty() ? "" : OneLine(group.partition) + ": ",
                        Counted(count, "file"), SizeText(group.bytes), Counted(group.rows, "row"),
                        Counted(group.expected_output_files, "file"));
    files += count;
    bytes += group.bytes;
    expected += group.expected_output_files;
  }
  return text + fmt::format("{} of {} ({} of {}) would become {} of about {}\n", CountText(files),
                            Counted(plan.files_total, "data file"), SizeText(bytes), SizeText(plan.bytes_total),
                            CountText(expected), SizeText(plan.target_file_size_bytes));
}

// ---- The report.

std::string Now() {
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  std::string text;
  AppendTimestamp(millis.count() / 1000, arrow::TimeUnit::SECOND, true, &text);
  return text;
}

std::string OptionsText(const RewriteFlags& flags) {
  const RewriteOptions& options = flags.options;
  std::string text = "calve rewrite " + flags.table;
  const auto add_size = [&](const char* name, const std::optional<int64_t>& bytes) {
    if (bytes) text += fmt::format(" --{} {}", name, *bytes);
  };
  add_size("target-file-size-bytes", options.target_file_size_bytes);
  add_size("min-file-size-bytes", options.min_file_size_bytes);
  add_size("max-file-size-bytes", options.max_file_size_bytes);
  add_size("max-file-group-size-bytes", flags.max_file_group_size_bytes);
  if (options.min_input_files != RewriteOptions{}.min_input_files)
    text += fmt::format(" --min-input-files {}", options.min_input_files);
  if (options.rewrite_all) text += " --rewrite-all";
  if (!flags.where.empty()) text += fmt::format(" --where \"{}\"", flags.where);
  if (options.partial_progress_enabled) text += " --partial-progress-enabled";
  if (options.branch != "main") text += " --branch " + options.branch;
  return text;
}

// What can only be known before the rewrite.
Result<RewriteReport> BeginReport(const RewriteFlags& flags, const Table& table, RewritePlan plan) {
  RewriteReport report;
  report.table = table.name();
  ARROW_ASSIGN_OR_RAISE(const Json summary, SummaryOf(table));
  report.location = summary.value("location", "");
  report.command = OptionsText(flags);
  report.plan = std::move(plan);
  ARROW_ASSIGN_OR_RAISE(report.sizes_before, DataFileSizes(table));
  return report;
}

Status WriteReport(RewriteReport report, const Table& table, Output* output) {
  ARROW_ASSIGN_OR_RAISE(report.sizes_after, DataFileSizes(table));
  ARROW_ASSIGN_OR_RAISE(report.history, HistoryOf(table));
  report.made_at = Now();
  const std::string page = ReportPage(report);
  ARROW_RETURN_NOT_OK(output->stream()->Write(page.data(), static_cast<int64_t>(page.size())));
  return output->Commit();
}

// ---- The run.

Json ToJson(const RewriteResult& result, double seconds) {
  return {{"rewritten_files", result.rewritten_files},
          {"added_files", result.added_files},
          {"rewritten_bytes", result.rewritten_bytes},
          {"added_bytes", result.added_bytes},
          {"rows", result.rows},
          {"snapshot_ids", result.snapshot_ids},
          {"added_file_sizes_bytes", result.added_file_sizes_bytes},
          {"failed_groups", result.failed_groups},
          {"failures", result.failures},
          {"peak_memory_bytes", result.peak_memory_bytes},
          {"plan_seconds", result.plan_seconds},
          {"write_seconds", result.write_seconds},
          {"commit_seconds", result.commit_seconds},
          {"seconds", seconds}};
}

std::string ResultText(const RewriteResult& result, double seconds) {
  if (result.rewritten_files == 0 && result.failed_groups == 0) return "nothing to rewrite";
  std::string text = fmt::format("{} ({}) became {} ({}), {}, in {}", Counted(result.rewritten_files, "file"),
                                 SizeText(result.rewritten_bytes), CountText(result.added_files),
                                 SizeText(result.added_bytes), Counted(result.rows, "row"), SecondsText(seconds));
  if (result.failed_groups > 0) text += fmt::format("; {} failed", Counted(result.failed_groups, "group"));
  return text;
}

Status PrintPlan(const RewritePlan& plan, Session* session) {
  if (session->flags().json) return session->PrintJson(ToJson(plan));
  session->bar().Clear();
  return Print(plan.groups.empty() ? "nothing to rewrite\n" : PlanText(plan));
}

Status RunRewrite(const RewriteFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(const RewriteOptions options, OptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(const Table table, OpenTarget(flags.table, flags.common.catalog));
  std::unique_ptr<Output> report_file;
  RewriteReport report;
  if (!flags.report.empty() || flags.dry_run) {
    ARROW_ASSIGN_OR_RAISE(RewritePlan plan, PlanRewrite(table, options, session.context()));
    if (flags.dry_run) ARROW_RETURN_NOT_OK(PrintPlan(plan, &session));
    if (!flags.report.empty()) {
      // A report that cannot be written is known before hours of work, and replaces the one of the last run.
      ARROW_ASSIGN_OR_RAISE(report_file, Output::Open(flags.report, /*force=*/true));
      ARROW_ASSIGN_OR_RAISE(report, BeginReport(flags, table, std::move(plan)));
    }
  }
  if (flags.dry_run) return report_file ? WriteReport(std::move(report), table, report_file.get()) : Status::OK();
  ARROW_ASSIGN_OR_RAISE(const RewriteResult result, RewriteDataFiles(table, options, session.context()));
  const double seconds = session.seconds();
  if (flags.common.json) {
    ARROW_RETURN_NOT_OK(session.PrintJson(ToJson(result, seconds)));
  }
  session.Note(fmt::format("{}: {}", flags.table, ResultText(result, seconds)));
  if (report_file) {
    report.result = result;
    report.seconds = seconds;
    ARROW_ASSIGN_OR_RAISE(const Table now, table.Refresh());
    ARROW_RETURN_NOT_OK(WriteReport(std::move(report), now, report_file.get()));
    session.Note(fmt::format("report in {}", flags.report));
  }
  if (result.failed_groups > 0) {
    return Status::IOError(fmt::format("{} could not be rewritten: {}", Counted(result.failed_groups, "group"),
                                       OneLine(result.first_failure)));
  }
  return Status::OK();
}

void AddOptions(CLI::App* command, RewriteFlags* flags) {
  RewriteOptions* options = &flags->options;
  AddSize(command, "--target-file-size-bytes", &options->target_file_size_bytes,
          "Size of the files to write (default: the table's write.target-file-size-bytes, else 512MiB)");
  AddSize(command, "--min-file-size-bytes", &options->min_file_size_bytes,
          "Rewrite files smaller than this (default: 75 % of the target)");
  AddSize(command, "--max-file-size-bytes", &options->max_file_size_bytes,
          "Rewrite files larger than this (default: 180 % of the target)");
  command
      ->add_option("--min-input-files", options->min_input_files,
                   "Rewrite groups of so many files or more (default: 5)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  AddSize(command, "--max-file-group-size-bytes", &flags->max_file_group_size_bytes,
          "Most bytes rewritten together (default: 100GiB)");
  command->add_flag("--rewrite-all", options->rewrite_all, "Rewrite all files, whatever their sizes");
  command->add_option("--where", flags->where, "Only files that may hold rows for which this holds")->type_name("EXPR");
  command->add_flag("--partial-progress-enabled,--partial-progress.enabled", options->partial_progress_enabled,
                    "Commit groups as they are done; some may fail");
  command
      ->add_option("--partial-progress-max-commits,--partial-progress.max-commits",
                   options->partial_progress_max_commits,
                   "With partial progress, at most so many commits (default: 10)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command
      ->add_option("--use-starting-sequence-number", options->use_starting_sequence_number,
                   "Give the new files the sequence number of the snapshot that was rewritten (default: true)")
      ->type_name("BOOL");
  command->add_option("--branch", options->branch, "The branch to rewrite (default: main)")->type_name("NAME");
}

}  // namespace

void AddRewrite(CLI::App* app, Action* action) {
  auto flags = std::make_shared<RewriteFlags>();
  CLI::App* command = app->add_subcommand("rewrite", "Compact a table's small data files");
  command->add_option("TABLE", flags->table, "The table: [catalog.]namespace.table or its folder")->required();
  AddOptions(command, flags.get());
  command->add_flag("--dry-run", flags->dry_run, "Print the plan and change nothing");
  command->add_option("--report", flags->report, "Write a page about the rewrite: plan, file sizes, times, snapshots")
      ->type_name("FILE");
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Sizes may be given as 67108864 or 64MiB. The names are those of Spark's rewrite_data_files.\n\n"
      "Examples:\n"
      "  calve rewrite prod.sales.orders --dry-run\n"
      "  calve rewrite prod.sales.orders --target-file-size-bytes 256MiB --report report.html");
  command->callback([flags, action] { *action = [flags] { return RunRewrite(*flags); }; });
}

}  // namespace calve::cli
