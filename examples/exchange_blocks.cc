// Writes two batches as shuffle blocks to a file, and reads them back from it.
//
//   example_exchange_blocks blocks.data

#include <calve/shuffle_block.h>

#include <arrow/api.h>
#include <arrow/io/file.h>

#include <iostream>

namespace {

arrow::Status Run(const std::string& path) {
  arrow::Int64Builder numbers;
  ARROW_RETURN_NOT_OK(numbers.AppendValues({1, 2, 3}));
  ARROW_ASSIGN_OR_RAISE(const auto column, numbers.Finish());
  const auto schema = arrow::schema({arrow::field("n", arrow::int64())});
  const auto batch = arrow::RecordBatch::Make(schema, 3, {column});

  ARROW_ASSIGN_OR_RAISE(const auto writer, calve::ShuffleBlockWriter::Make(schema));
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::FileOutputStream::Open(path));
  for (int i = 0; i < 2; ++i) {
    ARROW_ASSIGN_OR_RAISE(const auto block, writer->Encode(*batch));
    ARROW_RETURN_NOT_OK(file->Write(block.data(), static_cast<int64_t>(block.size())));
  }
  ARROW_RETURN_NOT_OK(file->Close());

  ARROW_ASSIGN_OR_RAISE(const auto reader, calve::ShuffleBlockReader::Open(path));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto read, reader->Next());
    if (read == nullptr) break;
    std::cout << read->num_rows() << " rows, " << calve::ToString(reader->header().codec) << "\n";
  }
  return arrow::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  const arrow::Status status = Run(argc > 1 ? argv[1] : "blocks.data");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
