// calve/copy.h: copies files to one Parquet file.   example_copy_files OUT.parquet FILE...
#include <calve/copy.h>

#include <iostream>

arrow::Status Run(const std::string& to, const std::vector<std::string>& files) {
  ARROW_ASSIGN_OR_RAISE(const calve::CopyResult result, calve::CopyToParquet(files, to));
  std::cout << result.rows << " rows copied\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status = argc > 2 ? Run(argv[1], {argv + 2, argv + argc})
                                  : arrow::Status::Invalid("usage: example_copy_files OUT.parquet FILE...");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
