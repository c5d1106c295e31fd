#include "calve/partitioner.h"

#include "calve/hash/spark_murmur3.h"
#include "calve/shuffle/spark_hash.h"
#include "comet_data.h"
#include "json_arrays.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <arrow/extension_type.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace calve {
namespace {

using testing::Array;
using testing::Batch;
using Partitions = std::vector<uint32_t>;

Partitions Assigned(Partitioner& partitioner, const arrow::RecordBatch& batch) {
  Partitions out(static_cast<size_t>(batch.num_rows()), 12345);
  const auto status = partitioner.Assign(batch, out);
  EXPECT_TRUE(status.ok()) << status;
  return out;
}

Partitions Assigned(const PartitionerResult& partitioner, const arrow::RecordBatch& batch) {
  EXPECT_TRUE(partitioner.ok()) << partitioner.status();
  return partitioner.ok() ? Assigned(**partitioner, batch) : Partitions{};
}

std::vector<uint32_t> Hashes(const arrow::Array& array, uint32_t seed = 42) {
  std::vector<uint32_t> hashes(static_cast<size_t>(array.length()), seed);
  const auto hasher = shuffle::MakeValueHasher(*array.data());
  EXPECT_TRUE(hasher.ok()) << hasher.status();
  (*hasher)->HashAll(hashes.data(), true);
  return hashes;
}

// ---------------------------------------------------------------------- Spark's hash

TEST(SparkPartitioner, EveryHashAndPartitionOfSpark) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  for (const char* name :
       {"hash_k", "hash_k3", "hash_dec30_d", "hash_f_slow", "hash_many", "hash_nested", "n2_hash_id", "n2_i8_i16"}) {
    SCOPED_TRACE(name);
    const auto oracle = testing::ReadJson(comet + "/oracle/" + name + ".json");
    const auto keys = oracle["keys"].get<std::vector<std::string>>();
    size_t at = 0;
    for (const auto& batch : testing::CometInput(comet, name[0] == 'n' ? "input2" : "input")) {
      auto partitioner = MakeHashPartitioner(batch->schema(), keys, oracle["num_partitions"].get<int32_t>());
      const Partitions partitions = Assigned(partitioner, *batch);
      std::vector<uint32_t> hashes(partitions.size(), spark::kSeed);
      for (const auto& key : keys) {
        const auto column = batch->GetColumnByName(key);
        auto hasher = shuffle::MakeValueHasher(*column->data());
        ASSERT_TRUE(hasher.ok()) << hasher.status();
        (*hasher)->HashAll(hashes.data(), &key == keys.data());
      }
      for (size_t row = 0; row < partitions.size(); ++row, ++at) {
        ASSERT_EQ(static_cast<int32_t>(hashes[row]), oracle["hash"][at].get<int32_t>()) << "id " << at;
        ASSERT_EQ(partitions[row], oracle["partition"][at].get<uint32_t>()) << "id " << at;
      }
    }
    EXPECT_EQ(at, oracle["id"].size());
  }
}

TEST(SparkPartitioner, EveryCometHashPartition) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  int checked = 0;
  for (const auto& variant : testing::ReadJson(comet + "/manifest.json")) {
    if (variant["partitioning"] != "hash" || !variant["input_filter"].is_null()) continue;
    SCOPED_TRACE(variant["variant"].get<std::string>());
    const auto expected =
        testing::ReadJson(comet + "/" + variant["variant"].get<std::string>() + "/partition_by_id.json");
    const std::string input = variant["input"][0].get<std::string>();
    Partitions got;
    for (const auto& batch : testing::CometInput(comet, input.substr(0, input.find('/')))) {
      const auto part =
          Assigned(MakeHashPartitioner(batch->schema(), variant["key_columns"], variant["num_partitions"]), *batch);
      got.insert(got.end(), part.begin(), part.end());
    }
    EXPECT_EQ(got, expected.get<Partitions>());
    ++checked;
  }
  EXPECT_EQ(checked, 39);
}

