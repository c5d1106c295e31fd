// calve/scan.h and calve/expression.h: rows of a table that a filter keeps.   example_scan_table TABLE_FOLDER FILTER
#include <arrow/record_batch.h>
#include <calve/catalog.h>
#include <calve/expression.h>
#include <calve/scan.h>

#include <iostream>

arrow::Status Run(const std::string& folder, const std::string& filter) {
  ARROW_ASSIGN_OR_RAISE(auto table, calve::OpenTable(folder));
  calve::ScanOptions options;
  ARROW_ASSIGN_OR_RAISE(options.filter, calve::Expression::Parse(filter));
  ARROW_ASSIGN_OR_RAISE(auto scan, calve::ScanTable(table, options));
  ARROW_ASSIGN_OR_RAISE(auto reader, scan->reader());
  int64_t rows = 0;
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    rows += batch->num_rows();
  }
  const calve::ScanMetrics metrics = scan->metrics();
  std::cout << rows << " rows match " << options.filter.ToString() << ", " << metrics.data_files_skipped << " of "
            << metrics.data_files_total << " files skipped\n";
  return arrow::Status::OK();
}

int main(int argc, char** argv) {
  arrow::Status status =
      argc == 3 ? Run(argv[1], argv[2]) : arrow::Status::Invalid("usage: example_scan_table TABLE_FOLDER FILTER");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
