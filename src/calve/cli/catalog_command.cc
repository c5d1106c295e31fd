#include "calve/catalog.h"
#include "calve/cli/output.h"
#include "calve/cli/session.h"
#include "calve/cli/table_summary.h"
#include "calve/cli/target.h"
#include "calve/parquet_reader.h"
#include "calve/table.h"

#include <arrow/type.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

struct CatalogCommandFlags {
  CommonFlags common;
  std::string name;  // a table, or for `list` a namespace
  std::string schema_from, schema;
  std::vector<std::string> properties;
  CreateTableOptions create;
  bool purge = false;
};

// ---- list

Status RunList(const CatalogCommandFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(auto catalog, OpenCatalog(flags.common.catalog));
  std::vector<std::string> namespaces = {flags.name};
  if (flags.name.empty()) {
    ARROW_ASSIGN_OR_RAISE(namespaces, catalog->ListNamespaces());
  }
  std::string text;
  auto listing = Json::array();
  for (const std::string& name_space : namespaces) {
    ARROW_ASSIGN_OR_RAISE(auto tables, catalog->ListTables(name_space));
    for (std::string& table : tables) {
      table = name_space + "." + table;
      text += table + "\n";
    }
    listing.push_back({{"namespace", name_space}, {"tables", std::move(tables)}});
  }
  return flags.common.json ? session.PrintJson(listing) : Print(text);
}

// ---- create

Result<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return Status::IOError(fmt::format("cannot read '{}'", path));
  return text.str();
}

Result<std::shared_ptr<arrow::Schema>> SchemaOf(const CatalogCommandFlags& flags, const Context& context) {
  if (!flags.schema_from.empty()) {
    ARROW_RETURN_NOT_OK(CheckRegularFile(flags.schema_from));
    ParquetReadOptions options;
    options.use_arrow_schema = false;
    ARROW_ASSIGN_OR_RAISE(auto reader, ParquetReader::Open(flags.schema_from, options, context));
    return reader->schema();
  }
  if (flags.schema.starts_with('{')) return ArrowSchemaFromJson(flags.schema);
  ARROW_ASSIGN_OR_RAISE(const std::string text, ReadText(flags.schema));
  return ArrowSchemaFromJson(text);
}

Result<CreateTableOptions> CreateOptionsOf(const CatalogCommandFlags& flags) {
  CreateTableOptions options = flags.create;
  for (const std::string& property : flags.properties) {
    const size_t equals = property.find('=');
    options.properties[property.substr(0, equals)] = property.substr(equals + 1);
  }
  return options;
}

Status RunCreate(const CatalogCommandFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(auto schema, SchemaOf(flags, session.context()));
  ARROW_ASSIGN_OR_RAISE(const CreateTableOptions options, CreateOptionsOf(flags));
  ARROW_ASSIGN_OR_RAISE(auto place, ResolveName(flags.name, flags.common.catalog));
  ARROW_ASSIGN_OR_RAISE(const Table table, place.catalog->CreateTable(place.name, *schema, options));
  if (flags.common.json) {
    return session.PrintJson({{"table", table.name()}, {"metadata_location", table.metadata_location()}});
  }
  session.Note(fmt::format("created {} ({})", table.name(), table.metadata_location()));
  return Status::OK();
}

// ---- load, drop

Status RunLoad(const CatalogCommandFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(auto place, ResolveName(flags.name, flags.common.catalog));
  ARROW_ASSIGN_OR_RAISE(const Table table, place.catalog->LoadTable(place.name));
  ARROW_ASSIGN_OR_RAISE(const auto summary, SummaryOf(table));
  return flags.common.json ? session.PrintJson(summary) : Print(SummaryText(summary));
}

Status RunDrop(const CatalogCommandFlags& flags) {
  Session session(flags.common);
  ARROW_ASSIGN_OR_RAISE(auto place, ResolveName(flags.name, flags.common.catalog));
  ARROW_RETURN_NOT_OK(place.catalog->DropTable(place.name, flags.purge));
  if (flags.common.json) return session.PrintJson({{"dropped", place.name}, {"purged", flags.purge}});
  session.Note(fmt::format("dropped {}{}", place.name, flags.purge ? " and its files" : "; its files are still there"));
  return Status::OK();
}

