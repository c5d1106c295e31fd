#include "calve/cli/decryption_flags.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/session.h"
#include "calve/cli/target.h"
#include "calve/cli/write_flags.h"
#include "calve/copy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct CopyFlags {
  CommonFlags common;
  std::vector<std::string> inputs;
  std::string to, where;
  std::optional<int64_t> target_file_size;
  DecryptionFlags decryption;
  WriteFlags write;
  CopyOptions options;
};

Result<CopyOptions> OptionsOf(const CopyFlags& flags) {
  CopyOptions options = flags.options;
  if (!flags.where.empty()) {
    ARROW_ASSIGN_OR_RAISE(options.filter, Expression::Parse(flags.where));
  }
  options.target_file_size_bytes = flags.target_file_size.value_or(0);
  ARROW_ASSIGN_OR_RAISE(options.decryption, DecryptionOf(flags.decryption));
  ARROW_ASSIGN_OR_RAISE(options.parquet, WriteOptionsOf(flags.write));
  return options;
}

double RatioOf(const CopyResult& result) {
  int64_t compressed = 0, uncompressed = 0;
  for (const CopiedColumn& column : result.columns) {
    compressed += column.compressed_bytes;
    uncompressed += column.uncompressed_bytes;
  }
  return compressed > 0 ? static_cast<double>(uncompressed) / static_cast<double>(compressed) : 1;
}

Json ToJson(const CopyResult& result, double seconds) {
  Json files = Json::array(), columns = Json::array();
  for (const CopiedFile& file : result.files) {
    files.push_back({{"path", file.path}, {"rows", file.rows}, {"bytes", file.bytes}});
  }
  for (const CopiedColumn& column : result.columns) {
    columns.push_back({{"name", column.name},
                       {"encodings", column.encodings},
                       {"compressed_bytes", column.compressed_bytes},
                       {"uncompressed_bytes", column.uncompressed_bytes}});
  }
  return {{"rows", result.rows},
          {"input_bytes", result.input_bytes},
          {"output_bytes", result.output_bytes},
          {"compression_ratio", RatioOf(result)},
          {"files", std::move(files)},
          {"columns", std::move(columns)},
          {"peak_memory_bytes", result.peak_memory_bytes},
          {"read_seconds", result.read_seconds},
          {"write_seconds", result.write_seconds},
          {"publish_seconds", result.publish_seconds},
          {"seconds", seconds}};
}

Status RunCopy(const CopyFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(const CopyOptions options, OptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(const auto inputs, ExpandFiles(flags.inputs));
  ARROW_ASSIGN_OR_RAISE(const CopyResult result, CopyToParquet(inputs, flags.to, options, session.context()));
  if (flags.common.json) return session.PrintJson(ToJson(result, session.seconds()));
  session.Note(fmt::format("{}: {} in {} ({}) from {} in {}", flags.to, Counted(result.rows, "row"),
                           Counted(static_cast<int64_t>(result.files.size()), "file"), SizeText(result.output_bytes),
                           SizeText(result.input_bytes), SecondsText(session.seconds())));
  return Status::OK();
}

void AddOptions(CLI::App* command, CopyFlags* flags) {
  command->add_option("--columns", flags->options.columns, "Only these columns, in this order")
      ->delimiter(',')
      ->type_name("A,B,...");
  command->add_option("--where", flags->where, "Only rows for which this holds")->type_name("EXPR");
  AddSize(command, "--target-file-size", &flags->target_file_size,
          "End files at about this size; OUT is a folder then (default: one file)");
  command->add_flag("--force", flags->options.overwrite, "Replace files that are there");
  AddDecryptionFlags(command, "input-", &flags->decryption);
  AddWriteFlags(command, &flags->write);
}

}  // namespace

void AddCopy(CLI::App* app, Action* action) {
  auto flags = std::make_shared<CopyFlags>();
  CLI::App* command = app->add_subcommand("copy", "Copy Parquet, Arrow IPC and CSV files to Parquet");
  command->add_option("IN", flags->inputs, "Files and globs: Parquet, Arrow IPC (file or stream), CSV")->required();
  command->add_option("--to", flags->to, "The file to write, or the folder")->required()->type_name("OUT");
  AddOptions(command, flags.get());
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Inputs that differ become one by the names of their columns. Files appear whole, when all are written, or not "
      "at\n"
      "all.\n\n"
      "Examples:\n"
      "  calve copy rows.csv --to rows.parquet\n"
      "  calve copy 'day-*.parquet' --to month/ --target-file-size 512MiB --compression zstd --level 9\n"
      "  calve copy day.arrow --to day.parquet --encoding id=DELTA_BINARY_PACKED --bloom-filter name:0.001 --sorted-by "
      "id\n"
      "  calve copy staff.csv --to staff.parquet --footer-key @footer.key --column-key salary=@salary.key\n"
      "  calve copy staff.parquet --input-footer-key @footer.key --to plain.parquet");
  command->callback([flags, action] { *action = [flags] { return RunCopy(*flags); }; });
}

}  // namespace calve::cli