TEST(SparkPartitioner, DictionariesViewsAndSlicesHashAsTheirValues) {
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto plain = Array(arrow::utf8(), R"(["a", null, "a string of some length", "", "a", "b", null, "a", "b"])");
  const auto expected = Hashes(*plain);
  EXPECT_EQ(expected[1], 42u);
  const auto encoded = arrow::compute::DictionaryEncode(plain)->make_array();
  EXPECT_EQ(Hashes(*encoded), expected);
  EXPECT_EQ(Hashes(*encoded->Slice(2, 5)), std::vector<uint32_t>(expected.begin() + 2, expected.begin() + 7));
  for (const auto& type : {arrow::utf8_view(), arrow::large_utf8(), arrow::binary(), arrow::binary_view()}) {
    const auto cast = arrow::compute::Cast(*plain, type).ValueOrDie();
    EXPECT_EQ(Hashes(*cast), expected) << type->ToString();
    EXPECT_EQ(Hashes(*cast->Slice(3)), std::vector<uint32_t>(expected.begin() + 3, expected.end()));
  }
  const auto runs = arrow::compute::RunEndEncode(plain)->make_array();
  EXPECT_EQ(Hashes(*runs), expected);
  EXPECT_EQ(Hashes(*runs->Slice(2, 5)), std::vector<uint32_t>(expected.begin() + 2, expected.begin() + 7));
  // With a dictionary that is longer than the column, and seeds that differ.
  std::vector<uint32_t> seeds(9), again(9);
  std::iota(seeds.begin(), seeds.end(), 7);
  again = seeds;
  (*shuffle::MakeValueHasher(*plain->data()))->HashAll(seeds.data(), false);
  (*shuffle::MakeValueHasher(*encoded->data()))->HashAll(again.data(), false);
  EXPECT_EQ(again, seeds);
}

TEST(SparkPartitioner, NestedValuesFold) {
  const auto lists = Array(arrow::list(arrow::int32()), "[[1, null, 2], [], null, [3]]");
  const uint32_t one_two = spark::HashInt(2, spark::HashInt(1, 42));
  const std::vector<uint32_t> expected = {one_two, 42, 42, spark::HashInt(3, 42)};
  EXPECT_EQ(Hashes(*lists), expected);
  EXPECT_EQ(Hashes(*Array(arrow::list_view(arrow::int32()), "[[1, null, 2], [], null, [3]]")), expected);
  EXPECT_EQ(Hashes(*Array(arrow::large_list(arrow::int32()), "[[1, null, 2], [], null, [3]]")), expected);
  EXPECT_EQ(Hashes(*lists->Slice(3)), std::vector<uint32_t>{expected[3]});
  EXPECT_EQ(Hashes(*Array(arrow::fixed_size_list(arrow::int32(), 2), "[[1, 2], [null, 3], null]")->Slice(1)),
            (std::vector<uint32_t>{expected[3], 42}));
  const auto rows = arrow::struct_({arrow::field("a", arrow::int32()), arrow::field("b", arrow::int64())});
  EXPECT_EQ(Hashes(*Array(rows, "[[1, 2], null, [null, 2], [1, null]]")->Slice(1)),
            (std::vector<uint32_t>{42, spark::HashLong(2, 42), spark::HashInt(1, 42)}));
  const auto map = arrow::map(arrow::utf8(), arrow::int32());
  const uint8_t key = 'k';
  EXPECT_EQ(Hashes(*Array(map, R"([[["k", 1]], []])"))[0], spark::HashInt(1, spark::HashBytes({&key, 1}, 42)));
}

// The shortest two's complement, from java.math.BigInteger.toByteArray's definition.
TEST(SparkPartitioner, WideDecimalsHashByTheirShortestBytes) {
  const auto hash = [](std::vector<uint8_t> big_endian) { return spark::HashBytes(big_endian, 42); };
  const auto values = Array(arrow::decimal128(20, 0), R"(["0", "127", "128", "-128", "-129", "-1", "65536"])");
  EXPECT_EQ(Hashes(*values), (std::vector<uint32_t>{hash({0}), hash({0x7f}), hash({0x00, 0x80}), hash({0x80}),
                                                    hash({0xff, 0x7f}), hash({0xff}), hash({1, 0, 0})}));
  EXPECT_EQ(Hashes(*arrow::compute::Cast(*values, arrow::decimal256(20, 0)).ValueOrDie()), Hashes(*values));
  EXPECT_EQ(Hashes(*Array(arrow::decimal128(18, 0), R"(["-5"])"))[0], spark::HashLong(-5, 42));
}