// ---- The command lines

std::string CheckProperty(const std::string& property) {
  const size_t equals = property.find('=');
  return equals == std::string::npos || equals == 0 ? fmt::format("KEY=VALUE expected, not '{}'", property) : "";
}

using Flags = std::shared_ptr<CatalogCommandFlags>;

CLI::App* AddCommand(CLI::App* catalog, const std::string& name, const std::string& description, const Flags& flags,
                     Status (*run)(const CatalogCommandFlags&), Action* action) {
  CLI::App* command = catalog->add_subcommand(name, description);
  command->callback([flags, run, action] { *action = [flags, run] { return run(*flags); }; });
  return command;
}

void AddTableName(CLI::App* command, const Flags& flags) {
  command->add_option("TABLE", flags->name, "[catalog.]namespace.table")->required();
}

void AddList(CLI::App* catalog, Action* action) {
  auto flags = std::make_shared<CatalogCommandFlags>();
  CLI::App* command = AddCommand(catalog, "list", "List the tables of a catalog", flags, RunList, action);
  command->add_option("NAMESPACE", flags->name, "Only the tables of this namespace");
  AddCommonFlags(command, &flags->common);
  command->footer("Example:\n  calve catalog list --catalog prod");
}

void AddCreate(CLI::App* catalog, Action* action) {
  auto flags = std::make_shared<CatalogCommandFlags>();
  CLI::App* command = AddCommand(catalog, "create", "Create an empty table", flags, RunCreate, action);
  AddTableName(command, flags);
  CLI::Option_group* source = command->add_option_group("Schema");
  source->add_option("--schema-from", flags->schema_from, "Take the columns of a Parquet file")->type_name("FILE");
  source->add_option("--schema", flags->schema, "An Iceberg schema as JSON, or a file that holds one")
      ->type_name("JSON|FILE");
  source->require_option(1);
  command->add_option("--partition-by", flags->create.partition_by, "Such as \"day(ts), bucket(16, id), country\"")
      ->type_name("FIELDS");
  command->add_option("--format-version", flags->create.format_version, "1, 2 or 3 (default: 2)")
      ->check(CLI::Range(1, 3))
      ->type_name("N");
  command->add_option("--location", flags->create.location, "Where the table lies (default: WAREHOUSE/namespace/table)")
      ->type_name("FOLDER");
  command->add_option("--property", flags->properties, "A table property; repeatable")
      ->check(CLI::Validator(CheckProperty, ""))
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  AddCommonFlags(command, &flags->common);
  command->footer(
      "Example:\n  calve catalog create prod.sales.orders --schema-from day.parquet --partition-by "
      "\"day(ordered_at)\"");
}

void AddLoad(CLI::App* catalog, Action* action) {
  auto flags = std::make_shared<CatalogCommandFlags>();
  CLI::App* command = AddCommand(catalog, "load", "Load a table and show what it is", flags, RunLoad, action);
  AddTableName(command, flags);
  AddCommonFlags(command, &flags->common);
  command->footer("Example:\n  calve catalog load prod.sales.orders --json");
}

void AddDrop(CLI::App* catalog, Action* action) {
  auto flags = std::make_shared<CatalogCommandFlags>();
  CLI::App* command = AddCommand(catalog, "drop", "Drop a table from its catalog", flags, RunDrop, action);
  AddTableName(command, flags);
  command->add_flag("--purge", flags->purge, "Delete the table's files too");
  AddCommonFlags(command, &flags->common);
  command->footer("Example:\n  calve catalog drop prod.scratch.tmp --purge");
}

}  // namespace

void AddCatalog(CLI::App* app, Action* action) {
  CLI::App* catalog = app->add_subcommand("catalog", "List, create, load and drop tables");
  catalog->require_subcommand(1);
  AddList(catalog, action);
  AddCreate(catalog, action);
  AddLoad(catalog, action);
  AddDrop(catalog, action);
  catalog->footer("Example:\n  calve catalog list --catalog-type filesystem --warehouse /data/warehouse");
}

}  // namespace calve::cli
