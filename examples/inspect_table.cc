// calve/table.h: the snapshots and files of a table.   example_inspect_table TABLE_FOLDER
#include <arrow/record_batch.h>
#include <calve/catalog.h>
#include <calve/table.h>

#include <iostream>

arrow::Status Run(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(auto table, calve::OpenTable(folder));
  ARROW_ASSIGN_OR_RAISE(auto snapshots, table.Snapshots());
  ARROW_ASSIGN_OR_RAISE(auto files, table.Files());
  std::cout << "format v" << table.format_version() << ", " << snapshots->num_rows() << " snapshots, "
            << files->num_rows() << " files\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status = argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("usage: example_inspect_table TABLE_FOLDER");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
