#include "calve/shuffle/row_slab.h"

#include "json_arrays.h"
#include "random_array.h"
#include "test_data.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace calve::shuffle {
namespace {

constexpr int32_t kPartitions = 7;

std::vector<uint32_t> RandomPartitions(size_t rows, std::mt19937_64& random) {
  std::vector<uint32_t> partitions(rows);
  for (uint32_t& partition : partitions) partition = static_cast<uint32_t>(random() % kPartitions);
  return partitions;
}

/// The slab of `slices`, in memory of exactly the size that was asked for; what lies behind must stay as it is.
std::shared_ptr<arrow::RecordBatch> Build(const std::vector<BatchSlice>& slices, const RowOrder& order) {
  int64_t size = SlabBuilder::kSlackBytes;
  for (const auto& slice : slices) size += SlabBuilder::SizeOf(*slice.batch, slice.first, slice.count);
  constexpr int64_t kGuard = 64;
  std::shared_ptr<arrow::Buffer> memory = arrow::AllocateBuffer(size + kGuard).ValueOrDie();
  std::fill_n(memory->mutable_data(), size + kGuard, 0xaa);
  auto slab = SlabBuilder::Build(slices, order, {arrow::SliceMutableBuffer(memory, 0, size), true});
  EXPECT_TRUE(slab.ok()) << slab.status();
  for (int64_t i = size; i < size + kGuard; ++i) EXPECT_EQ(memory->data()[i], 0xaa);
  return slab.ValueOr(nullptr);
}

/// What Arrow makes of it: the slices one after another, and then the rows in a stable order.
std::shared_ptr<arrow::Array> Expected(const std::vector<BatchSlice>& slices, const std::vector<uint32_t>& partitions) {
  arrow::ArrayVector parts;
  for (const auto& slice : slices) parts.push_back(slice.batch->column(0)->Slice(slice.first, slice.count));
  std::vector<uint32_t> rows(partitions.size());
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::sort(rows, {}, [&](uint32_t row) { return std::pair(partitions[row], row); });
  const arrow::UInt32Array indices(static_cast<int64_t>(rows.size()), arrow::Buffer::Wrap(rows));
  return arrow::compute::Take(*arrow::Concatenate(parts).ValueOrDie(), indices).ValueOrDie();
}

void Check(const std::vector<BatchSlice>& slices, std::mt19937_64& random) {
  int64_t rows = 0;
  for (const auto& slice : slices) rows += slice.count;
  const auto partitions = RandomPartitions(static_cast<size_t>(rows), random);
  RowOrder order;
  ASSERT_TRUE(order.Sort(partitions, kPartitions).ok());
  const auto slab = Build(slices, order);
  ASSERT_NE(slab, nullptr);
  ASSERT_TRUE(slab->ValidateFull().ok()) << slab->ValidateFull();
  const auto expected = Expected(slices, partitions);
  EXPECT_TRUE(slab->column(0)->Equals(expected, arrow::EqualOptions::Defaults().nans_equal(true)))
      << slab->column(0)->ToString() << expected->ToString();
  EXPECT_EQ(slab->column(0)->null_count(), expected->null_count());
}

TEST(RowSlab, RandomRowsOfRandomArraysAsArrowTakesThem) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const arrow::DataTypeVector types = {
      arrow::boolean(),
      arrow::int8(),
      arrow::uint16(),
      arrow::float32(),
      arrow::int64(),
      arrow::decimal128(38, 4),
      arrow::decimal256(70, 4),
      arrow::fixed_size_binary(5),
      arrow::utf8(),
      arrow::large_binary(),

      arrow::struct_({arrow::field("a", arrow::utf8()),
                      arrow::field("b", arrow::struct_({arrow::field("c", arrow::int16())})),
                      arrow::field("d", arrow::boolean())})};
  const int rounds = testing::LongTests() ? 300 : 8;
  for (int seed = 0; seed < rounds; ++seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    testing::RandomArrays arrays(static_cast<uint64_t>(seed), {.null_probability = seed % 3 * 0.2});
    for (const auto& type : types) {
      SCOPED_TRACE(fmt::format("{} seed {}", type->ToString(), seed));
      ASSERT_TRUE(SlabBuilder::Supports(*type));
      const auto schema = arrow::schema({arrow::field("c", type)});
      std::vector<BatchSlice> slices;
      for (int i = 0; i < 4; ++i) {
        const auto rows = static_cast<int64_t>(random() % 100);
        const auto batch = arrow::RecordBatch::Make(schema, rows, {arrays.Make(*schema->field(0), rows)});
        const auto first = rows == 0 ? 0 : static_cast<int64_t>(random() % static_cast<uint64_t>(rows));
        slices.push_back({batch, first, static_cast<int64_t>(random() % static_cast<uint64_t>(rows - first + 1))});
      }
      Check(slices, random);
    }
  }
}

