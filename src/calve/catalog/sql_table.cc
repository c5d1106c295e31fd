// The two tables of a SQL catalog (schema V1; V0 lacks iceberg_type):
//
//     iceberg_tables(catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location,
//     iceberg_type) iceberg_namespace_properties(catalog_name, namespace, property_key, property_value)
//
// iceberg_type is NULL or 'TABLE' for tables and 'VIEW' for views. Nested namespaces are joined with dots. A namespace
// exists when it has a table or a property; one without either has the property exists = true.

#include "calve/catalog/sql_table.h"

#include "calve/base/status.h"
#include "calve/iceberg/metadata_file.h"

#include <algorithm>
#include <set>

namespace calve {
namespace {

using iceberg::JoinLocation;
using iceberg::MetadataCodec;
using iceberg::TableMetadata;
using iceberg::TableVersion;

constexpr char kCreateTables[] =
    "CREATE TABLE IF NOT EXISTS iceberg_tables ("
    "catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
    "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name))";
constexpr char kCreateNamespaceProperties[] =
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties ("
    "catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL, "
    "property_value VARCHAR(1000) NOT NULL, PRIMARY KEY (catalog_name, namespace, property_key))";
constexpr char kOfTable[] = " WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";

arrow::Result<bool> HasTypeColumn(SqliteConnection* connection) {
  ARROW_ASSIGN_OR_RAISE(auto rows, connection->Query("SELECT 1 FROM pragma_table_info('iceberg_tables') "
                                                     "WHERE name = 'iceberg_type'",
                                                     {}));
  return !rows.empty();
}

arrow::Result<bool> HasTable(SqliteConnection* connection, const char* name) {
  ARROW_ASSIGN_OR_RAISE(auto rows,
                        connection->Query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", {name}));
  return !rows.empty();
}

/// An open database that has the catalog's tables, and what they look like.
struct Catalogued {
  SqliteConnection connection;
  bool has_type = false;

  /// " AND (...)" that leaves views out.
  std::string TablesOnly() const { return has_type ? " AND (iceberg_type IS NULL OR iceberg_type = 'TABLE')" : ""; }
};

arrow::Result<Catalogued> OpenExisting(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto connection, SqliteConnection::Open(path, SqliteConnection::Mode::kExisting));
  ARROW_ASSIGN_OR_RAISE(bool is_catalog, HasTable(&connection, "iceberg_tables"));
  if (!is_catalog) return Invalid("{} is no Iceberg catalog: it has no table iceberg_tables", path);
  ARROW_ASSIGN_OR_RAISE(bool has_type, HasTypeColumn(&connection));
  return Catalogued{std::move(connection), has_type};
}

Status InsertNamespace(SqliteConnection* connection, const std::string& catalog, const std::string& name_space) {
  ARROW_ASSIGN_OR_RAISE(auto known, connection->Query("SELECT 1 FROM iceberg_namespace_properties "
                                                      "WHERE catalog_name = ? AND namespace = ? LIMIT 1",
                                                      {catalog, name_space}));
  if (!known.empty()) return Status::OK();
  return connection
      ->Execute(
          "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) "
          "VALUES (?, ?, 'exists', 'true')",
          {catalog, name_space})
      .status();
}

}  // namespace

SqlCatalogTables::SqlCatalogTables(std::string database_path, std::string catalog_name)
    : database_path_(std::move(database_path)), catalog_name_(std::move(catalog_name)) {}

arrow::Result<std::optional<std::string>> SqlCatalogTables::FindTable(const TableName& name) const {
  ARROW_ASSIGN_OR_RAISE(Catalogued catalogued, OpenExisting(database_path_));
  const std::string sql = fmt::format("SELECT metadata_location, {} FROM iceberg_tables{}",
                                      catalogued.has_type ? "iceberg_type" : "NULL", kOfTable);
  ARROW_ASSIGN_OR_RAISE(auto rows, catalogued.connection.Query(sql, {catalog_name_, name.name_space(), name.table}));
  if (rows.empty()) return std::nullopt;
  const SqliteConnection::Row& row = rows.front();
  if (row[1] && *row[1] != "TABLE") return Invalid("{} is a {}, not a table", name.ToString(), *row[1]);
  if (!row[0] || row[0]->empty()) return Invalid("{} has no metadata location in {}", name.ToString(), database_path_);
  return *row[0];
}

arrow::Result<std::vector<std::string>> SqlCatalogTables::ListNamespaces() const {
  ARROW_ASSIGN_OR_RAISE(Catalogued catalogued, OpenExisting(database_path_));
  ARROW_ASSIGN_OR_RAISE(bool has_properties, HasTable(&catalogued.connection, "iceberg_namespace_properties"));
  std::string sql = "SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?1";
  if (has_properties) sql += " UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1";
  ARROW_ASSIGN_OR_RAISE(auto rows, catalogued.connection.Query(sql, {catalog_name_}));
  std::set<std::string> namespaces;
  for (const auto& row : rows) namespaces.insert(row[0].value_or(""));
  return std::vector<std::string>(namespaces.begin(), namespaces.end());
}

arrow::Result<std::vector<std::string>> SqlCatalogTables::ListTables(const std::string& name_space) const {
  ARROW_ASSIGN_OR_RAISE(Catalogued catalogued, OpenExisting(database_path_));
  const std::string sql = "SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?" +
                          catalogued.TablesOnly() + " ORDER BY table_name";
  ARROW_ASSIGN_OR_RAISE(auto rows, catalogued.connection.Query(sql, {catalog_name_, name_space}));
  std::vector<std::string> tables;
  for (const auto& row : rows) tables.push_back(row[0].value_or(""));
  return tables;
}

arrow::Result<std::optional<std::string>> SqlCatalogTables::NamespaceProperty(const std::string& name_space,
                                                                              const std::string& key) const {
  Result<SqliteConnection> opened = SqliteConnection::Open(database_path_, SqliteConnection::Mode::kExisting);
  // A database that does not exist yet has no properties either.
  if (opened.status().IsInvalid()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(SqliteConnection connection, std::move(opened));
  ARROW_ASSIGN_OR_RAISE(bool has_properties, HasTable(&connection, "iceberg_namespace_properties"));
  if (!has_properties) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto rows, connection.Query("SELECT property_value FROM iceberg_namespace_properties WHERE "
                                                    "catalog_name = ? AND namespace = ? AND property_key = ?",
                                                    {catalog_name_, name_space, key}));
  return rows.empty() ? std::nullopt : rows.front()[0];
}

Status SqlCatalogTables::InsertTable(const TableName& name, const std::string& metadata_location) const {
  ARROW_ASSIGN_OR_RAISE(auto connection, SqliteConnection::Open(database_path_, SqliteConnection::Mode::kCreate));
  ARROW_ASSIGN_OR_RAISE(auto transaction, SqliteTransaction::Begin(&connection));
  ARROW_RETURN_NOT_OK(connection.Execute(kCreateTables));
  ARROW_RETURN_NOT_OK(connection.Execute(kCreateNamespaceProperties));
  ARROW_RETURN_NOT_OK(InsertNamespace(&connection, catalog_name_, name.name_space()));
  ARROW_ASSIGN_OR_RAISE(bool has_type, HasTypeColumn(&connection));
  const std::string sql = fmt::format(
      "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "
      "previous_metadata_location{}) VALUES (?, ?, ?, ?, NULL{})",
      has_type ? ", iceberg_type" : "", has_type ? ", 'TABLE'" : "");
  Status inserted = connection.Execute(sql, {catalog_name_, name.name_space(), name.table, metadata_location}).status();
  if (inserted.IsAlreadyExists()) {
    return Status::AlreadyExists(
        fmt::format("table {} exists already in catalog '{}'", name.ToString(), catalog_name_));
  }
  ARROW_RETURN_NOT_OK(inserted);
  bool rolled_back = false;
  Status committed = transaction->Commit(&rolled_back);
  if (committed.ok() || rolled_back) return committed;
  return CommitError(CommitFailure::kStateUnknown, committed.message());
}

Status SqlCatalogTables::SwapMetadata(const TableName& name, const std::string& from, const std::string& to) const {
  ARROW_ASSIGN_OR_RAISE(Catalogued catalogued, OpenExisting(database_path_));
  ARROW_ASSIGN_OR_RAISE(auto transaction, SqliteTransaction::Begin(&catalogued.connection));
  const std::string sql = "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?" +
                          std::string(kOfTable) + " AND metadata_location = ?" + catalogued.TablesOnly();
  ARROW_ASSIGN_OR_RAISE(
      int changed, catalogued.connection.Execute(sql, {to, from, catalog_name_, name.name_space(), name.table, from}));
  if (changed == 0) {
    return CommitError(CommitFailure::kConflict,
                       fmt::format("{}: another version was committed meanwhile, expected {}", name.ToString(), from));
  }
  bool rolled_back = false;
  Status committed = transaction->Commit(&rolled_back);
  if (committed.ok() || rolled_back) return committed;
  return CommitError(CommitFailure::kStateUnknown, committed.message());
}

Status SqlCatalogTables::DeleteTable(const TableName& name) const {
  ARROW_ASSIGN_OR_RAISE(Catalogued catalogued, OpenExisting(database_path_));
  ARROW_ASSIGN_OR_RAISE(int changed, catalogued.connection.Execute(
                                         "DELETE FROM iceberg_tables" + std::string(kOfTable) + catalogued.TablesOnly(),
                                         {catalog_name_, name.name_space(), name.table}));
  if (changed == 0) return Invalid("no such table: {} in catalog '{}'", name.ToString(), catalog_name_);
  return Status::OK();
}

SqlTable::SqlTable(FileIO io, SqlCatalogTables tables, TableName name)
    : io_(std::move(io)), tables_(std::move(tables)), name_(std::move(name)), text_(name_.ToString()) {}

Result<TableVersion> SqlTable::Load() {
  ARROW_ASSIGN_OR_RAISE(std::optional<std::string> location, tables_.FindTable(name_));
  if (!location) {
    return Invalid("no such table: {} in catalog '{}' ({})", text_, tables_.catalog_name(), tables_.database_path());
  }
  ARROW_ASSIGN_OR_RAISE(TableMetadata metadata, iceberg::ReadMetadataFile(io_, *location));
  return TableVersion{std::move(metadata), std::move(*location)};
}

Result<TableVersion> SqlTable::Swap(const TableVersion& base, const TableMetadata& next) {
  ARROW_ASSIGN_OR_RAISE(MetadataCodec codec, MetadataCodec::Of(next));
  ARROW_ASSIGN_OR_RAISE(std::string bytes, codec.Encode(next));
  const std::string location =
      JoinLocation(iceberg::MetadataLocation(next), iceberg::NextCatalogFileName(base.metadata_location, codec));
  ARROW_RETURN_NOT_OK(io_.CreateNew(location, bytes));
  Status swapped = tables_.SwapMetadata(name_, base.metadata_location, location);
  if (swapped.ok()) return TableVersion{next, location};
  if (CommitFailureOf(swapped) != CommitFailure::kStateUnknown) ARROW_UNUSED(io_.Delete(location));
  return swapped;
}

}  // namespace calve
