#include "calve/parquet/page_encoding.h"

#include "calve/parquet/plain_encoder.h"
#include "calve/parquet/value_decoder.h"

#include <arrow/memory_pool.h>
#include <gtest/gtest.h>
#include <parquet/encoding.h>
#include <parquet/schema.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

// Encoders on the specification's vectors, and against libparquet's encoders and decoders.

namespace calve::parquet {
namespace {

using Bytes = std::vector<uint8_t>;

arrow::MemoryPool* Pool() { return arrow::default_memory_pool(); }

SchemaElement Element(PhysicalType type, int32_t type_length = 0) {
  SchemaElement element;
  element.type = type;
  element.type_length = type_length;
  return element;
}

::parquet::ColumnDescriptor Descriptor(const SchemaElement& element) {
  auto node = ::parquet::schema::PrimitiveNode::Make("c", ::parquet::Repetition::REQUIRED,
                                                     static_cast<::parquet::Type::type>(*element.type),
                                                     ::parquet::ConvertedType::NONE, element.type_length);
  return ::parquet::ColumnDescriptor(node, 0, 0);
}

Bytes Encoded(Encoding encoding, const SchemaElement& element, const Bytes& plain, int64_t count) {
  ByteBuffer out(Pool());
  const Status status = EncodePlainAs(encoding, element, plain, count, &out);
  EXPECT_TRUE(status.ok()) << status;
  return Bytes(out.span().begin(), out.span().end());
}

template <typename T>
Bytes PlainOf(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(begin, begin + values.size() * sizeof(T));
}

Bytes PlainOf(const std::vector<std::string>& values, bool fixed = false) {
  std::vector<std::string_view> views(values.begin(), values.end());
  ByteBuffer out(Pool());
  EXPECT_TRUE(AppendPlain(std::span<const std::string_view>(views), fixed, &out).ok());
  return Bytes(out.span().begin(), out.span().end());
}

// The specification's two examples, under a block of 128 deltas in 4 miniblocks.
TEST(DeltaBinaryPackedEncoder, SpecificationVectors) {
  EXPECT_EQ(Encoded(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt32), PlainOf<int32_t>({1, 2, 3, 4, 5}), 5),
            (Bytes{0x80, 1, 4, 5, 2, /*least*/ 2, /*widths*/ 0, 0, 0, 0}));
  Bytes expected = {0x80, 1, 4, 8, 14, /*least -2*/ 3, /*widths*/ 2, 0, 0, 0, /*0 0 0 3 3 3 3*/ 0xC0, 0x3F};
  expected.resize(expected.size() + 6);
  EXPECT_EQ(Encoded(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt64),
                    PlainOf<int64_t>({7, 5, 3, 1, 2, 3, 4, 5}), 8),
            expected);
  EXPECT_EQ(Encoded(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt32), {}, 0), (Bytes{0x80, 1, 4, 0, 0}));
}

TEST(DeltaLengthByteArrayEncoder, SpecificationVector) {
  Bytes expected = {0x80, 1, 4, 4, 10, /*least 0*/ 0, /*widths*/ 1, 0, 0, 0, /*0 1 0*/ 0b010, 0, 0, 0};
  for (char c : std::string("HelloWorldFoobarABCDEF")) expected.push_back(static_cast<uint8_t>(c));
  EXPECT_EQ(Encoded(Encoding::kDeltaLengthByteArray, Element(PhysicalType::kByteArray),
                    PlainOf({"Hello", "World", "Foobar", "ABCDEF"}), 4),
            expected);
}

