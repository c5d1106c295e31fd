// Times calve's definition levels of a flat nullable column of 2^20 rows alone. A line a density:
//
//   calve_bench_levels [--rounds N]
//   null_percent=25 copy_us=… levels_us=… bytes=…
//
// copy: a memcpy of a validity bitmap; levels: from the Arrow array to the level stream of one page. Microseconds of
// CPU time, medians of rounds that alternate between the two. The null rows are those of `arrow_rs_peer_write
// --levels`.

#include "calve/parquet/level_encoder.h"
#include "calve/parquet/levels_writer.h"
#include "support/arguments.h"

#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string_view>
#include <vector>

namespace calve::bench {
namespace {

constexpr int64_t kRows = 1 << 20;

bool IsNull(int64_t row, uint64_t percent) {
  uint64_t value = (static_cast<uint64_t>(row) + 42) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return (value ^ (value >> 31)) % 100 < percent;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> Numbers(uint64_t null_percent) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bits, arrow::AllocateEmptyBitmap(kRows));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> values, arrow::AllocateBuffer(kRows * 4));
  int64_t nulls = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const bool is_null = IsNull(row, null_percent);
    nulls += is_null ? 1 : 0;
    arrow::bit_util::SetBitTo(bits->mutable_data(), row, !is_null);
  }
  return arrow::ArrayData::Make(arrow::int32(), kRows, {std::move(bits), std::move(values)}, nulls);
}

double CpuMicroseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// The array's levels, from the array on.
arrow::Status EncodeLevels(const arrow::ArrayData& array, parquet::LevelsWriter* levels, parquet::LeafSlots* slots,
                           parquet::LevelEncoder* encoder, parquet::ByteBuffer* out) {
  out->Clear();
  ARROW_RETURN_NOT_OK(levels->Bind(array));
  ARROW_RETURN_NOT_OK(levels->Build(0, kRows, slots));
  if (slots->validity == nullptr) {
    ARROW_RETURN_NOT_OK(encoder->AppendRun(slots->all_null ? 0 : 1, kRows));
  } else {
    ARROW_RETURN_NOT_OK(encoder->AppendBits(slots->validity, slots->validity_offset, kRows));
  }
  ARROW_RETURN_NOT_OK(encoder->Flush(out));
  levels->Unbind();
  return arrow::Status::OK();
}

arrow::Status Report(uint64_t null_percent, int rounds) {
  ARROW_ASSIGN_OR_RAISE(const auto array, Numbers(null_percent));
  ARROW_ASSIGN_OR_RAISE(const auto schema,
                        parquet::WrittenSchema::Make(*arrow::schema({arrow::field("x", arrow::int32())})));
  arrow::MemoryPool* pool = arrow::default_memory_pool();
  parquet::LevelsWriter levels(&schema.leaves[0], pool);
  parquet::LeafSlots slots(pool);
  parquet::LevelEncoder encoder(/*max_level=*/1, pool);
  parquet::ByteBuffer out(pool), copy(pool);
  const std::vector<uint8_t> bitmap(kRows / 8, 1);
  std::vector<double> copies, encodings;
  for (int round = 0; round <= rounds; ++round) {
    const double begin = CpuMicroseconds();
    copy.Clear();
    ARROW_RETURN_NOT_OK(copy.Append(bitmap.data(), static_cast<int64_t>(bitmap.size())));
    const double copied = CpuMicroseconds();
    ARROW_RETURN_NOT_OK(EncodeLevels(*array, &levels, &slots, &encoder, &out));
    const double encoded = CpuMicroseconds();
    if (round == 0) continue;
    copies.push_back(copied - begin);
    encodings.push_back(encoded - copied);
  }
  std::cout << fmt::format("null_percent={} copy_us={:.1f} levels_us={:.1f} bytes={}\n", null_percent, Median(copies),
                           Median(encodings), out.size());
  return arrow::Status::OK();
}

arrow::Status Run(int argc, char** argv) {
  const bool has_rounds = argc == 3 && std::string_view(argv[1]) == "--rounds";
  const int rounds = has_rounds ? std::atoi(argv[2]) : 101;
  if (rounds < 1 || (argc > 1 && !has_rounds)) return arrow::Status::Invalid("usage: calve_bench_levels [--rounds N]");
  for (const uint64_t percent : {0, 1, 10, 25, 50, 75, 90, 99, 100}) {
    ARROW_RETURN_NOT_OK(Report(percent, rounds));
  }
  return arrow::Status::OK();
}

}  // namespace
}  // namespace calve::bench

int main(int argc, char** argv) {
  const arrow::Status status = calve::bench::Run(argc, argv);
  if (!status.ok()) std::cerr << "calve_bench_levels: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
