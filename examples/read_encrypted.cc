// calve/parquet_encryption.h: prints the rows of an encrypted file.   example_read_encrypted FILE.parquet KEY_FILE
#include <arrow/record_batch.h>
#include <calve/parquet_encryption.h>
#include <calve/parquet_reader.h>

#include <fstream>
#include <iostream>
#include <iterator>

/// The bytes of a key file; a real program would ask a key service for the key of `request.key_metadata`.
arrow::Result<std::optional<std::string>> ReadKey(const std::string& path, const calve::ParquetKeyRequest& request) {
  std::cout << (request.column.empty() ? "the footer" : request.column) << " is encrypted\n";
  std::ifstream file(path, std::ios::binary);
  if (!file) return arrow::Status::IOError("no key in ", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

arrow::Status Run(const std::string& path, const std::string& key_path) {
  auto keys = std::make_shared<calve::ParquetDecryption>();
  keys->find_key = [&](const calve::ParquetKeyRequest& request) { return ReadKey(key_path, request); };
  calve::ParquetReadOptions options;
  options.decryption = keys;
  ARROW_ASSIGN_OR_RAISE(auto file, calve::ParquetReader::Open(path, options));
  ARROW_ASSIGN_OR_RAISE(auto reader, file->ReadAll());
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return arrow::Status::OK();
    std::cout << batch->ToString();
  }
}

int main(int argc, char** argv) {
  arrow::Status status =
      argc == 3 ? Run(argv[1], argv[2]) : arrow::Status::Invalid("usage: example_read_encrypted FILE.parquet KEY_FILE");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