TEST(DeltaByteArrayEncoder, SpecificationVector) {
  // axis, axle, babble, babyhood: prefixes 0 2 0 3 and suffixes axis, le, babble, yhood.
  const auto element = Element(PhysicalType::kByteArray);
  const Bytes got = Encoded(Encoding::kDeltaByteArray, element, PlainOf({"axis", "axle", "babble", "babyhood"}), 4);
  const auto integers = Element(PhysicalType::kInt32);
  Bytes expected = Encoded(Encoding::kDeltaBinaryPacked, integers, PlainOf<int32_t>({0, 2, 0, 3}), 4);
  const Bytes suffixes =
      Encoded(Encoding::kDeltaLengthByteArray, element, PlainOf({"axis", "le", "babble", "yhood"}), 4);
  expected.insert(expected.end(), suffixes.begin(), suffixes.end());
  EXPECT_EQ(got, expected);
}

TEST(ByteStreamSplitEncoder, SpecificationVector) {
  EXPECT_EQ(Encoded(Encoding::kByteStreamSplit, Element(PhysicalType::kFloat),
                    {0xAA, 0xBB, 0xCC, 0xDD, 0x00, 0x11, 0x22, 0x33, 0xA3, 0xB4, 0xC5, 0xD6}, 3),
            (Bytes{0xAA, 0x00, 0xA3, 0xBB, 0x11, 0xB4, 0xCC, 0x22, 0xC5, 0xDD, 0x33, 0xD6}));
}

/// Values of a type of fixed width: libparquet decodes them, and encodes them to about as many bytes.
template <typename ParquetType>
void ExpectLibparquetReads(Encoding encoding, const SchemaElement& element,
                           const std::vector<typename ParquetType::c_type>& values) {
  const auto theirs = static_cast<::parquet::Encoding::type>(encoding);
  const auto descriptor = Descriptor(element);
  const auto count = static_cast<int>(values.size());
  const Bytes ours = Encoded(encoding, element, PlainOf(values), count);
  auto decoder = ::parquet::MakeTypedDecoder<ParquetType>(theirs, &descriptor);
  decoder->SetData(count, ours.data(), static_cast<int>(ours.size()));
  std::vector<typename ParquetType::c_type> read(values.size());
  ASSERT_EQ(decoder->Decode(read.data(), count), count);
  EXPECT_EQ(PlainOf(read), PlainOf(values));
  auto encoder = ::parquet::MakeTypedEncoder<ParquetType>(theirs, false, &descriptor);
  encoder->Put(values.data(), count);
  const auto buffer = encoder->FlushValues();
  // Blocks are of other sizes, which comes to a hundredth.
  EXPECT_LE(ours.size(), static_cast<size_t>(buffer->size()) * 102 / 100 + 24);
}

template <typename T>
std::vector<T> Integers(size_t count, int bits, std::mt19937_64& random) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(bits == 0 ? 7 : random() >> (64 - bits));
  return values;
}

TEST(DeltaBinaryPackedEncoder, EveryWidthAndCountReadByLibparquet) {
  std::mt19937_64 random(3);
  for (size_t count : {1, 2, 32, 33, 34, 128, 129, 130, 257, 1000}) {
    for (int bits = 0; bits <= 64; ++bits) {
      if (bits <= 32) {
        ExpectLibparquetReads<::parquet::Int32Type>(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt32),
                                                    Integers<int32_t>(count, bits, random));
      }
      ExpectLibparquetReads<::parquet::Int64Type>(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt64),
                                                  Integers<int64_t>(count, bits, random));
    }
  }
}

/// Deltas that do not fit the type: arithmetic wraps around.
TEST(DeltaBinaryPackedEncoder, ExtremesInTurn) {
  for (size_t count : {1, 2, 129, 300}) {
    std::vector<int32_t> narrow(count);
    std::vector<int64_t> wide(count);
    for (size_t i = 0; i < count; ++i) {
      narrow[i] = i % 2 == 0 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
      wide[i] = i % 2 == 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    }
    ExpectLibparquetReads<::parquet::Int32Type>(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt32), narrow);
    ExpectLibparquetReads<::parquet::Int64Type>(Encoding::kDeltaBinaryPacked, Element(PhysicalType::kInt64), wide);
  }
}

