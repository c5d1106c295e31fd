#include "calve/parquet/levels_writer.h"

#include "random_array.h"

#include <arrow/array.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <gtest/gtest.h>

#include <random>

namespace calve::parquet {
namespace {

using arrow::field;
using testing::RandomArrays;

struct Levels {
  std::vector<int> definition, repetition;
  std::vector<int64_t> positions;  ///< of the values in the leaf's array
  bool operator==(const Levels&) const = default;
};

/// Levels by the letter of Dremel: one row, one slot at a time.
class PlainLevels {
 public:
  explicit PlainLevels(const WrittenLeaf& leaf) : leaf_(leaf) {}

  void Add(const arrow::ArrayData& array, int64_t i) { Visit(array, 0, i, 0, 0); }
  Levels levels;

 private:
  void Emit(int definition, int repetition) {
    levels.definition.push_back(definition);
    levels.repetition.push_back(repetition);
  }

  void Visit(const arrow::ArrayData& array, size_t depth, int64_t i, int repetition, int lists) {
    const PathStep& step = leaf_.steps[depth];
    const bool null =
        array.type->id() == arrow::Type::NA || (array.buffers[0] != nullptr && array.null_count != 0 &&
                                                !arrow::bit_util::GetBit(array.buffers[0]->data(), array.offset + i));
    if (null) return Emit(step.null_level, repetition);
    switch (step.kind) {
      case PathStep::Kind::kLeaf:
        levels.positions.push_back(i);
        return Emit(step.present_level, repetition);
      case PathStep::Kind::kStruct:
        return Visit(*array.child_data[step.child_index], depth + 1, array.offset + i, repetition, lists);
      case PathStep::Kind::kFixedSizeList:
        return VisitElements(array, depth, (array.offset + i) * step.list_size, step.list_size, repetition, lists);
      case PathStep::Kind::kLargeList: {
        const int64_t* offsets = array.GetValues<int64_t>(1) + i;
        return VisitElements(array, depth, offsets[0], offsets[1] - offsets[0], repetition, lists);
      }
      default: {
        const int32_t* offsets = array.GetValues<int32_t>(1) + i;
        return VisitElements(array, depth, offsets[0], offsets[1] - offsets[0], repetition, lists);
      }
    }
  }

  void VisitElements(const arrow::ArrayData& array, size_t depth, int64_t start, int64_t length, int repetition,
                     int lists) {
    if (length == 0) return Emit(leaf_.steps[depth].present_level, repetition);
    for (int64_t j = 0; j < length; ++j) {
      Visit(*array.child_data[0], depth + 1, start + j, j == 0 ? repetition : lists + 1, lists + 1);
    }
  }

