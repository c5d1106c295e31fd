// Writes the record batches of an Arrow IPC file to Parquet, with calve or with libparquet, and says how long it took:
//
//   calve_peer_write [--rounds N] [--threads T] [--option NAME] [--writer calve|arrow] [--out FILE] [--serve]
//   FILE.arrow
//
// NAME: default, bloom_filter, parquet_2, zstd, zstd_parquet_2, cdc, number_distinct_values, plain, delta_byte_array.
// The batches lie in memory before the time begins; each becomes a row group, its bytes are dropped. An untimed round
// before counts them, and writes them to FILE with --out. --serve answers every line on stdin with the milliseconds of
// one round, so that a script can alternate between writers.

#include "calve/parquet_writer.h"
#include "support/serve.h"
#include "support/write_arguments.h"

#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <chrono>
#include <limits>

namespace calve::bench {
namespace {

constexpr int64_t kPageBytes = 1 << 20;
constexpr int64_t kDictionaryBytes = 1 << 20;
constexpr int64_t kPageRows = 20000;
constexpr int64_t kDistinctValues = 1 << 20;
constexpr double kFalsePositives = 0.05;
constexpr int64_t kCdcSmallest = 256 << 10, kCdcLargest = 1 << 20;

/// Counts bytes, and passes them on when there is something behind it.
class CountingStream : public arrow::io::OutputStream {
 public:
  explicit CountingStream(std::shared_ptr<arrow::io::OutputStream> behind) : behind_(std::move(behind)) {}
  arrow::Status Close() override {
    closed_ = true;
    return behind_ == nullptr ? arrow::Status::OK() : behind_->Close();
  }
  arrow::Result<int64_t> Tell() const override { return bytes_; }
  bool closed() const override { return closed_; }
  arrow::Status Write(const void* data, int64_t size) override {
    bytes_ += size;
    return behind_ == nullptr ? arrow::Status::OK() : behind_->Write(data, size);
  }

 private:
  std::shared_ptr<arrow::io::OutputStream> behind_;
  int64_t bytes_ = 0;
  bool closed_ = false;
};

struct Input {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  int64_t rows = 0, bytes = 0;
};

arrow::Result<Input> Load(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
  Input input;
  input.schema = reader->schema();
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(i));
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, arrow::util::ReferencedBufferSize(*batch));
    input.rows += batch->num_rows();
    input.bytes += bytes;
    input.batches.push_back(std::move(batch));
  }
  if (input.batches.empty()) return arrow::Status::Invalid(path, " holds no batch");
  return input;
}

int64_t RowGroupRows(const Input& input) {
  int64_t rows = 1;
  for (const auto& batch : input.batches) rows = std::max(rows, batch->num_rows());
  return rows;
}

/// NotImplemented where calve has no such option.
arrow::Status SetOption(const std::string& name, ParquetWriteOptions* options) {
  if (name == "bloom_filter") {
    options->bloom_filter = ParquetBloomFilterOptions{kFalsePositives, kDistinctValues, 128 << 20};
  } else if (name == "cdc") {
    options->content_chunking = ParquetContentChunking{kCdcSmallest, kCdcLargest, 0};
  } else if (name == "number_distinct_values") {
    options->distinct_counts = true;
  } else if (name == "delta_byte_array") {
    options->dictionary = false;
    options->encoding = ParquetEncoding::kDeltaByteArray;
  } else {
    return arrow::Status::NotImplemented("calve has no option ", name);
  }
  return arrow::Status::OK();
}

arrow::Result<ParquetWriteOptions> CalveOptions(const std::string& name, const Input& input) {
  ParquetWriteOptions options;
  options.compression = name.starts_with("zstd") ? ParquetCompression::kZstd : ParquetCompression::kUncompressed;
  if (name.starts_with("zstd")) options.compression_level = 1;
  options.data_page_v2 = name.ends_with("parquet_2");
  options.row_group_rows = RowGroupRows(input);
  options.row_group_bytes = std::numeric_limits<int64_t>::max();
  options.page_bytes = kPageBytes;
  options.page_rows = kPageRows;
  options.dictionary_bytes = kDictionaryBytes;
  if (name == "plain") {
    options.dictionary = false;
    options.encoding = ParquetEncoding::kPlain;
  } else if (name != "default" && !name.starts_with("zstd") && !name.ends_with("parquet_2")) {
    ARROW_RETURN_NOT_OK(SetOption(name, &options));
  }
  return options;
}

arrow::Status WriteWithCalve(const WriteArguments& arguments, const Input& input, CountingStream* sink) {
  ARROW_ASSIGN_OR_RAISE(const auto options, CalveOptions(arguments.option, input));
  Context context;
  context.threads = arguments.threads;
  ARROW_ASSIGN_OR_RAISE(const auto writer, ParquetWriter::Make(sink, input.schema, options, context));
  for (const auto& batch : input.batches) ARROW_RETURN_NOT_OK(writer->Write(*batch));
  return writer->Close().status();
}