TEST(SparkPartitioner, RefusesByName) {
  const auto schema = arrow::schema({arrow::field("u", arrow::dense_union({arrow::field("a", arrow::int32())})),
                                     arrow::field("k", arrow::int32()), arrow::field("twice", arrow::int32()),
                                     arrow::field("twice", arrow::int32())});
  auto status = MakeHashPartitioner(schema, {"u"}, 3).status();
  EXPECT_TRUE(status.IsNotImplemented()) << status;
  EXPECT_NE(status.message().find("column 'u'"), std::string::npos) << status;
  EXPECT_TRUE(MakeHashPartitioner(schema, {"absent"}, 3).status().IsInvalid());
  EXPECT_TRUE(MakeHashPartitioner(schema, {"twice"}, 3).status().IsInvalid());
  EXPECT_TRUE(MakeHashPartitioner(schema, {}, 3).status().IsInvalid());
  EXPECT_TRUE(MakeHashPartitioner(schema, {"k"}, 0).status().IsInvalid());
}

// ---------------------------------------------------------------------- round robin, single

TEST(RoundRobinPartitioner, ByContentAsComet) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  for (const char* variant : {"native_lz4_roundrobin", "native_none_roundrobin"}) {
    Partitions got;
    for (const auto& batch : testing::CometInput(comet, "input")) {
      const auto part = Assigned(MakeRoundRobinPartitioner(batch->schema(), 7), *batch);
      got.insert(got.end(), part.begin(), part.end());
    }
    EXPECT_EQ(got, testing::ReadJson(comet + "/" + variant + "/partition_by_id.json").get<Partitions>()) << variant;
  }
}

TEST(RoundRobinPartitioner, PositionalAsComet) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  for (const char* variant : {"native_lz4_roundrobin_positional", "native_zstd_roundrobin_positional"}) {
    const auto expected = testing::ReadJson(comet + "/" + variant + "/partition_by_id.json").get<Partitions>();
    Partitions got;
    for (const auto& batch : testing::CometInput(comet, "input")) {
      auto partitioner = MakePositionalRoundRobinPartitioner(7, static_cast<int32_t>(expected[got.size()]));
      ASSERT_TRUE(partitioner.ok());
      for (int64_t at = 0; at < batch->num_rows(); at += 1000) {  // runs go on over batches
        const auto part = Assigned(**partitioner, *batch->Slice(at, 1000));
        got.insert(got.end(), part.begin(), part.end());
      }
    }
    EXPECT_EQ(got, expected) << variant;
  }
}

TEST(RoundRobinPartitioner, ManyPartitionsGetARowEach) {
  const auto batch = Batch(arrow::schema({arrow::field("k", arrow::int32())}), "[[1], [1], [1]]");
  EXPECT_EQ(Assigned(MakePositionalRoundRobinPartitioner(10000, 9998), *batch), (Partitions{9998, 9999, 0}));
  EXPECT_TRUE(MakePositionalRoundRobinPartitioner(3, 3).status().IsInvalid());
  EXPECT_EQ(Assigned(MakeSinglePartitioner(), *batch), (Partitions{0, 0, 0}));
}

// ---------------------------------------------------------------------- range

std::shared_ptr<arrow::RecordBatch> Together(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  return arrow::ConcatenateRecordBatches(batches).ValueOrDie();
}

/// The first rows, by `keys`, of each partition but the first: bounds that are the smallest rows above them.
std::shared_ptr<arrow::RecordBatch> LowestOfEach(const arrow::RecordBatch& batch, const Partitions& partitions,
                                                 const std::vector<arrow::compute::SortKey>& order,
                                                 const std::vector<RangeKey>& keys, bool nulls_first) {
  auto placed = order;
  for (auto& key : placed) {
    key.null_placement = nulls_first ? arrow::compute::NullPlacement::AtStart : arrow::compute::NullPlacement::AtEnd;
  }
  const arrow::compute::SortOptions options(placed);
  const auto sorted = arrow::compute::SortIndices(arrow::Datum(batch.Slice(0)), options).ValueOrDie();
  const auto& indices = static_cast<const arrow::UInt64Array&>(*sorted);
  std::vector<std::shared_ptr<arrow::RecordBatch>> bounds;
  for (int64_t i = 0; i < indices.length(); ++i) {
    const auto row = indices.Value(i);
    if (partitions[row] != bounds.size() + 1) continue;
    bounds.push_back(batch.Slice(static_cast<int64_t>(row), 1));
  }
  std::vector<int> columns;
  for (const RangeKey& key : keys) columns.push_back(batch.schema()->GetFieldIndex(key.column));
  return Together(bounds)->SelectColumns(columns).ValueOrDie();
}

