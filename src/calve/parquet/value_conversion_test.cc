#include "calve/parquet/value_conversion.h"

#include "calve/parquet/leaf_type.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

namespace calve::parquet {
namespace {

LeafColumn Decimal(PhysicalType type, int precision, int scale, int32_t length = 0) {
  LeafColumn leaf;
  leaf.element.type = type;
  leaf.element.type_length = length;
  leaf.element.logical_type.kind = LogicalType::Kind::kDecimal;
  leaf.element.logical_type.precision = precision;
  leaf.element.logical_type.scale = scale;
  return leaf;
}

Result<std::shared_ptr<arrow::Array>> Convert(const LeafColumn& leaf, LeafBatch batch) {
  std::string unsupported;
  ARROW_ASSIGN_OR_RAISE(auto type, LeafType(leaf.element, {}, &unsupported));
  const ValueConversion conversion = ConversionOf(leaf.element, *type);
  if (batch.offsets == nullptr && conversion.convert != nullptr) {
    ARROW_ASSIGN_OR_RAISE(auto values, arrow::AllocateBuffer(batch.slots * conversion.out_width));
    ARROW_RETURN_NOT_OK(conversion.convert(conversion, batch.values->data(), batch.slots, values->mutable_data()));
    batch.values = std::move(values);
  }
  ARROW_ASSIGN_OR_RAISE(auto data, ConvertLeaf(type, std::move(batch), arrow::default_memory_pool()));
  return arrow::MakeArray(data);
}

LeafBatch Fixed(const std::string& bytes, int64_t slots) {
  LeafBatch batch;
  batch.slots = slots;
  batch.values = arrow::Buffer::FromString(bytes);
  return batch;
}

void ExpectDecimals(const LeafColumn& leaf, const LeafBatch& batch, const std::string& json) {
  auto got = Convert(leaf, batch);
  ASSERT_TRUE(got.ok()) << got.status();
  auto expected = arrow::json::ArrayFromJSONString((*got)->type(), json);
  EXPECT_TRUE((*got)->Equals(*expected)) << (*got)->ToString();
}

TEST(ValueConversion, DecimalsOfOddWidths) {
  ExpectDecimals(Decimal(PhysicalType::kFixedLenByteArray, 6, 2, 3),
                 Fixed(std::string("\x00\x30\x39\xff\xcf\xc7", 6), 2), R"(["123.45", "-123.45"])");
  ExpectDecimals(Decimal(PhysicalType::kFixedLenByteArray, 4, 0, 1), Fixed("\x7f\x80", 2), R"(["127", "-128"])");
  // 20 bytes, the first four of which only repeat the sign.
  ExpectDecimals(Decimal(PhysicalType::kFixedLenByteArray, 38, 0, 20),
                 Fixed(std::string(19, '\0') + "\x05" + std::string(19, '\xff') + "\xfb", 2), R"(["5", "-5"])");
  ExpectDecimals(Decimal(PhysicalType::kFixedLenByteArray, 50, 0, 22), Fixed("\x01" + std::string(21, '\0'), 1),
                 R"(["374144419156711147060143317175368453031918731001856"])");
}

TEST(ValueConversion, DecimalsOfByteArrays) {
  LeafBatch batch = Fixed(std::string("\x7f\xff\x00\x01\x00", 5), 3);
  const int32_t offsets[] = {0, 1, 2, 5};
  batch.offsets = arrow::Buffer::FromString(std::string(reinterpret_cast<const char*>(offsets), sizeof(offsets)));
  ExpectDecimals(Decimal(PhysicalType::kByteArray, 5, 1), batch, R"(["12.7", "-0.1", "25.6"])");
}

TEST(ValueConversion, RefusesDecimalsThatDoNotFit) {
  // The sign bit of the second byte contradicts the first.
  EXPECT_EQ(Convert(Decimal(PhysicalType::kFixedLenByteArray, 38, 0, 17),
                    Fixed(std::string("\0\x80", 2) + std::string(15, '\0'), 1))
                .status()
                .message(),
            "a decimal of 17 bytes does not fit 128 bits");
  LeafBatch empty = Fixed("", 1);
  empty.offsets = arrow::Buffer::FromString(std::string(8, '\0'));
  EXPECT_EQ(Convert(Decimal(PhysicalType::kByteArray, 5, 1), empty).status().message(), "a decimal of no bytes");
}

TEST(ValueConversion, UnsignedValuesMayBeSignExtended) {
  LeafColumn leaf;
  leaf.element.type = PhysicalType::kInt32;
  leaf.element.converted_type = ConvertedType::kUint8;
  auto got = Convert(leaf, Fixed(std::string("\xff\0\0\0\xff\xff\xff\xff\x7f\0\0\0", 12), 3));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE((*got)->Equals(**arrow::json::ArrayFromJSONString(arrow::uint8(), "[255, 255, 127]")));
}

int64_t Int96(int64_t nanos, int32_t day, arrow::TimeUnit::type unit) {
  uint8_t bytes[12];
  std::memcpy(bytes, &nanos, 8);
  std::memcpy(bytes + 8, &day, 4);
  return Int96ToTimestamp(bytes, unit);
}

TEST(ValueConversion, Int96Wraps) {
  const auto micros = [](int64_t nanos, int32_t day) { return Int96(nanos, day, arrow::TimeUnit::MICRO); };
  EXPECT_EQ(micros(0, 2440588), 0);
  EXPECT_EQ(micros(1999, 2440588), 1);
  EXPECT_EQ(micros(0, 2440587), -86400000000);
  EXPECT_EQ(micros(0, -1), -86400000000 * 2440589);
}

TEST(ValueConversion, Int96InEveryUnit) {
  using Unit = arrow::TimeUnit;
  constexpr int64_t kNanos = 3723000000999;  // 01:02:03.000000999
  EXPECT_EQ(Int96(kNanos, 2440589, Unit::SECOND), 86400 + 3723);
  EXPECT_EQ(Int96(kNanos, 2440589, Unit::MILLI), 86400000 + 3723000);
  EXPECT_EQ(Int96(kNanos, 2440589, Unit::MICRO), 86400000000 + 3723000000);
  EXPECT_EQ(Int96(kNanos, 2440589, Unit::NANO), 86400000000000 + kNanos);
  // 9999-12-31 is a timestamp in all units but nanoseconds, which go round once in 584 years.
  constexpr int32_t kDay = 2440588 + 2932896;
  EXPECT_EQ(Int96(0, kDay, Unit::SECOND), 253402214400);
  EXPECT_EQ(Int96(0, kDay, Unit::MICRO), 253402214400000000);
  EXPECT_EQ(Int96(0, kDay, Unit::NANO), static_cast<int64_t>(uint64_t{253402214400} * 1000000000));
}

}  // namespace
}  // namespace calve::parquet
