#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/session.h"
#include "calve/cli/target.h"
#include "calve/copy.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

const std::map<std::string, ParquetCompression> kCompressions = {
    {"none", ParquetCompression::kUncompressed}, {"snappy", ParquetCompression::kSnappy},
    {"gzip", ParquetCompression::kGzip},         {"zstd", ParquetCompression::kZstd},
    {"lz4_raw", ParquetCompression::kLz4Raw},    {"brotli", ParquetCompression::kBrotli}};

struct CopyFlags {
  CommonFlags common;
  std::vector<std::string> inputs;
  std::string to, where, compression = "zstd";
  std::optional<int> level;
  std::optional<int64_t> target_file_size, row_group_bytes, page_bytes, dictionary_bytes;
  int page_version = 1;
  bool no_dictionary = false;
  CopyOptions options;
};

Result<CopyOptions> OptionsOf(const CopyFlags& flags) {
  CopyOptions options = flags.options;
  if (!flags.where.empty()) {
    ARROW_ASSIGN_OR_RAISE(options.filter, Expression::Parse(flags.where));
  }
  options.target_file_size_bytes = flags.target_file_size.value_or(0);
  ParquetWriteOptions& parquet = options.parquet;
  parquet.compression = kCompressions.at(flags.compression);
  parquet.compression_level = flags.level;
  parquet.row_group_bytes = flags.row_group_bytes.value_or(parquet.row_group_bytes);
  parquet.page_bytes = flags.page_bytes.value_or(parquet.page_bytes);
  parquet.dictionary_bytes = flags.dictionary_bytes.value_or(parquet.dictionary_bytes);
  parquet.dictionary = !flags.no_dictionary;
  parquet.data_page_v2 = flags.page_version == 2;
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
  ParquetWriteOptions* parquet = &flags->options.parquet;
  command->add_option("--columns", flags->options.columns, "Only these columns, in this order")
      ->delimiter(',')
      ->type_name("A,B,...");
  command->add_option("--where", flags->where, "Only rows for which this holds (Parquet inputs)")->type_name("EXPR");
  command->add_option("--compression", flags->compression, "none, snappy, gzip, zstd (default), lz4_raw or brotli")
      ->check(CLI::IsMember({"none", "snappy", "gzip", "zstd", "lz4_raw", "brotli"}))
      ->type_name("CODEC");
  command->add_option("--level", flags->level, "Compression level (default: the codec's)")->type_name("N");
  command->add_option("--row-group-rows", parquet->row_group_rows, "Most rows a row group (default: 1048576)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  AddSize(command, "--row-group-bytes", &flags->row_group_bytes, "End row groups at about this size (default: 128MiB)");
  AddSize(command, "--page-bytes", &flags->page_bytes, "End pages at this size (default: 1MiB)");
  command->add_option("--page-rows", parquet->page_rows, "Most rows a page (default: 20000)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  AddSize(command, "--dictionary-bytes", &flags->dictionary_bytes, "Largest dictionary (default: 2MiB)");
  command->add_flag("--no-dictionary", flags->no_dictionary, "Write no dictionaries");
  command->add_option("--data-page-version", flags->page_version, "1 (default) or 2")
      ->check(CLI::IsMember({1, 2}))
      ->type_name("N");
  AddSize(command, "--target-file-size", &flags->target_file_size,
          "End files at about this size; OUT is a folder then (default: one file)");
  command->add_flag("--force", flags->options.overwrite, "Replace files that are there");
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
      "  calve copy 'day-*.parquet' --to month/ --target-file-size 512MiB --compression zstd --level 9");
  command->callback([flags, action] { *action = [flags] { return RunCopy(*flags); }; });
}

}  // namespace calve::cli
