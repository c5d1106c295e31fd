#include "calve/cli/batch_text.h"
#include "calve/cli/decryption_flags.h"
#include "calve/cli/json_text.h"
#include "calve/cli/output.h"
#include "calve/cli/quantity_text.h"
#include "calve/cli/row_sink.h"
#include "calve/cli/session.h"
#include "calve/cli/table_summary.h"
#include "calve/cli/target.h"
#include "calve/parquet_reader.h"
#include "calve/table.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct InspectFlags {
  CommonFlags common;
  std::string target, view, format;
  std::optional<int64_t> snapshot;
  DecryptionFlags decryption;
};

Format FormatOf(const InspectFlags& flags) { return FormatByName(flags.format).value_or(Format::kTable); }

// ---- A table.

Status PrintMetadata(const Table& table) {
  ARROW_ASSIGN_OR_RAISE(const Json metadata, ParsedMetadata(table));
  return Print(metadata.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Status PrintSchema(const Table& table, Session* session) {
  ARROW_ASSIGN_OR_RAISE(const Json metadata, ParsedMetadata(table));
  ARROW_ASSIGN_OR_RAISE(const Json schema, CurrentSchema(metadata));
  return session->flags().json ? session->PrintJson(schema) : Print(SchemaText(schema));
}

Status PrintSummary(const Table& table, Session* session) {
  ARROW_ASSIGN_OR_RAISE(const Json summary, SummaryOf(table));
  return session->flags().json ? session->PrintJson(summary) : Print(SummaryText(summary));
}

Status InspectTable(const InspectFlags& flags, Session* session) {
  ARROW_ASSIGN_OR_RAISE(const Table table, OpenTarget(flags.target, flags.common.catalog));
  if (flags.view.empty()) return PrintSummary(table, session);
  if (flags.view == "schema") return PrintSchema(table, session);
  if (flags.view == "metadata") return PrintMetadata(table);
  std::shared_ptr<arrow::RecordBatch> rows;
  if (flags.view == "snapshots") {
    ARROW_ASSIGN_OR_RAISE(rows, table.Snapshots());
  } else if (flags.view == "refs") {
    ARROW_ASSIGN_OR_RAISE(rows, table.Refs());
  } else if (flags.view == "files") {
    ARROW_ASSIGN_OR_RAISE(rows, table.Files(flags.snapshot));
  } else if (flags.view == "manifests") {
    ARROW_ASSIGN_OR_RAISE(rows, table.Manifests(flags.snapshot));
  } else {
    return UsageError(fmt::format("'{}' is a table: it has no view '{}'", flags.target, flags.view));
  }
  return PrintBatch(*rows, FormatOf(flags), session);
}

// ---- A Parquet file.

Result<Json> ToJson(const ParquetReader& reader, const ParquetDescription& description) {
  Json json;
  json["name"] = reader.name();
  json["bytes"] = reader.size_bytes();
  json["rows"] = reader.num_rows();
  json["created_by"] = description.created_by;
  json["key_value_metadata"] = Json::array();
  for (const auto& [key, value] : description.key_value_metadata) json["key_value_metadata"].push_back({key, value});
  json["schema"] = description.schema;
  ARROW_ASSIGN_OR_RAISE(const std::string row_groups, JsonRows(*description.row_groups));
  ARROW_ASSIGN_OR_RAISE(const std::string columns, JsonRows(*description.column_chunks));
  json["row_groups"] = Json::parse(row_groups);
  json["columns"] = Json::parse(columns);
  return json;
}

void AddBrokenNames(const arrow::Field& field, std::vector<std::string>* names) {
  if (field.name().find('\n') != std::string::npos) names->push_back(field.name());
  for (const auto& child : field.type()->fields()) AddBrokenNames(*child, names);
}

// The schema's text has a line an element, so that a name with a newline in it must be found by the name.
std::string WithoutBrokenNames(std::string text, const arrow::Schema& schema) {
  std::vector<std::string> names;
  for (const auto& field : schema.fields()) AddBrokenNames(*field, &names);
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (const std::string& name : names) {
    const std::string broken = " " + name, whole = " " + OneLine(name);
    for (size_t at = 0; (at = text.find(broken, at)) != std::string::npos; at += whole.size()) {
      text.replace(at, broken.size(), whole);
    }
  }
  return text;
}

// Names in it are the file's, and may hold anything.
std::string SchemaLines(const ParquetReader& reader, const ParquetDescription& description) {
  const std::string schema = WithoutBrokenNames(description.schema, *reader.schema());
  std::string lines;
  for (size_t begin = 0; begin < schema.size();) {
    const size_t end = std::min(schema.find('\n', begin), schema.size());
    lines += OneLine(std::string_view(schema).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string MetadataText(const ParquetDescription& description) {
  std::string text = fmt::format("created by  {}\n", OneLine(description.created_by));
  for (const auto& [key, value] : description.key_value_metadata) {
    // The Arrow schema that writers leave there is long and says nothing to a person.
    const bool is_long = value.size() > 200;
    text += fmt::format("{} = {}\n", OneLine(key),
                        is_long ? fmt::format("({})", SizeText(static_cast<int64_t>(value.size()))) : OneLine(value));
  }
  return text;
}

Status PrintFile(const InspectFlags& flags, const ParquetReader& reader, const ParquetDescription& description,
                 Session* session) {
  ARROW_RETURN_NOT_OK(
      Print(fmt::format("{}\n{} in {}, {}\n{}\n{}\n", OneLine(reader.name()), Counted(reader.num_rows(), "row"),
                        Counted(reader.num_row_groups(), "row group"), SizeText(reader.size_bytes()),
                        MetadataText(description), SchemaLines(reader, description))));
  ARROW_RETURN_NOT_OK(PrintBatch(*description.row_groups, FormatOf(flags), session));
  ARROW_RETURN_NOT_OK(Print("\n"));
  return PrintBatch(*description.column_chunks, FormatOf(flags), session);
}

Status InspectFile(const InspectFlags& flags, Session* session) {
  ARROW_ASSIGN_OR_RAISE(const auto files, ExpandFiles({flags.target}));
  if (files.size() != 1) return UsageError(fmt::format("'{}' names {} files: inspect one", flags.target, files.size()));
  ParquetReadOptions options;
  ARROW_ASSIGN_OR_RAISE(options.decryption, DecryptionOf(flags.decryption));
  ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(files.front(), options, session->context()));
  ARROW_ASSIGN_OR_RAISE(const ParquetDescription description, Describe(*reader));
  if (flags.view == "row-groups") return PrintBatch(*description.row_groups, FormatOf(flags), session);
  if (flags.view == "columns") return PrintBatch(*description.column_chunks, FormatOf(flags), session);
  if (!flags.view.empty() && flags.view != "schema" && flags.view != "metadata") {
    return UsageError(
        fmt::format("'{}' is a Parquet file: its views are schema, row-groups, columns and metadata", flags.target));
  }
  if (flags.common.json) {
    ARROW_ASSIGN_OR_RAISE(const Json json, ToJson(*reader, description));
    return session->PrintJson(json);
  }
  if (flags.view == "schema") return Print(SchemaLines(*reader, description));
  if (flags.view == "metadata") return Print(MetadataText(description));
  return PrintFile(flags, *reader, description, session);
}

Status RunInspect(const InspectFlags& flags) {
  Session session(flags.common);
  const bool is_file = IsPath(flags.target) && !IsTablePath(flags.target);
  return is_file ? InspectFile(flags, &session) : InspectTable(flags, &session);
}

}  // namespace

void AddInspect(CLI::App* app, Action* action) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App* command = app->add_subcommand("inspect", "Show what a table or a Parquet file is made of");
  command
      ->add_option("TARGET", flags->target,
                   "A table ([catalog.]namespace.table, folder or metadata file), or a Parquet file")
      ->required();
  command
      ->add_option("VIEW", flags->view,
                   "Of a table: schema, snapshots, refs, files, manifests, metadata. "
                   "Of a file: schema, row-groups, columns, metadata. Default: a summary")
      ->check(
          CLI::IsMember({"schema", "snapshots", "refs", "files", "manifests", "metadata", "row-groups", "columns"}));
  command->add_option("--snapshot", flags->snapshot, "The files or manifests of this snapshot")->type_name("ID");
  command->add_option("--format", flags->format, "Of the views that are tables: table (default), jsonl or csv")
      ->check(CLI::IsMember({"table", "jsonl", "csv"}))
      ->type_name("FORMAT");
  AddDecryptionFlags(command, "", &flags->decryption);
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Examples:\n"
      "  calve inspect prod.sales.orders snapshots\n"
      "  calve inspect part-0.parquet columns");
  command->callback([flags, action] { *action = [flags] { return RunInspect(*flags); }; });
}

}  // namespace calve::cli