TEST(RangePartitioner, RowsLieWhereCometPutThem) {
  CALVE_SHARED_DATA(shared);
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const std::string comet = shared + "/comet";
  const auto batch = Together(testing::CometInput(comet, "input"));
  const std::vector<RangeKey> by_d = {{"d", false, true}};
  for (const char* variant : {"native_lz4_range_d", "native_zstd_range_d"}) {
    SCOPED_TRACE(variant);
    const auto expected = testing::ReadJson(comet + "/" + variant + "/partition_by_id.json").get<Partitions>();
    const auto bounds = LowestOfEach(*batch, expected, {arrow::compute::SortKey("d")}, by_d, true);
    ASSERT_EQ(bounds->num_rows(), 3);
    EXPECT_EQ(Assigned(MakeRangePartitioner(batch->schema(), by_d, bounds, RangeConvention::kComet), *batch), expected);
  }
  // slow DESC NULLS LAST, k ASC NULLS LAST
  const auto expected = testing::ReadJson(comet + "/native_lz4_range_k_slow/partition_by_id.json").get<Partitions>();
  const std::vector<RangeKey> by_slow_k = {{"slow", true, false}, {"k", false, false}};
  const auto bounds = LowestOfEach(
      *batch, expected,
      {arrow::compute::SortKey("slow", arrow::compute::SortOrder::Descending), arrow::compute::SortKey("k")}, by_slow_k,
      false);
  ASSERT_EQ(bounds->num_rows(), 4);
  EXPECT_EQ(Assigned(MakeRangePartitioner(batch->schema(), by_slow_k, bounds, RangeConvention::kComet), *batch),
            expected);
}

TEST(RangePartitioner, RowsLieWhereSparkPutsThem) {
  CALVE_SHARED_DATA(shared);
  const std::string comet = shared + "/comet";
  const auto batch = Together(testing::CometInput(comet, "input"));
  const auto& d = static_cast<const arrow::DoubleArray&>(*batch->GetColumnByName("d"));
  for (const char* variant : {"jvm_lz4_range_d", "jvm_zstd_range_d"}) {
    const auto expected = testing::ReadJson(comet + "/" + variant + "/partition_by_id.json").get<Partitions>();
    std::vector<double> largest(3, -std::numeric_limits<double>::infinity());
    for (int64_t i = 0; i < d.length(); ++i) {
      const uint32_t partition = expected[static_cast<size_t>(i)];
      if (d.IsValid(i) && partition < 3) largest[partition] = std::max(largest[partition], d.Value(i));
    }
    arrow::DoubleBuilder builder;
    ASSERT_TRUE(builder.AppendValues(largest).ok());
    const auto bounds = arrow::RecordBatch::Make(arrow::schema({arrow::field("d", arrow::float64())}), 3,
                                                 {builder.Finish().ValueOrDie()});
    EXPECT_EQ(Assigned(MakeRangePartitioner(batch->schema(), {{"d"}}, bounds, RangeConvention::kSpark), *batch),
              expected)
        << variant;
  }
}

Partitions RangeOf(const std::shared_ptr<arrow::DataType>& type, const std::string& rows, const std::string& bounds,
                   RangeKey key, RangeConvention convention = RangeConvention::kComet) {
  const auto schema = arrow::schema({arrow::field("k", type)});
  key.column = "k";
  return Assigned(MakeRangePartitioner(schema, {key}, Batch(schema, bounds), convention), *Batch(schema, rows));
}

TEST(RangePartitioner, BoundsBelongToOneSideOrTheOther) {
  EXPECT_EQ(RangeOf(arrow::int32(), "[[4], [5], [6], [null]]", "[[5]]", {}), (Partitions{0, 1, 1, 0}));
  EXPECT_EQ(RangeOf(arrow::int32(), "[[4], [5], [6], [null]]", "[[5]]", {}, RangeConvention::kSpark),
            (Partitions{0, 0, 1, 0}));
  EXPECT_EQ(RangeOf(arrow::int32(), "[[4], [5], [6], [null]]", "[[5]]", {"", true, false}), (Partitions{1, 1, 0, 1}));
  EXPECT_EQ(RangeOf(arrow::int32(), "[[4], [null]]", "[[5]]", {"", true, true}), (Partitions{1, 0}));
}

