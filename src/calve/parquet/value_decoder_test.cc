#include "calve/parquet/value_decoder.h"

#include "calve/parquet/dictionary_decoder.h"

#include <arrow/memory_pool.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

// Every encoding on the specification's vectors: whole, in pieces, cut short, and damaged.

namespace calve::parquet {
namespace {

using Bytes = std::vector<uint8_t>;
using Strings = std::vector<std::string>;

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Bytes operator+(Bytes a, std::string_view b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

arrow::MemoryPool* Pool() { return arrow::default_memory_pool(); }

ValueConversion AsTheyAre(int64_t width) { return {width, width, nullptr, {}}; }

Result<std::shared_ptr<const Dictionary>> MadeDictionary(bool binary, int64_t width, int64_t count,
                                                         const Bytes& bytes) {
  LeafLayout layout;
  layout.binary = binary;
  layout.form = binary ? ValueForm::kOffsets : ValueForm::kFixed;
  layout.conversion = AsTheyAre(width);
  return MakeDictionary(layout, count, bytes, Pool());
}

template <typename T>
Result<std::vector<T>> DecodeFixed(Encoding encoding, PhysicalType type, const Bytes& bytes, int64_t count,
                                   int64_t step, const Dictionary* dictionary = nullptr, int64_t width = sizeof(T)) {
  const Bytes exact(bytes);
  ARROW_ASSIGN_OR_RAISE(auto decoder, MakeFixedDecoder(encoding, type, AsTheyAre(width), exact, count, dictionary));
  std::vector<T> out((static_cast<size_t>(count * width) + kPoolVectorSlackBytes) / sizeof(T));
  for (int64_t done = 0; done < count; done += step) {
    ARROW_RETURN_NOT_OK(
        decoder->Decode(std::min(step, count - done), reinterpret_cast<uint8_t*>(out.data()) + done * width));
  }
  out.resize(static_cast<size_t>(count * width) / sizeof(T));
  return out;
}

Result<Strings> DecodeBinary(Encoding encoding, const Bytes& bytes, int64_t count, int64_t step,
                             const Dictionary* dictionary = nullptr) {
  const Bytes exact(bytes);
  ARROW_ASSIGN_OR_RAISE(auto decoder, MakeBinaryDecoder(encoding, exact, count, dictionary));
  BinaryValues values(Pool());
  ARROW_RETURN_NOT_OK(values.Init());
  for (int64_t done = 0; done < count; done += step) {
    const int64_t n = std::min(step, count - done);
    const int64_t bound = decoder->BytesAtMost(n), before = values.data.size();
    ARROW_RETURN_NOT_OK(decoder->Decode(n, &values));
    EXPECT_LE(values.data.size() - before, bound);
  }
  Strings out;
  for (int64_t i = 0; i < values.count(); ++i) {
    out.emplace_back(reinterpret_cast<const char*>(values.data.data()) + values.offsets[i],
                     static_cast<size_t>(values.offsets[i + 1] - values.offsets[i]));
  }
  return out;
}

/// Cut to any size below `needed`, the values cannot be decoded.
void ExpectBinaryTruncation(Encoding encoding, const Bytes& bytes, size_t needed, int64_t count,
                            const Dictionary* dictionary = nullptr) {
  for (size_t size = 0; size < needed; ++size) {
    const auto got = DecodeBinary(encoding, Bytes(bytes.begin(), bytes.begin() + size), count, count, dictionary);
    EXPECT_TRUE(got.status().IsInvalid()) << size;
  }
}

TEST(PlainDecoder, FixedWidth) {
  const Bytes bytes = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 1, 0, 0};
  for (int64_t step : {1, 2, 3}) {
    EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kPlain, PhysicalType::kInt32, bytes, 3, step).ValueOrDie(),
              (std::vector<int32_t>{1, -1, 256}));
  }
  EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kPlain, PhysicalType::kInt32, bytes, 4, 4).status().message(),
            "4 PLAIN values of 4 bytes, 12 bytes are left at byte 0 of the values");
}

TEST(PlainDecoder, Booleans) {
  EXPECT_EQ(DecodeFixed<uint8_t>(Encoding::kPlain, PhysicalType::kBoolean, {0b01100101, 0b1}, 9, 2).ValueOrDie(),
            (Bytes{1, 0, 1, 0, 0, 1, 1, 0, 1}));
  EXPECT_TRUE(DecodeFixed<uint8_t>(Encoding::kPlain, PhysicalType::kBoolean, {0xff}, 9, 9).status().IsInvalid());
}

