// calve/parquet_writer.h: writes a file of three rows.   example_write_parquet OUT.parquet
#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <calve/parquet_writer.h>

#include <iostream>

arrow::Status Run(const std::string& path) {
  arrow::Int64Builder ids;
  arrow::StringBuilder names;
  ARROW_RETURN_NOT_OK(ids.AppendValues({1, 2, 3}));
  ARROW_RETURN_NOT_OK(names.AppendValues({"one", "two", "three"}));
  ARROW_ASSIGN_OR_RAISE(auto id_array, ids.Finish());
  ARROW_ASSIGN_OR_RAISE(auto name_array, names.Finish());
  auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8())});
  auto batch = arrow::RecordBatch::Make(schema, 3, {id_array, name_array});

  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::FileOutputStream::Open(path));
  ARROW_ASSIGN_OR_RAISE(auto writer, calve::ParquetWriter::Make(file.get(), schema));
  ARROW_RETURN_NOT_OK(writer->Write(*batch));
  ARROW_ASSIGN_OR_RAISE(auto summary, writer->Close());
  std::cout << summary.rows << " rows\n";
  return file->Close();
}

int main(int argc, char** argv) {
  arrow::Status status = argc == 2 ? Run(argv[1]) : arrow::Status::Invalid("usage: example_write_parquet OUT.parquet");
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