TEST(RangePartitioner, OrdersEveryType) {
  const RangeKey ascending{};
  const auto below = [&](const std::shared_ptr<arrow::DataType>& type, const std::string& sorted, int count) {
    // Each value is a bound; the k-th row has k + 1 bounds at or below it.
    Partitions expected(static_cast<size_t>(count));
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(RangeOf(type, sorted, sorted, ascending), expected) << type->ToString();
  };
  below(arrow::int8(), "[[null], [-128], [-1], [0], [127]]", 5);
  below(arrow::uint8(), "[[0], [127], [128], [255]]", 4);
  below(arrow::int16(), "[[-300], [-1], [0], [300]]", 4);
  below(arrow::int64(), "[[-9223372036854775808], [-1], [0], [9223372036854775807]]", 4);
  below(arrow::uint64(), "[[0], [18446744073709551615]]", 2);
  below(arrow::float32(), "[[-Inf], [-1.5], [-1], [0], [1e-40], [1], [Inf], [NaN]]", 8);
  below(arrow::float64(), "[[-Inf], [-1.5], [-1], [-0.0], [1e-300], [1], [Inf], [NaN]]", 8);
  below(arrow::decimal128(30, 2), R"([["-12345678901234567890.00"], ["-0.01"], ["0.00"], ["99999999999999999999.00"]])",
        4);
  below(arrow::decimal256(40, 0), R"([["-1"], ["0"], ["340282366920938463463374607431768211456"]])", 3);
  below(arrow::boolean(), "[[null], [false], [true]]", 3);
  below(arrow::utf8(), "[[\"\"], [\"\\u0000\"], [\"\\u0000a\"], [\"a\"], [\"a\\u0000\"], [\"ab\"], [\"é\"]]", 7);
  below(arrow::utf8_view(), R"([[""], ["a"], ["a string that is not inline"], ["b"]])", 4);
  below(arrow::large_binary(), R"([[""], ["a"], ["aa"]])", 3);
  below(arrow::fixed_size_binary(2), R"([["ab"], ["b "]])", 2);
  below(arrow::date32(), "[[-5], [0], [5]]", 3);
  EXPECT_EQ(RangeOf(arrow::float64(), "[[0.0], [-0.0]]", "[[-0.0]]", {}, RangeConvention::kSpark), (Partitions{0, 0}));
  EXPECT_EQ(RangeOf(arrow::utf8(), R"([["a"], ["ab"], ["b"]])", R"([["ab"]])", {"", true, true}),
            (Partitions{1, 1, 0}));
}

TEST(RangePartitioner, BoundsOfASample) {
  const auto schema = arrow::schema({arrow::field("x", arrow::utf8()), arrow::field("k", arrow::int32())});
  const auto sample =
      Batch(schema, R"([["a", 7], ["b", 1], ["c", 3], ["d", 5], ["e", null], ["f", 9], ["g", 11], ["h", 13]])");
  const auto bounds = SampleRangeBounds(sample, {{"k"}}, 4).ValueOrDie();
  testing::ExpectArray(*bounds->column(0), arrow::int32(), "[3, 7, 11]");
  EXPECT_EQ(bounds->num_columns(), 1);
  EXPECT_EQ(Assigned(MakeRangePartitioner(schema, {{"k"}}, bounds), *sample), (Partitions{2, 0, 1, 1, 0, 2, 3, 3}));
  // Fewer distinct keys than partitions: fewer bounds. No sample: everything in one partition.
  const auto same = Batch(schema, R"([["a", 7], ["b", 7], ["c", 7]])");
  EXPECT_EQ(SampleRangeBounds(same, {{"k"}}, 10).ValueOrDie()->num_rows(), 1);
  EXPECT_EQ(SampleRangeBounds(same->Slice(0, 0), {{"k"}}, 10).ValueOrDie()->num_rows(), 0);
}

TEST(RangePartitioner, RefusesByName) {
  const auto schema =
      arrow::schema({arrow::field("k", arrow::int32()), arrow::field("l", arrow::list(arrow::int32()))});
  const auto k = arrow::schema({arrow::field("k", arrow::int32())});
  const auto unsorted = MakeRangePartitioner(schema, {{"k"}}, Batch(k, "[[5], [4]]")).status();
  EXPECT_NE(unsorted.message().find("bound 1"), std::string::npos) << unsorted;
  const auto other = arrow::schema({arrow::field("k", arrow::int64())});
  EXPECT_TRUE(MakeRangePartitioner(schema, {{"k"}}, Batch(other, "[[5]]")).status().IsInvalid());
  const auto l = arrow::schema({arrow::field("l", arrow::list(arrow::int32()))});
  const auto lists = MakeRangePartitioner(schema, {{"l"}}, Batch(l, "[[[5]]]")).status();
  EXPECT_TRUE(lists.IsNotImplemented()) << lists;
  EXPECT_NE(lists.message().find("column 'l'"), std::string::npos) << lists;
}

}  // namespace
}  // namespace calve