  const WrittenLeaf& leaf_;
};

std::vector<int> LevelsOf(std::span<const BitPlane> planes, int64_t count) {
  std::vector<int> levels(static_cast<size_t>(count), 0);
  for (const BitPlane& plane : planes) {
    EXPECT_EQ(plane.size(), count);
    for (int64_t i = 0; i < count; ++i) {
      levels[static_cast<size_t>(i)] += arrow::bit_util::GetBit(plane.bytes(), i) ? 1 : 0;
    }
  }
  return levels;
}

Levels LevelsOf(const WrittenLeaf& leaf, const LeafSlots& slots) {
  Levels levels;
  levels.definition = LevelsOf(slots.definition_planes, slots.slot_count);
  levels.repetition = LevelsOf(slots.repetition_planes, slots.slot_count);
  if (slots.flat) {
    for (int64_t i = 0; i < slots.slot_count; ++i) {
      const bool valid = !slots.all_null && (slots.validity == nullptr ||
                                             arrow::bit_util::GetBit(slots.validity, slots.validity_offset + i));
      levels.definition[static_cast<size_t>(i)] = valid ? leaf.column.max_definition_level : 0;
    }
  }
  int64_t bit = slots.values.bits_offset;
  for (const SlotRange& range : slots.values.ranges) {
    for (int64_t i = 0; i < range.length && slots.values.count > 0; ++i, ++bit) {
      if (slots.values.bits != nullptr && !arrow::bit_util::GetBit(slots.values.bits, bit)) continue;
      levels.positions.push_back(range.start + i);
    }
  }
  EXPECT_EQ(static_cast<int64_t>(levels.positions.size()), slots.values.count);
  return levels;
}

LevelHistogram HistogramOf(const std::vector<int>& levels, int max_level) {
  LevelHistogram histogram(max_level == 0 ? 0 : static_cast<size_t>(max_level) + 1);
  for (int level : levels) {
    if (max_level > 0) ++histogram[static_cast<size_t>(level)];
  }
  return histogram;
}

std::shared_ptr<arrow::DataType> RandomType(std::mt19937_64* random, int depth) {
  const auto pick = [&](int count) { return static_cast<int>((*random)() % static_cast<uint64_t>(count)); };
  if (depth == 0) return pick(8) == 0 ? arrow::null() : arrow::int32();
  const auto child = field("x", RandomType(random, depth - 1), pick(3) != 0);
  switch (pick(5)) {
    case 0:
      return arrow::list(child);
    case 1:
      return arrow::large_list(child);
    case 2:
      return arrow::fixed_size_list(child, pick(4));
    case 3:
      return std::make_shared<arrow::MapType>(field("k", arrow::int32(), false), child);
    default:
      return arrow::struct_({child});
  }
}

void ExpectPlainLevels(const WrittenLeaf& leaf, const arrow::ArrayData& array, std::mt19937_64* random) {
  LevelsWriter writer(&leaf, arrow::default_memory_pool());
  LeafSlots slots(arrow::default_memory_pool());
  ASSERT_TRUE(writer.Bind(array).ok());
  for (int64_t row = 0; row < array.length;) {
    const int64_t count = std::min<int64_t>(array.length - row, 1 + static_cast<int64_t>((*random)() % 130));
    ASSERT_TRUE(writer.Build(row, count, &slots).ok());
    PlainLevels plain(leaf);
    for (int64_t i = row; i < row + count; ++i) plain.Add(array, i);
    EXPECT_EQ(slots.row_count, count);
    ASSERT_EQ(slots.slot_count, static_cast<int64_t>(plain.levels.definition.size()));
    ASSERT_EQ(LevelsOf(leaf, slots), plain.levels) << "rows from " << row;
    const int max_definition_level = leaf.column.max_definition_level;
    EXPECT_EQ(slots.definition_histogram,
              max_definition_level > 1 ? HistogramOf(plain.levels.definition, max_definition_level) : LevelHistogram());
    EXPECT_EQ(slots.repetition_histogram, HistogramOf(plain.levels.repetition, leaf.column.max_repetition_level));
    row += count;
  }
}

TEST(LevelsWriter, RandomNestedArraysAgainstPlainLevels) {
  std::mt19937_64 random(20260201);
  for (int round = 0; round < 400; ++round) {
    const double densities[] = {0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 1};
    RandomArrays arrays(static_cast<uint64_t>(round), {.null_probability = densities[round % 8]});
    const auto f = field("c", RandomType(&random, round % 5), round % 3 != 0);
    const auto schema = WrittenSchema::Make(*arrow::schema({f}));
    ASSERT_TRUE(schema.ok()) << schema.status();
    const auto array = arrays.Make(*f, static_cast<int64_t>(random() % 300));
    SCOPED_TRACE(f->ToString());
    for (const WrittenLeaf& leaf : schema->leaves) ExpectPlainLevels(leaf, *array->data(), &random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// The worked example of the Dremel paper: optional lists of optional values.
TEST(LevelsWriter, WorkedExample) {
  const auto f = field("c", arrow::list(field("item", arrow::int32())));
  const auto schema = WrittenSchema::Make(*arrow::schema({f})).ValueOrDie();
  const int32_t offsets[] = {0, 2, 2, 2, 3};
  const uint8_t lists = 0b1101, values = 0b101;  // [[a, null], null, [], [b]]
  const auto child =
      arrow::ArrayData::Make(arrow::int32(), 3, {arrow::Buffer::Wrap(&values, 1), arrow::Buffer::Wrap(offsets, 3)});
  const auto array =
      arrow::ArrayData::Make(f->type(), 4, {arrow::Buffer::Wrap(&lists, 1), arrow::Buffer::Wrap(offsets, 5)}, {child});
  LevelsWriter writer(&schema.leaves[0], arrow::default_memory_pool());
  LeafSlots slots(arrow::default_memory_pool());
  ASSERT_TRUE(writer.Bind(*array).ok());
  ASSERT_TRUE(writer.Build(0, 4, &slots).ok());
  EXPECT_EQ(LevelsOf(slots.definition_planes, 5), (std::vector<int>{3, 2, 0, 1, 3}));
  EXPECT_EQ(LevelsOf(slots.repetition_planes, 5), (std::vector<int>{0, 1, 0, 0, 0}));
  EXPECT_EQ(slots.values.count, 2);
}

}  // namespace
}  // namespace calve::parquet