TEST(PlainDecoder, ByteArrays) {
  const Bytes bytes = Bytes{2, 0, 0, 0} + "ab" + Bytes{0, 0, 0, 0} + Bytes{1, 0, 0, 0} + "c";
  for (int64_t step : {1, 2, 3})
    EXPECT_EQ(DecodeBinary(Encoding::kPlain, bytes, 3, step).ValueOrDie(), (Strings{"ab", "", "c"}));
  ExpectBinaryTruncation(Encoding::kPlain, bytes, bytes.size(), 3);
  EXPECT_EQ(DecodeBinary(Encoding::kPlain, Bytes{0xff, 0xff, 0xff, 0xff, 1}, 1, 1).status().message(),
            "PLAIN byte array of 4294967295 bytes, 1 bytes are left at byte 4 of the values");
}

/// PLAIN byte arrays, and the strings that they are.
struct PlainStrings {
  Bytes bytes;
  Strings strings;

  void Add(std::string value) {
    const auto size = static_cast<uint32_t>(value.size());
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(size >> shift));
    bytes = std::move(bytes) + value;
    strings.push_back(std::move(value));
  }
};

Result<Strings> DecodeViews(const Bytes& bytes, int64_t count, int64_t step) {
  const auto page = std::make_shared<arrow::Buffer>(bytes.data(), static_cast<int64_t>(bytes.size()));
  ARROW_ASSIGN_OR_RAISE(auto decoder, MakeBinaryDecoder(Encoding::kPlain, bytes, count, nullptr));
  ViewValues values(Pool());
  for (int64_t done = 0; done < count; done += step) {
    ARROW_RETURN_NOT_OK(decoder->DecodeViews(std::min(step, count - done), page, &values));
  }
  Strings out;
  for (const BinaryView& view : values.views().span()) {
    const auto* inlined = reinterpret_cast<const char*>(&view) + sizeof(view.size);
    const char* start = view.is_inline() ? inlined : reinterpret_cast<const char*>(page->data()) + view.rest[1];
    out.emplace_back(start, view.size);
  }
  return out;
}

TEST(PlainDecoder, ByteArraysOfOneLengthAndOfOthers) {
  std::mt19937 random(3);
  for (const size_t length : {0, 1, 12, 13, 16, 17, 32, 33, 256, 257}) {
    PlainStrings plain;
    while (plain.strings.size() < 400) {
      for (size_t run = 1 + random() % 40; run > 0; --run) {
        plain.Add(std::string(length, static_cast<char>('a' + random() % 26)));
      }
      for (size_t others = random() % 3; others > 0; --others) plain.Add(std::string(random() % 300, 'z'));
    }
    const auto count = static_cast<int64_t>(plain.strings.size());
    for (const int64_t step : {int64_t{1}, int64_t{9}, int64_t{64}, count}) {
      EXPECT_EQ(DecodeBinary(Encoding::kPlain, plain.bytes, count, step).ValueOrDie(), plain.strings) << length;
      EXPECT_EQ(DecodeViews(plain.bytes, count, step).ValueOrDie(), plain.strings) << length;
    }
  }
}

TEST(PlainDecoder, ByteArraysOfOneLengthTruncatedAtEveryByte) {
  PlainStrings plain;
  for (int i = 0; i < 40; ++i) plain.Add(std::string(9, static_cast<char>('a' + i % 26)));
  ExpectBinaryTruncation(Encoding::kPlain, plain.bytes, plain.bytes.size(), 40);
  for (size_t size = 0; size < plain.bytes.size(); ++size) {
    const Bytes exact(plain.bytes.begin(), plain.bytes.begin() + static_cast<int64_t>(size));
    EXPECT_TRUE(DecodeViews(exact, 40, 40).status().IsInvalid()) << size;
  }
}

