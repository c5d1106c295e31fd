// calve/parquet_verify.h: checks a file against the format's rules.   example_verify_parquet FILE.parquet
#include <calve/parquet_verify.h>

#include <iostream>

arrow::Status Run(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const calve::ParquetVerification found, calve::VerifyParquet(path));
  for (const auto& violation : found.violations) std::cout << calve::ToString(violation) << "\n";
  std::cout << found.violation_count << " violations in " << found.pages << " pages\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status =
      argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("usage: example_verify_parquet FILE.parquet");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
