#include "calve/cli/batch_text.h"
#include "calve/cli/decryption_flags.h"
#include "calve/cli/interrupt.h"
#include "calve/cli/iso_text.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/row_sink.h"
#include "calve/cli/session.h"
#include "calve/cli/target.h"
#include "calve/scan.h"

#include <arrow/array.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>

#include <unistd.h>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

constexpr int64_t kRowsOfTable = 40;

struct ScanFlags {
  CommonFlags common;
  std::vector<std::string> targets;
  std::vector<std::string> columns;
  std::string where, ref, as_of, format, to;
  FileSchemas file_schemas = FileSchemas::kUnionByName;
  std::optional<int64_t> snapshot, limit;
  bool force = false, count = false, explain = false;
  DecryptionFlags decryption;
};

Result<ScanOptions> OptionsOf(const ScanFlags& flags) {
  ScanOptions options;
  options.columns = flags.columns;
  options.file_schemas = flags.file_schemas;
  if (!flags.where.empty()) {
    ARROW_ASSIGN_OR_RAISE(options.filter, Expression::Parse(flags.where));
  }
  options.snapshot_id = flags.snapshot;
  if (!flags.ref.empty()) options.ref = flags.ref;
  if (!flags.as_of.empty()) {
    ARROW_ASSIGN_OR_RAISE(options.as_of_ms, ParseInstantMs(flags.as_of));
  }
  ARROW_ASSIGN_OR_RAISE(options.decryption, DecryptionOf(flags.decryption));
  if (flags.limit) options.batch_rows = std::clamp<int64_t>(*flags.limit, 1, options.batch_rows);
  return options;
}

// The targets, opened: one table, or files.
class Source {
 public:
  static Result<Source> Open(const ScanFlags& flags) {
    Source source;
    const std::string& first = flags.targets.front();
    const bool is_table = !IsPath(first) || IsTablePath(first);
    if (is_table) {
      if (flags.targets.size() > 1) return UsageError("a table is scanned alone: several targets must all be files");
      ARROW_ASSIGN_OR_RAISE(source.table_, OpenTarget(first, flags.common.catalog));
      return source;
    }
    ARROW_ASSIGN_OR_RAISE(source.files_, ExpandFiles(flags.targets));
    if (flags.snapshot || !flags.ref.empty() || !flags.as_of.empty()) {
      return UsageError(fmt::format("'{}' is a file: only tables have snapshots, refs and a past", first));
    }
    return source;
  }

  Result<std::unique_ptr<Scan>> Start(const ScanOptions& options, const Context& context) const {
    return table_ ? ScanTable(*table_, options, context) : ScanFiles(files_, options, context);
  }

 private:
  std::optional<Table> table_;
  std::vector<std::string> files_;
};

Json ToJson(const ParquetReadMetrics& metrics) {
  return {{"row_groups_read", metrics.row_groups_read},
          {"row_groups_skipped", metrics.row_groups_skipped},
          {"pages_read", metrics.pages_read},
          {"pages_skipped", metrics.pages_skipped},
          {"bytes_read", metrics.bytes_read},
          {"bytes_decompressed", metrics.bytes_decompressed},
          {"rows", metrics.rows},
          {"footer_cache_hits", metrics.footer_cache_hits},
          {"io_ns", metrics.io_ns},
          {"decompress_ns", metrics.decompress_ns},
          {"decode_ns", metrics.decode_ns},
          {"wait_ns", metrics.wait_ns}};
}

Json ToJson(const ScanMetrics& metrics, int64_t rows, double seconds) {
  return {{"rows", rows},
          {"manifests_total", metrics.manifests_total},
          {"manifests_skipped", metrics.manifests_skipped},
          {"data_files_total", metrics.data_files_total},
          {"data_files_skipped", metrics.data_files_skipped},
          {"data_files_skipped_by_partition", metrics.data_files_skipped_by_partition},
          {"data_files_skipped_by_bounds", metrics.data_files_skipped_by_bounds},
          {"row_groups_total", metrics.row_groups_total},
          {"row_groups_skipped", metrics.row_groups_skipped},
          {"row_groups_skipped_by_bloom_filter", metrics.row_groups_skipped_by_bloom_filter},
          {"row_groups_skipped_by_page_index", metrics.row_groups_skipped_by_page_index},
          {"row_groups_skipped_by_dictionary", metrics.row_groups_skipped_by_dictionary},
          {"pages_read", metrics.pages_read},
          {"pages_skipped", metrics.pages_skipped},
          {"bytes_planned", metrics.bytes_planned},
          {"rows_read", metrics.rows_read},
          {"peak_memory_bytes", metrics.peak_memory_bytes},
          {"parquet", ToJson(metrics.parquet)},
          {"seconds", seconds}};
}