TEST(RleBooleanDecoder, Runs) {
  // 5 times true, then 8 packed.
  const Bytes bytes = {4, 0, 0, 0, 0x0A, 0x01, 0x03, 0x0F};
  EXPECT_EQ(DecodeFixed<uint8_t>(Encoding::kRle, PhysicalType::kBoolean, bytes, 13, 3).ValueOrDie(),
            (Bytes{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(
        DecodeFixed<uint8_t>(Encoding::kRle, PhysicalType::kBoolean, Bytes(bytes.begin(), bytes.begin() + size), 13, 13)
            .status()
            .IsInvalid());
  }
  EXPECT_EQ(
      DecodeFixed<uint8_t>(Encoding::kRle, PhysicalType::kBoolean, {2, 0, 0, 0, 0x0A, 0x02}, 5, 5).status().message(),
      "an RLE boolean of value 2");
}

TEST(DictionaryDecoder, FixedWidth) {
  const auto dictionary =
      MadeDictionary(false, 8, 3, {10, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0, 0, 0, 0, 0})
          .ValueOrDie();
  // Two bits: 3 times 2, then 8 packed 0 1 2 0 1 2 0 1.
  const Bytes bytes = {2, 0x06, 0x02, 0x03, 0b00100100, 0b01001001};
  for (int64_t step : {1, 4, 11}) {
    EXPECT_EQ(DecodeFixed<int64_t>(Encoding::kRleDictionary, PhysicalType::kInt64, bytes, 11, step, dictionary.get())
                  .ValueOrDie(),
              (std::vector<int64_t>{30, 30, 30, 10, 20, 30, 10, 20, 30, 10, 20}));
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + size);
    EXPECT_TRUE(DecodeFixed<int64_t>(Encoding::kRleDictionary, PhysicalType::kInt64, cut, 11, 11, dictionary.get())
                    .status()
                    .IsInvalid());
  }
}

TEST(DictionaryDecoder, ByteArraysOfOneLength) {
  for (const size_t length : {0, 1, 2, 3, 4, 8, 10, 16, 31, 32, 33}) {
    PlainStrings plain;
    for (int i = 0; i < 4; ++i) plain.Add(std::string(length, static_cast<char>('a' + i)));
    const auto dictionary = MadeDictionary(true, 0, 4, plain.bytes).ValueOrDie();
    EXPECT_TRUE(dictionary->same_lengths);
    // Two bits: 16 packed, then 100 times 2.
    const Bytes bytes = {2, 0x05, 0xE4, 0x1B, 0xE4, 0x27, 0xC8, 0x01, 0x02};
    Strings expected;
    for (const int index : {0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 1, 2, 0}) {
      expected.push_back(plain.strings[static_cast<size_t>(index)]);
    }
    expected.resize(116, plain.strings[2]);
    for (const int64_t step : {1, 7, 116}) {
      EXPECT_EQ(DecodeBinary(Encoding::kPlainDictionary, bytes, 116, step, dictionary.get()).ValueOrDie(), expected);
    }
  }
}

TEST(DictionaryDecoder, ByteArraysAcrossBatchesOfIndices) {
  const auto dictionary = MadeDictionary(true, 0, 2, Bytes{1, 0, 0, 0} + "x" + Bytes{3, 0, 0, 0} + "yyy").ValueOrDie();
  EXPECT_EQ(dictionary->largest_bytes, 3);
  EXPECT_FALSE(dictionary->same_lengths);
  // One bit: 3000 times 1, then 2000 times 0.
  const Bytes bytes = {1, 0xF0, 0x2E, 0x01, 0xA0, 0x1F, 0x00};
  Strings expected(3000, "yyy");
  expected.resize(5000, "x");
  for (int64_t step : {700, 5000}) {
    EXPECT_EQ(DecodeBinary(Encoding::kPlainDictionary, bytes, 5000, step, dictionary.get()).ValueOrDie(), expected);
  }
  ExpectBinaryTruncation(Encoding::kPlainDictionary, bytes, bytes.size(), 5000, dictionary.get());
}

TEST(DictionaryDecoder, NamesTheIndexOutOfRange) {
  const auto dictionary = MadeDictionary(false, 4, 2, {1, 0, 0, 0, 2, 0, 0, 0}).ValueOrDie();
  EXPECT_EQ(
      DecodeFixed<int32_t>(Encoding::kRleDictionary, PhysicalType::kInt32, {3, 0x06, 0x07}, 3, 3, dictionary.get())
          .status()
          .message(),
      "dictionary index 7 out of range (dictionary has 2 values)");
  EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kRleDictionary, PhysicalType::kInt32, {2, 0x03, 0xE4, 0xE4}, 8, 8,
                                 dictionary.get())
                .status()
                .message(),
            "dictionary index 3 out of range (dictionary has 2 values)");
  EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kRleDictionary, PhysicalType::kInt32, {33, 0x06}, 3, 3, dictionary.get())
                .status()
                .message(),
            "dictionary indices of 33 bits");
  EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kRleDictionary, PhysicalType::kInt32, {2, 0x06}, 3, 3).status().message(),
            "a dictionary-encoded page in a column chunk without a dictionary");
}