arrow::Result<std::shared_ptr<::parquet::WriterProperties>> ArrowProperties(const std::string& name,
                                                                            const Input& input) {
  ::parquet::WriterProperties::Builder builder;
  builder.max_row_group_length(RowGroupRows(input))->data_pagesize(kPageBytes);
  builder.dictionary_pagesize_limit(kDictionaryBytes)->max_rows_per_page(kPageRows)->enable_write_page_index();
  if (name.starts_with("zstd")) builder.compression(::parquet::Compression::ZSTD)->compression_level(1);
  if (name.ends_with("parquet_2")) builder.data_page_version(::parquet::ParquetDataPageVersion::V2);
  if (name == "cdc") {
    ::parquet::CdcOptions cdc;
    cdc.min_chunk_size = kCdcSmallest;
    cdc.max_chunk_size = kCdcLargest;
    builder.enable_content_defined_chunking()->content_defined_chunking_options(cdc);
  } else if (name == "bloom_filter") {
    ::parquet::BloomFilterOptions bloom_filter;
    bloom_filter.ndv = static_cast<int32_t>(kDistinctValues);
    bloom_filter.fpp = kFalsePositives;
    std::shared_ptr<::parquet::SchemaDescriptor> leaves;
    ARROW_RETURN_NOT_OK(
        ::parquet::arrow::ToParquetSchema(input.schema.get(), *::parquet::default_writer_properties(), &leaves));
    for (int i = 0; i < leaves->num_columns(); ++i) {
      if (leaves->Column(i)->physical_type() == ::parquet::Type::BOOLEAN) continue;
      builder.enable_bloom_filter(leaves->Column(i)->path(), bloom_filter);
    }
  } else if (name == "plain" || name == "delta_byte_array") {
    builder.disable_dictionary();
    if (name != "plain") builder.encoding(::parquet::Encoding::DELTA_BYTE_ARRAY);
  } else if (name == "number_distinct_values") {
    return arrow::Status::NotImplemented("libparquet does not count distinct values");
  }
  return builder.build();
}

arrow::Status WriteWithArrow(const WriteArguments& arguments, const Input& input,
                             const std::shared_ptr<CountingStream>& sink) {
  ARROW_ASSIGN_OR_RAISE(const auto properties, ArrowProperties(arguments.option, input));
  ::parquet::ArrowWriterProperties::Builder arrow_builder;
  arrow_builder.store_schema()->set_use_threads(arguments.threads > 1);
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        ::parquet::arrow::FileWriter::Open(*input.schema, arrow::default_memory_pool(), sink,
                                                           properties, arrow_builder.build()));
  for (const auto& batch : input.batches) {
    ARROW_RETURN_NOT_OK(writer->NewBufferedRowGroup());
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  }
  return writer->Close();
}

/// Bytes that were written.
arrow::Result<int64_t> WriteOnce(const WriteArguments& arguments, const Input& input,
                                 std::shared_ptr<arrow::io::OutputStream> behind) {
  const auto sink = std::make_shared<CountingStream>(std::move(behind));
  ARROW_RETURN_NOT_OK(arguments.writer == "arrow" ? WriteWithArrow(arguments, input, sink)
                                                  : WriteWithCalve(arguments, input, sink.get()));
  ARROW_RETURN_NOT_OK(sink->Close());
  return sink->Tell();
}

arrow::Result<double> TimeRound(const WriteArguments& arguments, const Input& input) {
  const auto started = std::chrono::steady_clock::now();
  ARROW_RETURN_NOT_OK(WriteOnce(arguments, input, nullptr).status());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
}

arrow::Status Run(const WriteArguments& arguments) {
  if (arguments.writer != "calve" && arguments.writer != "arrow") {
    return arrow::Status::Invalid("--writer wants calve or arrow, got '", arguments.writer, "'");
  }
  ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(arguments.threads));
  ARROW_ASSIGN_OR_RAISE(const Input input, Load(arguments.file));
  std::shared_ptr<arrow::io::OutputStream> out;
  if (!arguments.out.empty()) {
    ARROW_ASSIGN_OR_RAISE(out, arrow::io::FileOutputStream::Open(arguments.out));
  }
  ARROW_ASSIGN_OR_RAISE(const int64_t written, WriteOnce(arguments, input, out));
  const std::string facts = fmt::format("rows={} input_bytes={} output_bytes={}", input.rows, input.bytes, written);
  return TimeRounds(facts, arguments.serve, arguments.rounds, [&] { return TimeRound(arguments, input); });
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const auto arguments = calve::bench::ParseWriteArguments(argc, argv);
  const arrow::Status status = arguments.ok() ? calve::bench::Run(*arguments) : arguments.status();
  if (!status.ok()) std::cerr << "calve_peer_write: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