TEST(ByteStreamSplitEncoder, EveryTypeReadByLibparquet) {
  std::mt19937_64 random(4);
  for (size_t count : {1, 15, 16, 17, 100}) {
    const auto longs = Integers<int64_t>(count, 64, random);
    const auto ints = Integers<int32_t>(count, 32, random);
    ExpectLibparquetReads<::parquet::Int32Type>(Encoding::kByteStreamSplit, Element(PhysicalType::kInt32), ints);
    ExpectLibparquetReads<::parquet::Int64Type>(Encoding::kByteStreamSplit, Element(PhysicalType::kInt64), longs);
    std::vector<float> floats(ints.begin(), ints.end());
    std::vector<double> doubles(longs.begin(), longs.end());
    ExpectLibparquetReads<::parquet::FloatType>(Encoding::kByteStreamSplit, Element(PhysicalType::kFloat), floats);
    ExpectLibparquetReads<::parquet::DoubleType>(Encoding::kByteStreamSplit, Element(PhysicalType::kDouble), doubles);
  }
}

/// FIXED_LEN_BYTE_ARRAY when `width` is not 0.
void ExpectLibparquetReadsStrings(Encoding encoding, const std::vector<std::string>& values, int32_t width = 0) {
  const auto theirs = static_cast<::parquet::Encoding::type>(encoding);
  const auto element = Element(width > 0 ? PhysicalType::kFixedLenByteArray : PhysicalType::kByteArray, width);
  const auto descriptor = Descriptor(element);
  const auto count = static_cast<int>(values.size());
  const Bytes ours = Encoded(encoding, element, PlainOf(values, width > 0), count);
  std::vector<std::string> read;
  if (width > 0) {
    auto decoder = ::parquet::MakeTypedDecoder<::parquet::FLBAType>(theirs, &descriptor);
    decoder->SetData(count, ours.data(), static_cast<int>(ours.size()));
    std::vector<::parquet::FixedLenByteArray> got(values.size());
    ASSERT_EQ(decoder->Decode(got.data(), count), count);
    for (const auto& value : got) read.emplace_back(reinterpret_cast<const char*>(value.ptr), width);
  } else {
    auto decoder = ::parquet::MakeTypedDecoder<::parquet::ByteArrayType>(theirs, &descriptor);
    decoder->SetData(count, ours.data(), static_cast<int>(ours.size()));
    std::vector<::parquet::ByteArray> got(values.size());
    ASSERT_EQ(decoder->Decode(got.data(), count), count);
    for (const auto& value : got) read.emplace_back(reinterpret_cast<const char*>(value.ptr), value.len);
  }
  EXPECT_EQ(read, values);
}

TEST(ByteArrayEncoders, ReadByLibparquet) {
  std::mt19937_64 random(5);
  for (size_t count : {1, 2, 33, 500}) {
    for (size_t longest : {0, 3, 16, 17, 40, 300}) {
      std::vector<std::string> values(count), sorted;
      for (std::string& value : values) {
        value.resize(longest == 0 ? 0 : random() % (longest + 1));
        for (char& c : value) c = static_cast<char>('a' + random() % 3);
      }
      ExpectLibparquetReadsStrings(Encoding::kDeltaLengthByteArray, values);
      ExpectLibparquetReadsStrings(Encoding::kDeltaByteArray, values);
      std::sort(values.begin(), values.end());
      ExpectLibparquetReadsStrings(Encoding::kDeltaByteArray, values);
    }
  }
}

TEST(FixedByteArrayEncoders, ReadByLibparquet) {
  std::mt19937_64 random(6);
  for (int32_t width : {1, 2, 3, 4, 5, 8, 12, 16, 17, 32}) {
    std::vector<std::string> values(200);
    for (std::string& value : values) {
      value.resize(static_cast<size_t>(width));
      for (char& c : value) c = static_cast<char>('a' + random() % 2);
    }
    ExpectLibparquetReadsStrings(Encoding::kByteStreamSplit, values, width);
    ExpectLibparquetReadsStrings(Encoding::kDeltaByteArray, values, width);
  }
}