TEST(DictionaryDecoder, RefusesADictionaryLargerThanItsPage) {
  EXPECT_EQ(MadeDictionary(false, 8, 1000000000, Bytes(16)).status().message(),
            "a dictionary of 1000000000 values of 8 bytes in 16 bytes");
  EXPECT_EQ(MadeDictionary(true, 0, 1000000000, Bytes(16)).status().message(),
            "a dictionary of 1000000000 byte arrays in 16 bytes");
}

/// The specification's examples, with blocks of 128 values in 4 miniblocks (its own blocks of 8 are not valid).
const Bytes kDelta1 = {0x80, 0x01, 0x04, 0x05, 0x02, 0x02, 0, 0, 0, 0};
const Bytes kDelta2 = {0x80, 0x01, 0x04, 0x08, 0x0E, 0x03, 0x02, 0xFF, 0x41,
                       0x07, 0xC0, 0x3F, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA};

TEST(DeltaBinaryPackedDecoder, SpecificationVectors) {
  for (int64_t step : {1, 3, 8}) {
    EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kDeltaBinaryPacked, PhysicalType::kInt32, kDelta1, 5, step).ValueOrDie(),
              (std::vector<int32_t>{1, 2, 3, 4, 5}));
    // The widths of the miniblocks that are not there, and the padding, are garbage.
    EXPECT_EQ(DecodeFixed<int64_t>(Encoding::kDeltaBinaryPacked, PhysicalType::kInt64, kDelta2, 8, step).ValueOrDie(),
              (std::vector<int64_t>{7, 5, 3, 1, 2, 3, 4, 5}));
  }
}

TEST(DeltaBinaryPackedDecoder, WrapsAround) {
  // INT32_MAX, then + 1: delta INT32_MIN - INT32_MAX wraps to 1.
  const Bytes bytes = {0x80, 0x01, 0x04, 0x02, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0x02, 0, 0, 0, 0};
  EXPECT_EQ(DecodeFixed<int32_t>(Encoding::kDeltaBinaryPacked, PhysicalType::kInt32, bytes, 2, 2).ValueOrDie(),
            (std::vector<int32_t>{2147483647, -2147483647 - 1}));
}

TEST(DeltaBinaryPackedDecoder, TruncatedAtEveryByte) {
  const size_t needed = 12;  // the padding of the last miniblock may be missing
  for (size_t size = 0; size < needed; ++size) {
    const Bytes cut(kDelta2.begin(), kDelta2.begin() + size);
    EXPECT_TRUE(
        DecodeFixed<int64_t>(Encoding::kDeltaBinaryPacked, PhysicalType::kInt64, cut, 8, 8).status().IsInvalid())
        << size;
  }
}

TEST(DeltaBinaryPackedDecoder, RefusesHeadersThatContradictThemselves) {
  const auto message = [](const Bytes& bytes, int64_t count) {
    return DecodeFixed<int32_t>(Encoding::kDeltaBinaryPacked, PhysicalType::kInt32, bytes, count, count)
        .status()
        .message();
  };
  EXPECT_EQ(message({0x08, 0x01, 0x05, 0x02}, 5), "a delta block of 8 values");
  EXPECT_EQ(message({0x00, 0x01, 0x05, 0x02}, 5), "a delta block of 0 values");
  EXPECT_EQ(message({0x80, 0x01, 0x00, 0x05, 0x02}, 5), "a delta block of 128 values in 0 miniblocks");
  EXPECT_EQ(message({0x80, 0x01, 0x08, 0x05, 0x02}, 5), "a delta block of 128 values in 8 miniblocks");
  EXPECT_EQ(message(kDelta1, 6), "6 delta values, 5 are left");
  EXPECT_EQ(message({0x80, 0x01, 0x04, 0x05, 0x02, 0x02, 65, 0, 0, 0, 1}, 5), "a delta miniblock of 65 bits");
}

