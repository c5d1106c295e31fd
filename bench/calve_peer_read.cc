// Reads Parquet files to Arrow, with calve or with libparquet, and says how long it took:
//
//   calve_peer_read [--rounds N] [--threads T] [--columns a,b] [--batch-rows N] [--strings utf8|view|dictionary]
//   [--keep]
//                   [--reader calve|arrow] [--filter 'column<integer'] [--footer-cache] [--serve] FILE...
//
// An untimed round computes the checksum (bench/support/checksum.h). A timed round opens the files anew, reads all
// batches and drops each, or keeps them all until the time is taken (--keep); with --footer-cache calve opens them with
// the footers of earlier rounds. --serve answers every line on stdin with the milliseconds of one round, so that a
// script can alternate between readers.

#include "calve/expression.h"
#if __has_include("calve/parquet_footer_cache.h")
#include "calve/parquet_footer_cache.h"
#endif
#include "calve/parquet_reader.h"
#include "support/arguments.h"
#include "support/checksum.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/reader.h>
#include <parquet/schema.h>

#include <chrono>
#include <iostream>

namespace calve::bench {
namespace {

using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;
using Sink = std::function<arrow::Status(std::shared_ptr<arrow::RecordBatch>)>;

/// Sets how strings come out. NotImplemented where the reader has no such option.
template <typename Options>
arrow::Status SetStrings(const std::string& form, Options* options) {
  if constexpr (requires { options->strings; }) {
    using Output = decltype(options->strings);
    if (form == "utf8") {
      options->strings = Output::kUtf8;
      return arrow::Status::OK();
    }
    if (form == "view") {
      options->strings = Output::kUtf8View;
      return arrow::Status::OK();
    }
    if (form == "dictionary") {
      options->strings = Output::kDictionary;
      return arrow::Status::OK();
    }
  }
  if (form == "utf8") return arrow::Status::OK();
  return arrow::Status::NotImplemented("calve reads strings to utf8 only, not to ", form);
}

/// Lets the rounds share footers. NotImplemented where the reader has no such option.
template <typename Options>
arrow::Status SetFooterCache(Options* options) {
  if constexpr (requires { options->footer_cache; }) {
    options->footer_cache = std::make_shared<typename decltype(options->footer_cache)::element_type>();
    return arrow::Status::OK();
  }
  return arrow::Status::NotImplemented("calve keeps no footers");
}

/// What all rounds share.
struct Request {
  Arguments arguments;
  ParquetReadOptions options;
  Expression filter;
};

arrow::Result<Request> MakeRequest(const Arguments& arguments) {
  Request request{arguments, {}, {}};
  if (arguments.reader != "calve" && arguments.reader != "arrow") {
    return arrow::Status::Invalid("--reader wants calve or arrow, got '", arguments.reader, "'");
  }
  if (arguments.reader == "arrow" && (!arguments.filter.empty() || arguments.footer_cache)) {
    return arrow::Status::NotImplemented("--reader arrow has no --filter and no --footer-cache");
  }
  request.options.batch_rows = arguments.batch_rows;
  if (arguments.reader == "calve") ARROW_RETURN_NOT_OK(SetStrings(arguments.strings, &request.options));
  if (arguments.footer_cache) ARROW_RETURN_NOT_OK(SetFooterCache(&request.options));
  if (!arguments.filter.empty()) {
    ARROW_ASSIGN_OR_RAISE(request.filter, Expression::Parse(arguments.filter));
  }
  return request;
}

arrow::Status Drain(arrow::RecordBatchReader* reader, const Sink& sink) {
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(sink(std::move(batch)));
  }
}

/// The leaves of the named columns; of all without names.
arrow::Result<std::vector<int>> LeavesOf(const ParquetReader& file, std::vector<std::string> columns) {
  if (columns.empty()) columns = file.schema()->field_names();
  std::vector<int> leaves;
  for (const std::string& column : columns) {
    ARROW_ASSIGN_OR_RAISE(const auto some, file.LeavesOf(column));
    leaves.insert(leaves.end(), some.begin(), some.end());
  }
  std::sort(leaves.begin(), leaves.end());
  return leaves;
}

arrow::Status ReadFiltered(const Request& request, const ParquetReader& file, const Sink& sink) {
  ParquetReadRequest rows;
  ARROW_ASSIGN_OR_RAISE(rows.leaves, LeavesOf(file, request.arguments.columns));
  rows.filter = request.filter;
  ARROW_ASSIGN_OR_RAISE(const auto reader, file.Read(rows));
  for (;;) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
    if (batch == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(sink(std::move(batch)));
  }
}

arrow::Status ReadWithCalve(const Request& request, const std::string& path, const Sink& sink) {
  Context context;
  context.threads = request.arguments.threads;
  ARROW_ASSIGN_OR_RAISE(const auto file, ParquetReader::Open(path, request.options, context));
  if (!request.filter.always_true()) return ReadFiltered(request, *file, sink);
  ARROW_ASSIGN_OR_RAISE(const auto reader, file->ReadAll(request.arguments.columns));
  return Drain(reader.get(), sink);
}

/// The leaves under the named columns.
std::vector<int> LeavesOf(const ::parquet::SchemaDescriptor& schema, const std::vector<std::string>& columns) {
  std::vector<int> leaves;
  for (int i = 0; i < schema.num_columns(); ++i) {
    const std::string path = schema.Column(i)->path()->ToDotString() + ".";
    const auto above = [&](const std::string& column) { return path.starts_with(column + "."); };
    if (columns.empty() || std::any_of(columns.begin(), columns.end(), above)) leaves.push_back(i);
  }
  return leaves;
}

arrow::Result<::parquet::ArrowReaderProperties> ArrowProperties(const Arguments& arguments,
                                                                const ::parquet::SchemaDescriptor& schema) {
  ::parquet::ArrowReaderProperties properties(/*use_threads=*/arguments.threads > 1);
  properties.set_batch_size(arguments.batch_rows);
  if (arguments.strings == "view") {
    properties.set_binary_type(arrow::Type::BINARY_VIEW);
  } else if (arguments.strings == "dictionary") {
    for (int i = 0; i < schema.num_columns(); ++i) {
      properties.set_read_dictionary(i, schema.Column(i)->physical_type() == ::parquet::Type::BYTE_ARRAY);
    }
  } else if (arguments.strings != "utf8") {
    return arrow::Status::Invalid("no string form ", arguments.strings);
  }
  return properties;
}

arrow::Status ReadWithArrow(const Arguments& arguments, const std::string& path, const Sink& sink) {
  ARROW_ASSIGN_OR_RAISE(auto source, arrow::io::ReadableFile::Open(path));
  auto file = ::parquet::ParquetFileReader::Open(std::move(source));
  const auto leaves = LeavesOf(*file->metadata()->schema(), arguments.columns);
  ARROW_ASSIGN_OR_RAISE(const auto properties, ArrowProperties(arguments, *file->metadata()->schema()));
  std::vector<int> row_groups(static_cast<size_t>(file->metadata()->num_row_groups()));
  for (size_t i = 0; i < row_groups.size(); ++i) row_groups[i] = static_cast<int>(i);
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        ::parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(file), properties));
  ARROW_ASSIGN_OR_RAISE(const auto batches, reader->GetRecordBatchReader(row_groups, leaves));
  return Drain(batches.get(), sink);
}