Encoding Choice(const SchemaElement& element, const Bytes& plain, int64_t count,
                calve::Codec codec = calve::Codec::kUncompressed, bool v2 = false) {
  return ChooseEncoding(element, plain, count, v2, codec, std::nullopt, Pool()).ValueOrDie();
}

TEST(ChooseEncoding, ByWhatASampleTakes) {
  std::mt19937_64 random(7);
  std::vector<int64_t> sorted(20000), any(20000);
  std::vector<double> reals(20000);
  for (size_t i = 0; i < any.size(); ++i) {
    sorted[i] = static_cast<int64_t>(1'700'000'000'000'000 + i * 1000 + random() % 900);
    any[i] = static_cast<int64_t>(random());
    reals[i] = 20 + static_cast<double>(random() % 1000) / 1000;
  }
  const auto int64 = Element(PhysicalType::kInt64), real = Element(PhysicalType::kDouble);
  EXPECT_EQ(Choice(int64, PlainOf(sorted), 20000), Encoding::kDeltaBinaryPacked);
  EXPECT_EQ(Choice(int64, PlainOf(any), 20000), Encoding::kPlain);
  EXPECT_EQ(Choice(int64, PlainOf(any), 20000, calve::Codec::kZstd), Encoding::kPlain);
  EXPECT_EQ(Choice(real, PlainOf(reals), 20000), Encoding::kPlain);
  EXPECT_EQ(Choice(int64, {}, 0), Encoding::kPlain);

  std::vector<std::string> urls, words;
  for (int i = 0; i < 5000; ++i) {
    urls.push_back("https://example.org/path/" + std::to_string(1'000'000 + i));
    words.push_back(std::to_string(random() % 100'000'000));
  }
  const auto bytes = Element(PhysicalType::kByteArray);
  EXPECT_EQ(Choice(bytes, PlainOf(urls), 5000), Encoding::kDeltaByteArray);
  EXPECT_EQ(Choice(bytes, PlainOf(words), 5000), Encoding::kDeltaLengthByteArray);
  // Of 200 bytes and their length a hundredth is saved, and no twentieth.
  for (std::string& word : words) {
    word.resize(100 + random() % 200);
    for (char& c : word) c = static_cast<char>('a' + random() % 26);
  }
  EXPECT_EQ(Choice(bytes, PlainOf(words), 5000), Encoding::kPlain);
  EXPECT_EQ(Choice(bytes, PlainOf(words), 5000, calve::Codec::kUncompressed, /*v2=*/true),
            Encoding::kDeltaLengthByteArray);
  EXPECT_EQ(Choice(bytes, PlainOf({std::string(100'000, 'x')}), 1), Encoding::kPlain);
}

TEST(PageEncoding, ChoosesOnceAChunk) {
  const auto element = Element(PhysicalType::kInt64);
  std::mt19937_64 random(8);
  const Bytes even = PlainOf(std::vector<int64_t>(1000, 5)), uneven = PlainOf(Integers<int64_t>(1000, 64, random));
  PageEncoding chosen(&element, std::nullopt, /*v2=*/false, calve::Codec::kUncompressed, std::nullopt, Pool());
  for (const Bytes* plain : {&even, &uneven}) {
    ASSERT_TRUE(chosen.Encode(*plain, 1000).ok());
    EXPECT_EQ(chosen.encoding(), Encoding::kDeltaBinaryPacked);
  }
  chosen.EndChunk();
  EXPECT_EQ(chosen.Encode(uneven, 1000)->data(), uneven.data());
  EXPECT_EQ(chosen.encoding(), Encoding::kPlain);
  PageEncoding wanted(&element, Encoding::kByteStreamSplit, /*v2=*/false, calve::Codec::kUncompressed, std::nullopt,
                      Pool());
  ASSERT_TRUE(wanted.Encode(even, 1000).ok());
  EXPECT_EQ(wanted.encoding(), Encoding::kByteStreamSplit);
}

}  // namespace
}  // namespace calve::parquet
