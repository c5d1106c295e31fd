// calve/parquet_reader.h: prints the schema and the rows of a file.   example_read_parquet FILE.parquet
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <calve/parquet_reader.h>

#include <iostream>

arrow::Status Run(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, calve::ParquetReader::Open(path));
  std::cout << file->schema()->ToString(/*show_metadata=*/false) << "\n";
  ARROW_ASSIGN_OR_RAISE(auto reader, file->ReadAll());
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return arrow::Status::OK();
    std::cout << batch->ToString();
  }
}

int main(int argc, char** argv) {
  arrow::Status status = argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("usage: example_read_parquet FILE.parquet");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
