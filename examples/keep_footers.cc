// calve/parquet_footer_cache.h: opens a file twice, the second time without reading its footer.   example_keep_footers
// FILE.parquet
#include <calve/parquet_footer_cache.h>
#include <calve/parquet_reader.h>

#include <iostream>

arrow::Status Run(const std::string& path) {
  const auto cache = std::make_shared<calve::ParquetFooterCache>(int64_t{8} << 20);
  calve::ParquetReadOptions options;
  options.footer_cache = cache;
  for (int i = 0; i < 2; ++i) {
    ARROW_ASSIGN_OR_RAISE(auto file, calve::ParquetReader::Open(path, options));
    std::cout << file->num_rows() << " rows, " << cache->counts().hits << " footers found again\n";
  }
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status = argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("usage: example_keep_footers FILE.parquet");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