// Texts are copied by chunks of 16, 32 or 64 bytes: lengths around those, alone and among others, at the end of a
// buffer.
TEST(RowSlab, TextsOfEveryLength) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto schema = arrow::schema({arrow::field("c", arrow::utf8())});
  std::mt19937_64 random(7);
  for (const size_t usual : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300}) {
    for (const size_t rare : {0, 64, 1000}) {
      arrow::StringBuilder builder;
      for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(builder.Append(std::string(i % 20 == 19 ? rare : usual, static_cast<char>('a' + i % 26))).ok());
      }
      const auto batch = arrow::RecordBatch::Make(schema, 50, {builder.Finish().ValueOrDie()});
      Check({{batch, 0, 50}}, random);
      Check({{batch, 3, 40}, {batch, 0, 0}, {batch, 10, 7}}, random);
    }
  }
}

TEST(RowSlab, DictionariesMustBeTheSame) {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const auto entries = testing::Array(arrow::utf8(), R"(["a", "b"])");
  const auto batch = [&](const std::shared_ptr<arrow::Array>& dictionary, const char* indices) {
    auto column = arrow::DictionaryArray::FromArrays(type, testing::Array(arrow::int8(), indices), dictionary);
    return arrow::RecordBatch::Make(arrow::schema({arrow::field("d", type)}), 3, {column.ValueOrDie()});
  };
  const auto first = batch(entries, "[0, 1, null]"), second = batch(entries, "[1, 1, 0]");
  const auto other = batch(testing::Array(arrow::utf8(), R"(["a", "b"])"), "[0, 1, 0]");
  EXPECT_TRUE(SlabBuilder::FitTogether(*first, *second));
  EXPECT_FALSE(SlabBuilder::FitTogether(*first, *other));
  RowOrder order;
  ASSERT_TRUE(order.Sort(std::vector<uint32_t>{1, 0, 1, 0, 1, 0}, 2).ok());
  const auto slab = Build({{first, 0, 3}, {second, 0, 3}}, order);
  ASSERT_NE(slab, nullptr);
  const auto& column = static_cast<const arrow::DictionaryArray&>(*slab->column(0));
  EXPECT_TRUE(column.indices()->Equals(testing::Array(arrow::int8(), "[1, 1, 0, 0, null, 1]")));
  EXPECT_TRUE(column.dictionary()->Equals(entries));
}

TEST(RowSlab, TypesThatAreNotPutInOrderSo) {
  const auto list = arrow::list(arrow::int32());
  for (const auto& type : {list, arrow::utf8_view(), arrow::null(), arrow::struct_({arrow::field("a", list)})}) {
    EXPECT_FALSE(SlabBuilder::Supports(*type)) << type->ToString();
  }
}

TEST(RowSlab, MemoryThatIsTooSmallIsNotWrittenBehind) {
  const auto batch = testing::Batch(arrow::schema({arrow::field("a", arrow::int64())}), "[[1], [2], [3]]");
  RowOrder order;
  ASSERT_TRUE(order.Sort(std::vector<uint32_t>{0, 0, 0}, 1).ok());
  std::shared_ptr<arrow::Buffer> memory = arrow::AllocateBuffer(SlabBuilder::kSlackBytes + 23).ValueOrDie();
  const std::vector<BatchSlice> slices = {{batch, 0, 3}};
  EXPECT_TRUE(SlabBuilder::Build(slices, order, {memory, false}).status().IsInvalid());
}

}  // namespace
}  // namespace calve::shuffle
