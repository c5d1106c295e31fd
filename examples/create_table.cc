// calve/catalog.h: creates a table in a filesystem catalog.   example_create_table WAREHOUSE NAMESPACE.TABLE
#include <arrow/type.h>
#include <calve/catalog.h>

#include <iostream>

arrow::Status Run(const std::string& warehouse, const std::string& name) {
  calve::CatalogConfig config;
  config.properties = {{"type", "filesystem"}, {"warehouse", warehouse}};
  ARROW_ASSIGN_OR_RAISE(auto catalog, calve::Catalog::Open(config));
  calve::CreateTableOptions options;
  options.partition_by = "bucket(4, id)";
  auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8())});
  ARROW_ASSIGN_OR_RAISE(auto table, catalog->CreateTable(name, *schema, options));
  std::cout << "created " << table.name() << "\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status = argc == 3 ? Run(argv[1], argv[2])
                                   : arrow::Status::Invalid("usage: example_create_table WAREHOUSE NAMESPACE.TABLE");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
