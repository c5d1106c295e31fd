#pragma once

#include "calve/catalog.h"
#include "calve/table.h"

#include <arrow/result.h>
#include <arrow/status.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calve::cli {

/// The flags that say which catalog is meant and where a copied table lies.
struct CatalogFlags {
  std::string name;                  ///< --catalog
  std::string uri, type, warehouse;  ///< --catalog-uri, --catalog-type, --warehouse
  std::vector<std::string> moved;    ///< --moved OLD=NEW
};

/// True for an argument that is meant as a path: it has a slash, begins with "file:", is a glob, ends in ".parquet", or
/// exists.
bool IsPath(const std::string& target);

/// Whether the path `target` (or the pattern) is a table: a folder or a metadata file.
bool IsTablePath(const std::string& target);

/// IOError when `path` is a folder, a pipe or a device, which opening might wait for; OK also when there is nothing.
arrow::Status CheckRegularFile(const std::string& path);

/// The files that `patterns` name: each a file, or a glob, whose matches come sorted. IOError when one names nothing,
/// or what is not a regular file.
arrow::Result<std::vector<std::string>> ExpandFiles(const std::vector<std::string>& patterns);

/// The catalog of the flags: made from them alone, or the configured one with what they override. None named: the
/// default.
arrow::Result<std::unique_ptr<Catalog>> OpenCatalog(const CatalogFlags& flags);

/// A catalog and the name of a table or namespace in it.
struct NameInCatalog {
  std::unique_ptr<Catalog> catalog;
  std::string name;
};

/// Resolves "[catalog.]namespace.table". With three parts or more the first names the catalog, unless the flags do, or
/// no catalog of that name is configured and there is a default one.
arrow::Result<NameInCatalog> ResolveName(const std::string& name, const CatalogFlags& flags);

/// Opens a table by path or by name.
arrow::Result<Table> OpenTarget(const std::string& target, const CatalogFlags& flags);

}  // namespace calve::cli
