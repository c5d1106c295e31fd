// Prints rows, decoded bytes and the checksum (bench/support/checksum.h) of the Arrow IPC stream on stdin: for peers
// that are called from Python.

#include "support/checksum.h"

#include <arrow/io/stdio.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>

#include <iostream>

namespace {

arrow::Status Run() {
  calve::bench::Checksum checksum;
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<arrow::io::StdinStream>()));
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(checksum.Add(*batch));
  }
  std::cout << fmt::format("rows={} bytes={} checksum={:016x}", checksum.rows(), checksum.bytes(), checksum.sum())
            << std::endl;
  return arrow::Status::OK();
}

}  // namespace

int main() {
  const arrow::Status status = Run();
  if (!status.ok()) std::cerr << "batch_checksum: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
