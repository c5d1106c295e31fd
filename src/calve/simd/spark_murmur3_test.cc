#include "calve/simd/spark_murmur3.h"

#include "each_target.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace calve::simd {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

// What Spark's hash() gives, and pmod(hash, 200).
TEST(SparkMurmur3, ValuesOfSpark) {
  ForEachTarget([] {
    for (size_t count = 1; count <= 40; ++count) {
      const std::vector<int32_t> ints(count, 1);
      std::vector<uint32_t> hashes(count, 42);
      SparkHash(ints.data(), count, hashes.data());
      for (const uint32_t hash : hashes) ASSERT_EQ(hash, 0xdea578e3) << count;

      const int64_t longs[] = {1, 0, -1, kMost, kLeast};
      const uint32_t partitions[] = {69, 5, 193, 171, 115};
      std::vector<int64_t> values(count);
      for (size_t i = 0; i < count; ++i) values[i] = longs[i % 5];
      hashes.assign(count, 42);
      SparkHash(values.data(), count, hashes.data());
      ASSERT_EQ(hashes[0], 0x99f0149d) << count;
      SparkPartitions(200, count, hashes.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(hashes[i], partitions[i % 5]) << i << " of " << count;
    }
  });
}

// A hash is the next one's seed: vectors and single values agree whatever the seeds.
TEST(SparkMurmur3, SeedsOfTheirOwn) {
  ForEachTarget([] {
    std::mt19937_64 random(1);
    constexpr size_t kCount = 67;
    std::vector<uint8_t> bytes(kCount * 8 + 1);
    for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
    std::vector<uint32_t> seeds(kCount);
    for (auto& seed : seeds) seed = static_cast<uint32_t>(random());
    const auto* longs = reinterpret_cast<const int64_t*>(bytes.data() + 1);
    auto hashes = seeds;
    SparkHash(longs, kCount, hashes.data());
    for (size_t i = 0; i < kCount; ++i) {
      uint32_t hash = seeds[i];
      SparkHash(longs + i, 1, &hash);
      ASSERT_EQ(hashes[i], hash) << i;
    }
  });
}

TEST(SparkMurmur3, PartitionsOfAnyNumber) {
  ForEachTarget([] {
    std::mt19937_64 random(2);
    std::vector<uint32_t> hashes = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
    for (int i = 0; i < 1000; ++i) hashes.push_back(static_cast<uint32_t>(random()));
    for (const int32_t partitions : {1, 2, 3, 7, 200, 1000, 9999, 65536, 0x40000001, 0x7fffffff}) {
      for (int multiple = -2; multiple <= 2; ++multiple) {
        hashes.push_back(static_cast<uint32_t>(multiple) * static_cast<uint32_t>(partitions));
      }
      auto out = hashes;
      SparkPartitions(partitions, out.size(), out.data());
      for (size_t i = 0; i < hashes.size(); ++i) {
        const int64_t rest = static_cast<int32_t>(hashes[i]) % int64_t{partitions};
        ASSERT_EQ(out[i], rest < 0 ? rest + partitions : rest) << hashes[i] << " of " << partitions;
      }
    }
  });
}

}  // namespace
}  // namespace calve::simd