arrow::Status ReadFiles(const Request& request, const Sink& sink) {
  for (const std::string& path : request.arguments.files) {
    ARROW_RETURN_NOT_OK(request.arguments.reader == "arrow" ? ReadWithArrow(request.arguments, path, sink)
                                                            : ReadWithCalve(request, path, sink));
  }
  return arrow::Status::OK();
}

/// Milliseconds of one round.
arrow::Result<double> TimeRound(const Request& request) {
  Batches kept;
  const auto started = std::chrono::steady_clock::now();
  ARROW_RETURN_NOT_OK(ReadFiles(request, [&](std::shared_ptr<arrow::RecordBatch> batch) {
    if (request.arguments.keep) kept.push_back(std::move(batch));
    return arrow::Status::OK();
  }));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
}

arrow::Status Serve(const Request& request) {
  for (std::string line; std::getline(std::cin, line);) {
    ARROW_ASSIGN_OR_RAISE(const double milliseconds, TimeRound(request));
    std::cout << fmt::format("ms={:.4f}", milliseconds) << std::endl;
  }
  return arrow::Status::OK();
}

arrow::Status Run(const Arguments& arguments) {
  ARROW_ASSIGN_OR_RAISE(const Request request, MakeRequest(arguments));
  ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(std::max(arguments.threads, 1)));
  Checksum checksum;
  ARROW_RETURN_NOT_OK(
      ReadFiles(request, [&](const std::shared_ptr<arrow::RecordBatch>& batch) { return checksum.Add(*batch); }));
  if (arguments.serve) {
    std::cout << fmt::format("rows={} bytes={} checksum={:016x}", checksum.rows(), checksum.bytes(), checksum.sum())
              << std::endl;
    return Serve(request);
  }
  std::vector<double> times(static_cast<size_t>(arguments.rounds));
  for (double& time : times) {
    ARROW_ASSIGN_OR_RAISE(time, TimeRound(request));
  }
  std::cout << fmt::format("rows={} bytes={} median_ms={:.3f} checksum={:016x}", checksum.rows(), checksum.bytes(),
                           Median(times), checksum.sum())
            << std::endl;
  return arrow::Status::OK();
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const auto arguments = calve::bench::ParseArguments(argc, argv);
  const arrow::Status status = arguments.ok() ? calve::bench::Run(*arguments) : arguments.status();
  if (!status.ok()) std::cerr << "calve_peer_read: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
