// Says how many rows of a Parquet file go to each partition of a shuffle that keeps an Iceberg table's partitions
// together.
//
//     example_partition_rows trips.parquet "day(ts), bucket[16](id)" 4

#include <calve/parquet_reader.h>
#include <calve/table_partitioner.h>

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/status.h>

#include <cstdlib>
#include <iostream>
#include <vector>

namespace {

arrow::Status Count(const std::string& path, const std::string& spec, int32_t partitions) {
  ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto file, calve::ParquetReader::Open(input, path));
  ARROW_ASSIGN_OR_RAISE(auto rows, file->ReadAll());
  ARROW_ASSIGN_OR_RAISE(auto partitioner, calve::MakePartitionSpecPartitioner(rows->schema(), spec, partitions));
  std::vector<int64_t> counts(static_cast<size_t>(partitions));
  std::vector<uint32_t> partition_of_row;
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    ARROW_RETURN_NOT_OK(rows->ReadNext(&batch));
    if (batch == nullptr) break;
    partition_of_row.resize(static_cast<size_t>(batch->num_rows()));
    ARROW_RETURN_NOT_OK(partitioner->Assign(*batch, partition_of_row));
    for (const uint32_t partition : partition_of_row) ++counts[partition];
  }
  for (size_t partition = 0; partition < counts.size(); ++partition) {
    std::cout << "partition " << partition << ": " << counts[partition] << " rows\n";
  }
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: example_partition_rows FILE SPEC PARTITIONS\n";
    return 2;
  }
  const arrow::Status status = Count(argv[1], argv[2], std::atoi(argv[3]));
  if (status.ok()) return 0;
  std::cerr << status.ToString() << "\n";
  return 1;
}
