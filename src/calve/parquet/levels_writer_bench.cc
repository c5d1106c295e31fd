#include "calve/parquet/level_encoder.h"
#include "calve/parquet/levels_writer.h"

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>

// Levels alone, 2^20 rows: from Arrow arrays to the streams of pages of 20,000 rows. The first argument is the nulls in
// a thousand. BM_CopyBitmap, a memcpy of the bitmap, is what the others compare with.

namespace calve::parquet {
namespace {

constexpr int64_t kRows = 1 << 20, kPageRows = 20000;

std::shared_ptr<arrow::Buffer> Bitmap(int64_t count, int64_t null_permille) {
  std::shared_ptr<arrow::Buffer> bits = arrow::AllocateEmptyBitmap(count).ValueOrDie();
  std::mt19937_64 random(42);
  for (int64_t i = 0; i < count; ++i) {
    arrow::bit_util::SetBitTo(bits->mutable_data(), i, static_cast<int64_t>(random() % 1000) >= null_permille);
  }
  return bits;
}

std::shared_ptr<arrow::ArrayData> Numbers(int64_t count, int64_t null_permille) {
  std::shared_ptr<arrow::Buffer> values = arrow::AllocateBuffer(count * 4).ValueOrDie();
  return arrow::ArrayData::Make(arrow::int32(), count, {Bitmap(count, null_permille), values},
                                arrow::kUnknownNullCount);
}

std::shared_ptr<arrow::ArrayData> Lists(int64_t null_permille) {
  std::shared_ptr<arrow::Buffer> offsets = arrow::AllocateBuffer((kRows + 1) * 4).ValueOrDie();
  auto* next = reinterpret_cast<int32_t*>(offsets->mutable_data());
  std::mt19937_64 random(43);
  next[0] = 0;
  for (int64_t i = 0; i < kRows; ++i) next[i + 1] = next[i] + static_cast<int32_t>(random() % 6);
  return arrow::ArrayData::Make(arrow::list(arrow::int32()), kRows, {Bitmap(kRows, null_permille), offsets},
                                {Numbers(next[kRows], null_permille)}, arrow::kUnknownNullCount);
}

void WriteLevels(benchmark::State& state, const std::shared_ptr<arrow::ArrayData>& array) {
  const auto schema = WrittenSchema::Make(*arrow::schema({arrow::field("c", array->type)})).ValueOrDie();
  const WrittenLeaf& leaf = schema.leaves.back();
  arrow::MemoryPool* pool = arrow::default_memory_pool();
  LevelsWriter levels(&leaf, pool);
  LeafSlots slots(pool);
  LevelEncoder definition(leaf.column.max_definition_level, pool), repetition(leaf.column.max_repetition_level, pool);
  ByteBuffer out(pool);
  int64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    benchmark::DoNotOptimize(levels.Bind(*array).ok());
    for (int64_t page = 0; page < kRows; page += kPageRows) {
      const int64_t page_end = std::min(page + kPageRows, kRows);
      const int64_t step = leaf.steps.size() == 1 ? kPageRows : 2048;
      for (int64_t row = page; row < page_end; row += step) {
        benchmark::DoNotOptimize(levels.Build(row, std::min(step, page_end - row), &slots).ok());
        if (!slots.flat) {
          benchmark::DoNotOptimize(repetition.Append(slots.repetition_planes).ok());
          benchmark::DoNotOptimize(definition.Append(slots.definition_planes).ok());
        } else if (slots.validity == nullptr) {
          benchmark::DoNotOptimize(definition.AppendRun(slots.all_null ? 0 : 1, slots.slot_count).ok());
        } else {
          benchmark::DoNotOptimize(definition.AppendBits(slots.validity, slots.validity_offset, slots.slot_count).ok());
        }
      }
      out.Clear();
      benchmark::DoNotOptimize(repetition.Flush(&out).ok() && definition.Flush(&out).ok());
      bytes += out.size();
    }
  }
  state.counters["bytes"] = static_cast<double>(bytes);
  state.SetItemsProcessed(state.iterations() * kRows);
}

void BM_CopyBitmap(benchmark::State& state) {
  const auto bits = Bitmap(kRows, 500);
  std::vector<uint8_t> out(static_cast<size_t>(bits->size()));
  for (auto _ : state) {
    std::memcpy(out.data(), bits->data(), out.size());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_CopyBitmap)->Unit(benchmark::kMicrosecond);

void Densities(benchmark::internal::Benchmark* benchmark) {
  for (const int permille : {0, 10, 100, 250, 500, 900, 990, 1000}) benchmark->Arg(permille);
  benchmark->Unit(benchmark::kMicrosecond);
}

void BM_FlatLevels(benchmark::State& state) { WriteLevels(state, Numbers(kRows, state.range(0))); }
BENCHMARK(BM_FlatLevels)->Apply(Densities);

void BM_SlicedFlatLevels(benchmark::State& state) {
  WriteLevels(state, Numbers(kRows + 5, state.range(0))->Slice(5, kRows));
}
BENCHMARK(BM_SlicedFlatLevels)->Apply(Densities);

void BM_StructLevels(benchmark::State& state) {
  WriteLevels(state, arrow::ArrayData::Make(arrow::struct_({arrow::field("x", arrow::int32())}), kRows,
                                            {Bitmap(kRows, state.range(0))}, {Numbers(kRows, state.range(0))},
                                            arrow::kUnknownNullCount));
}
BENCHMARK(BM_StructLevels)->Apply(Densities);

void BM_ListLevels(benchmark::State& state) { WriteLevels(state, Lists(state.range(0))); }
BENCHMARK(BM_ListLevels)->Apply(Densities);

}  // namespace
}  // namespace calve::parquet