TEST(DeltaBinaryPackedDecoder, DeltasWiderThanTheirValues) {
  // INT32_MIN and INT32_MAX in turn. In 64 bits the smallest delta is -(2^32 - 1); above it the deltas are 2^33 - 2 and
  // 0 in turn, in `width` bits.
  constexpr int kValues = 97;
  for (const int width : {33, 40, 64}) {
    Bytes bytes = {0x80, 0x01, 0x04, kValues, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0xFD, 0xFF, 0xFF, 0xFF, 0x1F};
    for (int i = 0; i < 4; ++i) bytes.push_back(i < 3 ? static_cast<uint8_t>(width) : 0);
    std::vector<bool> bits;
    std::vector<int32_t> expected = {-2147483647 - 1};
    for (int i = 1; i < kValues; ++i) {
      for (int bit = 0; bit < width; ++bit) bits.push_back(i % 2 == 1 && bit >= 1 && bit < 33);
      expected.push_back(i % 2 == 1 ? 2147483647 : -2147483647 - 1);
    }
    const size_t head = bytes.size();
    bytes.resize(head + bits.size() / 8);
    for (size_t i = 0; i < bits.size(); ++i) bytes[head + i / 8] |= static_cast<uint8_t>(bits[i] << (i % 8));
    for (int64_t step : {1, 5, kValues}) {
      EXPECT_EQ(
          DecodeFixed<int32_t>(Encoding::kDeltaBinaryPacked, PhysicalType::kInt32, bytes, kValues, step).ValueOrDie(),
          expected)
          << width;
    }
  }
}

TEST(DeltaLengthByteArrayDecoder, SpecificationVector) {
  const Bytes bytes =
      Bytes{0x80, 0x01, 0x04, 0x04, 0x0A, 0x00, 0x01, 0, 0, 0, 0x02, 0, 0, 0} + "HelloWorldFoobarABCDEF";
  for (int64_t step : {1, 3, 4}) {
    EXPECT_EQ(DecodeBinary(Encoding::kDeltaLengthByteArray, bytes, 4, step).ValueOrDie(),
              (Strings{"Hello", "World", "Foobar", "ABCDEF"}));
  }
  ExpectBinaryTruncation(Encoding::kDeltaLengthByteArray, bytes, bytes.size(), 4);
}

TEST(DeltaLengthByteArrayDecoder, RefusesLengthsThatLie) {
  // One value of -1 bytes; one of 100 bytes; more values than the page has.
  EXPECT_EQ(DecodeBinary(Encoding::kDeltaLengthByteArray, {0x80, 0x01, 0x04, 0x01, 0x01}, 1, 1).status().message(),
            "a byte array of -1 bytes");
  EXPECT_EQ(DecodeBinary(Encoding::kDeltaLengthByteArray, Bytes{0x80, 0x01, 0x04, 0x01, 0xC8, 0x01} + "abc", 1, 1)
                .status()
                .message(),
            "byte arrays of 100 bytes, 3 bytes are left");
  EXPECT_EQ(DecodeBinary(Encoding::kDeltaLengthByteArray, {0x80, 0x01, 0x04, 0x05, 0x02, 0x00, 0, 0, 0, 0}, 4, 4)
                .status()
                .message(),
            "a delta sequence of 5 values in a page of 4");
}

/// axis, axle, babble, babyhood: prefixes 0 2 0 3, suffixes axis le babble yhood.
const Bytes kPrefixes = Bytes{0x80, 0x01, 0x04, 0x04, 0x00, 0x03, 3, 0, 0, 0, 0x44, 0x01} + Bytes(10, 0);
const Bytes kSuffixLengths = Bytes{0x80, 0x01, 0x04, 0x04, 0x08, 0x03, 3, 0, 0, 0, 0x70, 0x00} + Bytes(10, 0);

