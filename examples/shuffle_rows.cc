// Writes the rows of a Parquet file as a shuffle, by Spark's hash of a column, and counts the rows of each partition.
//
//     example_shuffle_rows trips.parquet id 4 trips.shuffle

#include <calve/parquet_reader.h>
#include <calve/partitioner.h>
#include <calve/shuffle.h>

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>

#include <cstdlib>
#include <iostream>

namespace {

arrow::Status Write(const std::string& path, const std::string& column, int32_t partitions, const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto file, calve::ParquetReader::Open(input, path));
  ARROW_ASSIGN_OR_RAISE(auto rows, file->ReadAll());
  ARROW_ASSIGN_OR_RAISE(auto partitioner, calve::MakeHashPartitioner(rows->schema(), {column}, partitions));
  ARROW_ASSIGN_OR_RAISE(auto task,
                        calve::ShuffleTaskWriter::Make(folder, /*task=*/0, rows->schema(), std::move(partitioner)));
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(rows->ReadNext(&batch));
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(task->Write(batch));
  }
  return task->Commit().status();
}

arrow::Status Count(const std::string& folder) {
  ARROW_ASSIGN_OR_RAISE(auto shuffle, calve::ShuffleReader::Open(folder));
  for (int32_t partition = 0; partition < shuffle->partitions(); ++partition) {
    ARROW_ASSIGN_OR_RAISE(auto rows, shuffle->ReadPartition(partition));
    int64_t count = 0;
    std::shared_ptr<arrow::RecordBatch> batch;
    do {
      ARROW_RETURN_NOT_OK(rows->ReadNext(&batch));
      if (batch != nullptr) count += batch->num_rows();
    } while (batch != nullptr);
    std::cout << "partition " << partition << ": " << count << " rows\n";
  }
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: example_shuffle_rows FILE COLUMN PARTITIONS FOLDER\n";
    return 2;
  }
  arrow::Status status = Write(argv[1], argv[2], std::atoi(argv[3]), argv[4]);
  if (status.ok()) status = Count(argv[4]);
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
