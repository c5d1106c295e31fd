// Counts the rows of an Arrow IPC file or stream; a damaged one is an error.
//
//     example_read_arrow_file trips.arrow

#include <calve/arrow_file.h>

#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <iostream>

namespace {

arrow::Status Count(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto batches, calve::OpenArrowFile(path));
  int64_t rows = 0;
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
    if (batch == nullptr) break;
    rows += batch->num_rows();
  }
  std::cout << rows << " rows of " << batches->schema()->num_fields() << " columns\n";
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_read_arrow_file FILE\n";
    return 2;
  }
  const arrow::Status status = Count(argv[1]);
  if (status.ok()) return 0;
  std::cerr << status.ToString() << "\n";
  return 1;
}
