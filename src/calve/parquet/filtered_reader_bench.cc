#include "calve/expr/evaluate.h"
#include "calve/parquet_reader.h"

#include <arrow/builder.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <numeric>
#include <random>

// A filter that keeps a part of the rows: runs of so many rows, or all in one place. By each way of selection, beside a
// read of all rows that is filtered afterwards.

namespace calve::parquet {
namespace {

constexpr int64_t kRows = 2'000'000;

/// Columns sorted, and scattered in runs of 1, 4 and 32 rows, of per mille; a text, a number and a real to be read.
std::shared_ptr<arrow::Buffer> MakeFile() {
  std::mt19937_64 random(1);
  arrow::Int32Builder sorted, runs1, runs4, runs32;
  arrow::StringBuilder text;
  arrow::Int64Builder number;
  arrow::DoubleBuilder real;
  int32_t four = 0, thirty_two = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    if (i % 4 == 0) four = static_cast<int32_t>(random() % 1000);
    if (i % 32 == 0) thirty_two = static_cast<int32_t>(random() % 1000);
    bool ok = sorted.Append(static_cast<int32_t>(i * 1000 / kRows)).ok();
    ok = ok && runs1.Append(static_cast<int32_t>(random() % 1000)).ok() && runs4.Append(four).ok();
    ok = ok && runs32.Append(thirty_two).ok() && text.Append(fmt::format("text number {}", random() % 100000)).ok();
    ok = ok && number.Append(static_cast<int64_t>(random())).ok();
    ok = ok && real.Append(static_cast<double>(random() % 10000) / 8).ok();
    if (!ok) std::abort();
  }
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  const auto add = [&](const char* name, arrow::ArrayBuilder& builder) {
    columns.push_back(builder.Finish().ValueOrDie());
    fields.push_back(arrow::field(name, columns.back()->type()));
  };
  add("sorted", sorted);
  add("runs1", runs1);
  add("runs4", runs4);
  add("runs32", runs32);
  add("text", text);
  add("number", number);
  add("real", real);
  auto properties = ::parquet::WriterProperties::Builder()
                        .enable_write_page_index()
                        ->compression(::parquet::Compression::ZSTD)
                        ->disable_dictionary("text")
                        ->disable_dictionary("number")
                        ->max_row_group_length(500'000)
                        ->build();
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto table = arrow::Table::Make(arrow::schema(fields), columns);
  if (!::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 500'000, properties).ok()) std::abort();
  return sink->Finish().ValueOrDie();
}

const std::shared_ptr<arrow::Buffer>& File() {
  static const auto file = MakeFile();
  return file;
}

constexpr const char* kColumns[] = {"sorted", "runs1", "runs4", "runs32"};

std::shared_ptr<ParquetReader> Open(const ParquetSelectionOptions& selection) {
  ParquetReadOptions options;
  options.selection = selection;
  Context context;
  context.threads = 1;
  return ParquetReader::Open(std::make_shared<arrow::io::BufferReader>(File()), "x", options, context).ValueOrDie();
}

ParquetReadRequest RequestOf(const ParquetReader& reader, const benchmark::State& state) {
  ParquetReadRequest request;
  for (const char* column : {"text", "number", "real"}) {
    for (int leaf : reader.LeavesOf(column).ValueOrDie()) request.leaves.push_back(leaf);
  }
  const std::string filter = fmt::format("{} < {}", kColumns[state.range(0)], state.range(1));
  request.filter = Expression::Parse(filter).ValueOrDie();
  return request;
}

void ReadBy(benchmark::State& state, const ParquetSelectionOptions& selection) {
  const auto reader = Open(selection);
  const auto request = RequestOf(*reader, state);
  int64_t rows = 0;
  for (auto _ : state) {
    rows = 0;
    const auto batches = reader->Read(request).ValueOrDie();
    while (const auto batch = batches->Next().ValueOrDie()) rows += batch->num_rows();
  }
  state.SetLabel(fmt::format("{} rows by {}", rows, kColumns[state.range(0)]));
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int column : {0, 1, 2, 3}) {
    for (const int per_mille : {1, 10, 30, 100, 300, 500}) benchmark->Args({column, per_mille});
  }
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}

void BM_SelectByAll(benchmark::State& state) { ReadBy(state, {}); }
BENCHMARK(BM_SelectByAll)->Apply(Shapes);

void BM_SelectByMaskOnly(benchmark::State& state) { ReadBy(state, {false, false, false, false, false}); }
BENCHMARK(BM_SelectByMaskOnly)->Apply(Shapes);

void BM_SelectLateOnly(benchmark::State& state) { ReadBy(state, {false, false, false, false, true}); }
BENCHMARK(BM_SelectLateOnly)->Apply(Shapes);

}  // namespace
}  // namespace calve::parquet