TEST(DeltaByteArrayDecoder, SpecificationVector) {
  const Bytes bytes = kPrefixes + kSuffixLengths + "axislebabbleyhood";
  for (int64_t step : {1, 3, 4}) {
    EXPECT_EQ(DecodeBinary(Encoding::kDeltaByteArray, bytes, 4, step).ValueOrDie(),
              (Strings{"axis", "axle", "babble", "babyhood"}));
  }
  ExpectBinaryTruncation(Encoding::kDeltaByteArray, bytes, bytes.size(), 4);
}

TEST(DeltaByteArrayDecoder, RefusesAPrefixLongerThanItsPredecessor) {
  // The first value begins with one byte of nothing.
  const Bytes one = {0x80, 0x01, 0x04, 0x01, 0x02};
  EXPECT_EQ(DecodeBinary(Encoding::kDeltaByteArray, one + one + "a", 1, 1).status().message(),
            "a string of 1 + 1 bytes after one of 0");
}

TEST(DeltaByteArrayDecoder, FixedWidthMustMatch) {
  const Bytes zero = {0x80, 0x01, 0x04, 0x01, 0x00}, two = {0x80, 0x01, 0x04, 0x01, 0x04};
  EXPECT_EQ(DecodeFixed<uint8_t>(Encoding::kDeltaByteArray, PhysicalType::kFixedLenByteArray, zero + two + "ab", 1, 1,
                                 nullptr, 2)
                .ValueOrDie(),
            (Bytes{'a', 'b'}));
  EXPECT_EQ(DecodeFixed<uint8_t>(Encoding::kDeltaByteArray, PhysicalType::kFixedLenByteArray, zero + two + "ab", 1, 1,
                                 nullptr, 3)
                .status()
                .message(),
            "a value of 2 bytes in a column of 3");
}

TEST(ByteStreamSplitDecoder, SpecificationVector) {
  const Bytes bytes = {0xAA, 0x00, 0xA3, 0xBB, 0x11, 0xB4, 0xCC, 0x22, 0xC5, 0xDD, 0x33, 0xD6};
  for (int64_t step : {1, 2, 3}) {
    EXPECT_EQ(DecodeFixed<uint32_t>(Encoding::kByteStreamSplit, PhysicalType::kFloat, bytes, 3, step).ValueOrDie(),
              (std::vector<uint32_t>{0xDDCCBBAA, 0x33221100, 0xD6C5B4A3}));
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + size);
    EXPECT_TRUE(DecodeFixed<uint32_t>(Encoding::kByteStreamSplit, PhysicalType::kFloat, cut, 3, 3).status().IsInvalid())
        << size;
  }
}

TEST(ByteStreamSplitDecoder, ValuesOfNoBytesHaveNoStreams) {
  const auto decode = [](const Bytes& bytes) {
    return DecodeFixed<uint8_t>(Encoding::kByteStreamSplit, PhysicalType::kFixedLenByteArray, bytes, 3, 3, nullptr, 0);
  };
  EXPECT_TRUE(decode({}).ok());
  EXPECT_EQ(decode({1, 2, 3}).status().message(), "3 bytes of BYTE_STREAM_SPLIT of values of no bytes");
}

TEST(ValueDecoder, RefusesEncodingsThatCannotHoldTheType) {
  EXPECT_EQ(MakeFixedDecoder(Encoding::kDeltaBinaryPacked, PhysicalType::kDouble, AsTheyAre(8), {}, 1, nullptr)
                .status()
                .message(),
            "encoding DELTA_BINARY_PACKED cannot hold DOUBLE");
  EXPECT_EQ(MakeFixedDecoder(Encoding::kRle, PhysicalType::kInt32, AsTheyAre(4), {}, 1, nullptr).status().message(),
            "encoding RLE cannot hold INT32");
  EXPECT_EQ(MakeBinaryDecoder(Encoding::kByteStreamSplit, {}, 1, nullptr).status().message(),
            "encoding BYTE_STREAM_SPLIT cannot hold BYTE_ARRAY");
  for (const auto& [number, message] : {std::pair{10, "encoding ALP"}, {11, "encoding 11"}}) {
    const auto unknown =
        MakeFixedDecoder(static_cast<Encoding>(number), PhysicalType::kDouble, AsTheyAre(8), {}, 1, nullptr).status();
    EXPECT_TRUE(unknown.IsNotImplemented());
    EXPECT_EQ(unknown.message(), message);
  }
}

}  // namespace
}  // namespace calve::parquet
