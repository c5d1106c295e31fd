// calve/append.h: appends Parquet files to a table in one commit.   example_append_files TABLE_FOLDER FILE...
#include <calve/append.h>
#include <calve/catalog.h>

#include <iostream>

arrow::Status Run(const std::string& folder, const std::vector<std::string>& files) {
  ARROW_ASSIGN_OR_RAISE(auto table, calve::OpenTable(folder));
  ARROW_ASSIGN_OR_RAISE(auto result, calve::AppendFiles(table, files));
  std::cout << result.rows << " rows appended\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status = argc >= 3 ? Run(argv[1], {argv + 2, argv + argc})
                                   : arrow::Status::Invalid("usage: example_append_files TABLE_FOLDER FILE...");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
