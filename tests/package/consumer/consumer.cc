#include <arrow/type.h>
#include <calve/parquet_reader.h>

#include <iostream>

int main(int argc, char** argv) {
  auto reader = calve::ParquetReader::Open(argv[1]);
  if (!reader.ok()) return std::cerr << reader.status().message() << "\n", 1;
  std::cout << (*reader)->num_rows() << " rows of " << (*reader)->schema()->num_fields() << " columns\n";
}