Result<int64_t> PlannedRows(const Scan& scan) {
  ARROW_ASSIGN_OR_RAISE(auto plan, scan.Plan());
  const auto counts = std::dynamic_pointer_cast<arrow::Int64Array>(plan->GetColumnByName("record_count"));
  if (counts == nullptr) return Status::Invalid("the plan has no record counts");
  int64_t rows = 0;
  for (int64_t i = 0; i < counts->length(); ++i) rows += counts->Value(i);
  return rows;
}

// ---- Rows to a file or standard output.

Result<Format> ChooseFormat(const ScanFlags& flags) {
  const bool to_file = !flags.to.empty() && flags.to != "-";
  std::optional<Format> format = FormatByName(flags.format);
  if (!format && to_file) {
    format = FormatByEnding(flags.to);
    if (!format) {
      return UsageError(fmt::format(
          "'{}' has no ending that names a format (.jsonl, .csv, .arrow, .parquet, .txt): give --format", flags.to));
    }
  }
  const bool to_terminal = !to_file && IsTerminal(STDOUT_FILENO);
  if (!format) format = to_terminal ? Format::kTable : Format::kJsonLines;
  if (to_terminal && IsBinary(*format)) {
    return UsageError(fmt::format("{} is binary and standard output a terminal: give --to FILE", NameOf(*format)));
  }
  return *format;
}

struct Copied {
  int64_t rows = 0;
  bool more = false;  // there were rows beyond the limit
};

Result<Copied> CopyRows(arrow::RecordBatchReader* reader, std::optional<int64_t> limit, RowSink* sink) {
  Copied copied;
  for (;;) {
    ARROW_RETURN_NOT_OK(InterruptToken().Poll());
    std::shared_ptr<arrow::RecordBatch> batch;
    if (limit != 0) {
      ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    }
    if (batch == nullptr) return copied;
    const int64_t room = limit ? *limit - copied.rows : batch->num_rows();
    copied.more = batch->num_rows() > room;
    if (room == 0 && copied.more) return copied;
    if (copied.more) batch = batch->Slice(0, room);
    ARROW_RETURN_NOT_OK(sink->Write(*batch));
    copied.rows += batch->num_rows();
    if (copied.more) return copied;
  }
}

// The last line of a table: how many rows it shows of how many.
Result<std::string> TableFooter(const ScanFlags& flags, const Scan& scan, const Copied& copied) {
  if (!copied.more) return Counted(copied.rows, "row") + "\n";
  if (!flags.where.empty())
    return fmt::format("the first {}; more match (--limit N shows more)\n", Counted(copied.rows, "row"));
  ARROW_ASSIGN_OR_RAISE(const int64_t total, PlannedRows(scan));
  return fmt::format("the first {} of {} (--limit N shows more)\n", CountText(copied.rows), Counted(total, "row"));
}

Status Report(const ScanFlags& flags, bool to_file, const Scan& scan, int64_t rows, Session* session) {
  const ScanMetrics metrics = scan.metrics();
  session->bar().Clear();
  if (flags.common.json) {
    const auto summary = ToJson(metrics, rows, session->seconds());
    if (to_file) return session->PrintJson(summary);
    PrintToStderr(summary.dump() + "\n");
    return Status::OK();
  }
  if (to_file) {
    session->Note(fmt::format(
        "{} to {} in {}, from {} of {}", Counted(rows, "row"), flags.to, SecondsText(session->seconds()),
        CountText(metrics.data_files_total - metrics.data_files_skipped), Counted(metrics.data_files_total, "file")));
  }
  return Status::OK();
}

