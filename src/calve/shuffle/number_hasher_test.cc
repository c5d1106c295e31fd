#include "calve/shuffle/number_hasher.h"

#include <arrow/builder.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace calve::shuffle {
namespace {

// More than are hashed at once, with nulls and without, from any row on: a null's hash is its seed, a value's that of
// Spark's function.
template <typename Builder, typename Hash>
void CheckHashes(Hash hash) {
  std::mt19937_64 random(3);
  for (const uint64_t nulls_of_eight : {0, 1, 7, 8}) {
    Builder builder;
    for (int i = 0; i < 700; ++i) {
      const auto value = static_cast<typename Builder::value_type>(random());
      ASSERT_TRUE((random() % 8 < nulls_of_eight ? builder.AppendNull() : builder.Append(value)).ok());
    }
    const auto whole = builder.Finish().ValueOrDie();
    for (const int64_t offset : {0, 3, 64, 699}) {
      const auto array = std::static_pointer_cast<typename arrow::TypeTraits<typename Builder::TypeClass>::ArrayType>(
          whole->Slice(offset));
      std::vector<uint32_t> hashes(static_cast<size_t>(array->length()));
      for (auto& seed : hashes) seed = static_cast<uint32_t>(random());
      const auto seeds = hashes;
      NumberHasher<typename Builder::value_type>(*array->data()).HashAll(hashes.data(), false);
      for (int64_t i = 0; i < array->length(); ++i) {
        const uint32_t seed = seeds[static_cast<size_t>(i)];
        ASSERT_EQ(hashes[static_cast<size_t>(i)], array->IsNull(i) ? seed : hash(array->Value(i), seed)) << i;
      }
    }
  }
}

TEST(NumberHasher, Ints) { CheckHashes<arrow::Int32Builder>(spark::HashInt); }
TEST(NumberHasher, Longs) { CheckHashes<arrow::Int64Builder>(spark::HashLong); }

TEST(NumberHasher, NullsWithoutValues) {
  const auto data = arrow::ArrayData::Make(arrow::int64(), 3, {arrow::Buffer::FromString(std::string(1, 0)), nullptr});
  std::vector<uint32_t> hashes = {1, 2, 3};
  NumberHasher<int64_t>(*data).HashAll(hashes.data(), false);
  EXPECT_EQ(hashes, (std::vector<uint32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace calve::shuffle
