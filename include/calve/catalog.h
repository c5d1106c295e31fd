#pragma once

#include "calve/table.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace calve {

/// How a catalog is reached: the properties that pyiceberg's configuration has for it ("type": "sql" or "filesystem",
/// "uri", "warehouse"), and path prefixes of tables that were copied elsewhere.
struct CatalogConfig {
  std::string name = "default";
  std::map<std::string, std::string> properties;
  std::vector<std::pair<std::string, std::string>> moved;  ///< OLD, NEW
};

/// Reads `~/.pyiceberg.yaml` (or PYICEBERG_HOME, then the home folder, then the working folder) and the environment
/// (PYICEBERG_CATALOG__NAME__URI and so on, which win), as pyiceberg does. Invalid names the file and line.
arrow::Result<CatalogConfig> LoadCatalogConfig(const std::string& name);
/// The catalog named "default" in that configuration: PYICEBERG_DEFAULT_CATALOG, `default-catalog`, else "default".
arrow::Result<std::string> DefaultCatalogName();

struct CreateTableOptions {
  std::string location;      ///< empty: warehouse/namespace/table
  std::string partition_by;  ///< "day(ts), bucket(16, id), cat"; empty: unpartitioned
  int format_version = 2;
  std::map<std::string, std::string> properties;
};

/// A catalog of Iceberg tables. Table names are "namespace.table", the namespace dotted. Thread-compatible.
class Catalog {
 public:
  virtual ~Catalog() = default;
  /// "sql": SQLite, in the tables that pyiceberg's SqlCatalog and Java's JdbcCatalog share. "filesystem": folders
  /// warehouse/namespace/table with version files and a hint. Others are NotImplemented, by name.
  static arrow::Result<std::unique_ptr<Catalog>> Open(const CatalogConfig& config);

  /// All namespaces, dotted, at every level; sorted.
  virtual arrow::Result<std::vector<std::string>> ListNamespaces() = 0;
  /// The names, without the namespace, of its tables; sorted. Invalid when there is no such namespace.
  virtual arrow::Result<std::vector<std::string>> ListTables(const std::string& name_space) = 0;
  virtual arrow::Result<Table> LoadTable(const std::string& name) = 0;
  /// The schema's field ids are assigned afresh. AlreadyExists when the table does. A namespace that does not exist is
  /// made.
  virtual arrow::Result<Table> CreateTable(const std::string& name, const arrow::Schema& schema,
                                           const CreateTableOptions& options) = 0;
  /// Forgets the table; its files stay unless `purge`, which deletes those below its location. A table of a filesystem
  /// catalog is its files: without `purge` dropping it is Invalid.
  virtual arrow::Status DropTable(const std::string& name, bool purge) = 0;
};

/// Opens a table by path: its folder (with `metadata/`), or one of its metadata files. A folder can be committed to
/// (version files and hint) unless its metadata files are named by a catalog (00003-<uuid>.metadata.json), or it was
/// copied from where it says it lies and `moved` does not say so; a metadata file is read-only. `moved` maps path
/// prefixes as in CatalogConfig.
arrow::Result<Table> OpenTable(const std::string& path,
                               const std::vector<std::pair<std::string, std::string>>& moved = {});

}  // namespace calve