Status WriteRows(const ScanFlags& flags, Session* session) {
  ARROW_ASSIGN_OR_RAISE(const Format format, ChooseFormat(flags));
  ARROW_ASSIGN_OR_RAISE(const ScanOptions options, OptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(const Source source, Source::Open(flags));
  ARROW_ASSIGN_OR_RAISE(auto output, Output::Open(flags.to, flags.force));
  ARROW_ASSIGN_OR_RAISE(auto scan, source.Start(options, session->context()));
  ARROW_ASSIGN_OR_RAISE(auto reader, scan->reader());
  const bool to_file = !flags.to.empty() && flags.to != "-";
  RowSink::Options sink_options;
  if (!to_file && IsTerminal(STDOUT_FILENO)) sink_options.table_width = TerminalWidth(STDOUT_FILENO);
  ARROW_ASSIGN_OR_RAISE(auto sink,
                        RowSink::Make(format, output->stream(), scan->schema(), sink_options, session->context()));
  const bool short_table = format == Format::kTable && !flags.limit && !to_file;
  ARROW_ASSIGN_OR_RAISE(
      const Copied copied,
      CopyRows(reader.get(), short_table ? std::optional<int64_t>(kRowsOfTable) : flags.limit, sink.get()));
  session->bar().Clear();
  ARROW_RETURN_NOT_OK(sink->Finish());
  if (format == Format::kTable) {
    ARROW_ASSIGN_OR_RAISE(const std::string footer, TableFooter(flags, *scan, copied));
    ARROW_RETURN_NOT_OK(output->stream()->Write(footer.data(), static_cast<int64_t>(footer.size())));
  }
  ARROW_RETURN_NOT_OK(output->Commit());
  return Report(flags, to_file, *scan, copied.rows, session);
}

// ---- --count and --explain.

// Counting needs no values: one narrow column stands for the rows.
std::vector<std::string> NarrowColumn(const arrow::Schema& schema) {
  const arrow::Field* narrowest = nullptr;
  const auto width = [](const arrow::Field& field) {
    return arrow::is_fixed_width(*field.type()) ? field.type()->bit_width() : 1 << 20;
  };
  for (const auto& field : schema.fields()) {
    const bool can_be_named = field->name().find('.') == std::string::npos;
    const bool is_flat = !arrow::is_nested(field->type()->id()) && field->type()->id() != arrow::Type::NA;
    if (!can_be_named || !is_flat) continue;
    if (narrowest == nullptr || width(*field) < width(*narrowest)) narrowest = field.get();
  }
  return narrowest == nullptr ? std::vector<std::string>{} : std::vector<std::string>{narrowest->name()};
}

Status CountRows(const ScanFlags& flags, Session* session) {
  ARROW_ASSIGN_OR_RAISE(ScanOptions options, OptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(const Source source, Source::Open(flags));
  ARROW_ASSIGN_OR_RAISE(auto scan, source.Start(options, session->context()));
  if (options.columns.empty()) {
    options.columns = NarrowColumn(*scan->schema());
    ARROW_ASSIGN_OR_RAISE(scan, source.Start(options, session->context()));
  }
  ARROW_ASSIGN_OR_RAISE(auto reader, scan->reader());
  int64_t rows = 0;
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    ARROW_RETURN_NOT_OK(InterruptToken().Poll());
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    rows += batch->num_rows();
  }
  if (flags.limit) rows = std::min(rows, *flags.limit);
  if (flags.common.json) return session->PrintJson(ToJson(scan->metrics(), rows, session->seconds()));
  session->bar().Clear();
  return Print(fmt::format("{}\n", rows));
}

Status Explain(const ScanFlags& flags, Session* session) {
  ARROW_ASSIGN_OR_RAISE(const ScanOptions options, OptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(const Source source, Source::Open(flags));
  ARROW_ASSIGN_OR_RAISE(auto scan, source.Start(options, session->context()));
  ARROW_ASSIGN_OR_RAISE(auto plan, scan->Plan());
  ARROW_ASSIGN_OR_RAISE(const int64_t rows, PlannedRows(*scan));
  const ScanMetrics metrics = scan->metrics();
  if (flags.common.json) {
    auto summary = ToJson(metrics, rows, session->seconds());
    ARROW_ASSIGN_OR_RAISE(const std::string files, JsonRows(*plan));
    summary["files"] = Json::parse(files);
    return session->PrintJson(summary);
  }
  ARROW_RETURN_NOT_OK(PrintBatch(*plan, FormatByName(flags.format).value_or(Format::kTable), session));
  session->Note(fmt::format("{} of {} and {} of {} skipped; {}, {} at most to read",
                            CountText(metrics.manifests_skipped), Counted(metrics.manifests_total, "manifest"),
                            CountText(metrics.data_files_skipped), Counted(metrics.data_files_total, "data file"),
                            SizeText(metrics.bytes_planned), Counted(rows, "row")));
  return Status::OK();
}

int64_t ParseLimit(const std::string& text) {
  int64_t rows = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, rows);
  if (error == std::errc() && rest == end && rows >= 0) return rows;
  throw CLI::ValidationError("--limit", fmt::format("a number of rows expected, not '{}'", text));
}

FileSchemas ParseUnify(const std::string& text) {
  if (text == "id") return FileSchemas::kUnionById;
  return text == "first" ? FileSchemas::kFirst : FileSchemas::kUnionByName;
}

std::string CheckFileName(const std::string& path) { return path.empty() ? "a file's name expected, not ''" : ""; }

Status RunScan(const ScanFlags& flags) {
  Session session(flags.common);
  if (flags.explain) return Explain(flags, &session);
  if (flags.count) return CountRows(flags, &session);
  return WriteRows(flags, &session);
}

}  // namespace

