#include "calve/parquet/footer.h"
#include "calve/parquet_footer_cache.h"
#include "calve/parquet_reader.h"

#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

// Opening wide files and reading one of their columns. The files are those of bench/wide_files.py, in the folder that
// CALVE_WIDE_FILES names.

namespace calve::parquet {
namespace {

/// The file of `state`'s columns and row groups; "" when it is not there.
std::string WideFile(benchmark::State& state) {
  const char* folder = std::getenv("CALVE_WIDE_FILES");
  std::string path = fmt::format("{}/wide-{}-{}.parquet", folder ? folder : "", state.range(0), state.range(1));
  if (folder != nullptr && std::filesystem::exists(path)) return path;
  state.SkipWithError("no files: see CALVE_WIDE_FILES");
  return "";
}

void Shapes(benchmark::internal::Benchmark* benchmark) {
  for (const int columns : {10, 1000, 10000}) {
    for (const int groups : {1, 10}) benchmark->Args({columns, groups});
  }
  benchmark->Unit(benchmark::kMicrosecond);
}

int64_t ReadOne(const std::string& path, const std::string& column, const ParquetReadOptions& options) {
  const auto file = ParquetReader::Open(path, options).ValueOrDie();
  const auto batches = file->ReadAll({column}).ValueOrDie();
  int64_t rows = 0;
  while (const auto batch = batches->Next().ValueOrDie()) rows += batch->num_rows();
  return rows;
}

void BM_FooterReadOneColumn(benchmark::State& state) {
  const std::string path = WideFile(state);
  if (path.empty()) return;
  const std::string column = fmt::format("column_{}", state.range(0) - 5);
  for (auto _ : state) benchmark::DoNotOptimize(ReadOne(path, column, {}));
}
BENCHMARK(BM_FooterReadOneColumn)->Apply(Shapes);

void BM_FooterReadOneColumnCached(benchmark::State& state) {
  const std::string path = WideFile(state);
  if (path.empty()) return;
  const std::string column = fmt::format("column_{}", state.range(0) - 5);
  ParquetReadOptions options;
  options.footer_cache = std::make_shared<ParquetFooterCache>();
  for (auto _ : state) benchmark::DoNotOptimize(ReadOne(path, column, options));
}
BENCHMARK(BM_FooterReadOneColumnCached)->Apply(Shapes);

void BM_FooterRead(benchmark::State& state) {
  const std::string path = WideFile(state);
  if (path.empty()) return;
  const auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  for (auto _ : state) benchmark::DoNotOptimize(Footer::Read(file.get()).ValueOrDie());
}
BENCHMARK(BM_FooterRead)->Apply(Shapes);

void BM_FooterIndex(benchmark::State& state) {
  const std::string path = WideFile(state);
  if (path.empty()) return;
  const auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  const auto bytes = Footer::Read(file.get()).ValueOrDie()->index().buffer();
  for (auto _ : state) benchmark::DoNotOptimize(FooterIndex::Make(bytes).ValueOrDie());
  state.SetBytesProcessed(state.iterations() * bytes->size());
}
BENCHMARK(BM_FooterIndex)->Apply(Shapes);

void BM_FooterParseAll(benchmark::State& state) {
  const std::string path = WideFile(state);
  if (path.empty()) return;
  const auto file = arrow::io::ReadableFile::Open(path).ValueOrDie();
  const auto stored = Footer::Read(file.get()).ValueOrDie()->stored();
  for (auto _ : state) {
    const Footer footer(stored);
    benchmark::DoNotOptimize(footer.metadata().row_groups.size() + footer.schema().leaves.size());
  }
}
BENCHMARK(BM_FooterParseAll)->Apply(Shapes);

}  // namespace
}  // namespace calve::parquet
