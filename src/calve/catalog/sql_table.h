#pragma once

#include "calve/catalog/sqlite.h"
#include "calve/catalog/table_name.h"
#include "calve/iceberg/commit.h"
#include "calve/io/file_io.h"

#include <memory>
#include <string>

namespace calve {

/// The tables of a SQL catalog in one database, as pyiceberg's SqlCatalog and Java's JdbcCatalog share them. A
/// connection is opened for each operation: cheap for a local file, and safe in any thread and after a fork.
class SqlCatalogTables {
 public:
  SqlCatalogTables(std::string database_path, std::string catalog_name);

  const std::string& database_path() const { return database_path_; }
  const std::string& catalog_name() const { return catalog_name_; }

  /// The location of a table's current metadata; nothing when there is no such table. A view is Invalid.
  arrow::Result<std::optional<std::string>> FindTable(const TableName& name) const;
  /// Namespaces that have tables or properties, sorted.
  arrow::Result<std::vector<std::string>> ListNamespaces() const;
  arrow::Result<std::vector<std::string>> ListTables(const std::string& name_space) const;
  /// The property of a namespace, nothing when it is not set.
  arrow::Result<std::optional<std::string>> NamespaceProperty(const std::string& name_space,
                                                              const std::string& key) const;

  /// Makes the database and its tables where they are missing, and adds the table, and its namespace when it is new.
  /// AlreadyExists when there is a table or view of that name.
  arrow::Status InsertTable(const TableName& name, const std::string& metadata_location) const;
  /// The compare-and-swap of a commit: kConflict when `from` is no longer current, kStateUnknown when it cannot be
  /// known whether the change was made, another error when it was not.
  arrow::Status SwapMetadata(const TableName& name, const std::string& from, const std::string& to) const;
  /// Invalid when there is no such table.
  arrow::Status DeleteTable(const TableName& name) const;

 private:
  std::string database_path_;
  std::string catalog_name_;
};

/// A table of a SQL catalog.
class SqlTable : public iceberg::TableStore {
 public:
  SqlTable(FileIO io, SqlCatalogTables tables, TableName name);

  const FileIO& io() const override { return io_; }
  const std::string& name() const override { return text_; }
  Result<iceberg::TableVersion> Load() override;
  Result<iceberg::TableVersion> Swap(const iceberg::TableVersion& base, const iceberg::TableMetadata& next) override;

 private:
  FileIO io_;
  SqlCatalogTables tables_;
  TableName name_;
  std::string text_;
};

}  // namespace calve