void AddScan(CLI::App* app, Action* action) {
  auto flags = std::make_shared<ScanFlags>();
  CLI::App* command = app->add_subcommand("scan", "Print or write the rows of a table or of files");
  command
      ->add_option(
          "TARGET", flags->targets,
          "A table ([catalog.]namespace.table, folder or metadata file), or Parquet or Arrow IPC files and globs")
      ->required();
  command->add_option("--columns", flags->columns, "Columns in this order, as a,b.c")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAMES");
  command->add_option("--where", flags->where, "Only rows for which this holds: \"a > 5 AND b.c IN ('x', 'y')\"")
      ->type_name("EXPR");
  command
      ->add_option_function<std::string>(
          "--unify", [flags](const std::string& text) { flags->file_schemas = ParseUnify(text); },
          "Columns of files that differ: of all by name (the default) or by field id, or of the first")
      ->check(CLI::IsMember({"name", "id", "first"}))
      ->type_name("BY");
  command
      ->add_option_function<std::string>(
          "--limit", [flags](const std::string& text) { flags->limit = ParseLimit(text); }, "At most so many rows")
      ->type_name("N");
  auto* snapshot = command->add_option("--snapshot", flags->snapshot, "The table as of this snapshot")->type_name("ID");
  auto* ref = command->add_option("--ref", flags->ref, "The table as of this branch or tag")
                  ->type_name("NAME")
                  ->excludes(snapshot);
  command
      ->add_option("--as-of", flags->as_of,
                   "The table as of this time: ISO 8601 (UTC where no offset is given) or epoch milliseconds")
      ->type_name("TIME")
      ->excludes(snapshot)
      ->excludes(ref);
  command
      ->add_option("--format", flags->format,
                   "table, jsonl, csv, arrow or parquet (default: table on a terminal, else jsonl)")
      ->check(CLI::IsMember({"table", "jsonl", "csv", "arrow", "parquet"}))
      ->type_name("FORMAT");
  command
      ->add_option("--to", flags->to, "Write to a file, whose ending gives the format; it appears whole or not at all")
      ->check(CLI::Validator(CheckFileName, ""))
      ->type_name("FILE");
  command->add_flag("--force", flags->force, "Replace the file of --to if there is one");
  command->add_flag("--count", flags->count, "Print only the number of rows");
  command
      ->add_flag("--explain", flags->explain,
                 "Print the plan: files, sizes and what is left of the filter; reads no data")
      ->excludes("--count");
  AddDecryptionFlags(command, "", &flags->decryption);
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Examples:\n"
      "  calve scan prod.sales.orders --where \"day >= DATE '2024-01-01'\" --limit 10\n"
      "  calve scan 'part-*.parquet' --columns id,address.city --to cities.csv");
  command->callback([flags, action] { *action = [flags] { return RunScan(*flags); }; });
}

}  // namespace calve::cli
