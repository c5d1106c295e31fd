#include "calve/compress/codec.h"

#include <arrow/util/compression.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace calve {
namespace {

const std::vector<Codec> kCodecs = {Codec::kUncompressed, Codec::kSnappy, Codec::kGzip,
                                    Codec::kDeflate,      Codec::kZlib,   Codec::kBrotli,
                                    Codec::kZstd,         Codec::kLz4Raw, Codec::kLz4Hadoop};

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// Words that repeat, and noise that does not.
std::string Sample(size_t size) {
  std::mt19937 random(static_cast<uint32_t>(size) + 1);
  std::string text;
  while (text.size() < size) {
    if (random() % 3 == 0) text += static_cast<char>(random());
    text += "lake house "[random() % 11];
    if (random() % 7 == 0) text.append(random() % 60, 'x');
  }
  text.resize(size);
  return text;
}

Result<std::string> DecompressToString(Codec codec, std::string_view in, size_t size) {
  std::string out(size, '\0');
  ARROW_RETURN_NOT_OK(Decompress(codec, Bytes(in), {reinterpret_cast<uint8_t*>(out.data()), out.size()}));
  return out;
}

std::string Compressed(Codec codec, std::string_view in, std::optional<int> level = {}) {
  return CompressToString(codec, level, in).ValueOrDie();
}

std::unique_ptr<arrow::util::Codec> ArrowCodec(Codec codec) {
  using arrow::Compression;
  auto type = Compression::UNCOMPRESSED;
  switch (codec) {
    case Codec::kSnappy:
      type = Compression::SNAPPY;
      break;
    case Codec::kGzip:
      type = Compression::GZIP;
      break;
    case Codec::kBrotli:
      type = Compression::BROTLI;
      break;
    case Codec::kZstd:
      type = Compression::ZSTD;
      break;
    case Codec::kLz4Raw:
      type = Compression::LZ4;
      break;
    case Codec::kLz4Hadoop:
      type = Compression::LZ4_HADOOP;
      break;
    default:
      return nullptr;
  }
  return arrow::util::Codec::Create(type).ValueOrDie();
}

std::string CompressedBy(arrow::util::Codec& codec, std::string_view in) {
  std::string out(static_cast<size_t>(codec.MaxCompressedLen(static_cast<int64_t>(in.size()), Bytes(in).data())), '\0');
  auto size = codec.Compress(static_cast<int64_t>(in.size()), Bytes(in).data(), static_cast<int64_t>(out.size()),
                             reinterpret_cast<uint8_t*>(out.data()));
  out.resize(static_cast<size_t>(size.ValueOrDie()));
  return out;
}

class EveryCodec : public ::testing::TestWithParam<Codec> {};

TEST_P(EveryCodec, RoundTrip) {
  for (size_t size : {0, 1, 2, 100, 65535, 65536, 300000}) {
    auto text = Sample(size);
    auto compressed = Compressed(GetParam(), text);
    ASSERT_LE(compressed.size(), MaxCompressedSize(GetParam(), size));
    ASSERT_EQ(DecompressToString(GetParam(), compressed, size).ValueOrDie(), text);
    ASSERT_EQ(DecompressAll(GetParam(), Bytes(compressed), size).ValueOrDie(), text);
    ASSERT_EQ(DecompressAll(GetParam(), Bytes(compressed), size * 10 + 7).ValueOrDie(), text);
  }
}

TEST_P(EveryCodec, ArrowReadsWhatIsWritten) {
  auto oracle = ArrowCodec(GetParam());
  if (!oracle) return;  // Arrow has no such codec
  for (size_t size : {1, 1000, 100000}) {
    auto text = Sample(size);
    auto compressed = Compressed(GetParam(), text);
    std::string out(size, '\0');
    auto read = oracle->Decompress(static_cast<int64_t>(compressed.size()), Bytes(compressed).data(),
                                   static_cast<int64_t>(size), reinterpret_cast<uint8_t*>(out.data()));
    ASSERT_EQ(read.ValueOrDie(), static_cast<int64_t>(size));
    ASSERT_EQ(out, text);
  }
}

TEST_P(EveryCodec, ReadsWhatArrowWrites) {
  auto oracle = ArrowCodec(GetParam());
  if (!oracle) return;
  for (size_t size : {0, 1, 1000, 100000}) {
    auto text = Sample(size);
    ASSERT_EQ(DecompressToString(GetParam(), CompressedBy(*oracle, text), size).ValueOrDie(), text);
  }
}

TEST_P(EveryCodec, SizeThatLies) {
  auto text = Sample(5000);
  auto compressed = Compressed(GetParam(), text);
  for (size_t size : {0, 1, 4999, 5001, 6000, 1000000}) {
    auto result = DecompressToString(GetParam(), compressed, size);
    ASSERT_TRUE(result.status().IsInvalid()) << size << ": " << result.status();
  }
  EXPECT_TRUE(DecompressAll(GetParam(), Bytes(compressed), 4999).status().IsInvalid());
}

TEST_P(EveryCodec, TruncatedAtEveryByte) {
  auto text = Sample(3000);
  auto compressed = Compressed(GetParam(), text);
  for (size_t size = 0; size < compressed.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees a read past it.
    std::vector<uint8_t> cut(compressed.begin(), compressed.begin() + static_cast<ptrdiff_t>(size));
    std::string out(text.size(), '\0');
    auto status = Decompress(GetParam(), cut, {reinterpret_cast<uint8_t*>(out.data()), out.size()});
    ASSERT_TRUE(status.IsInvalid()) << "cut at " << size;
  }
}

TEST_P(EveryCodec, CorruptionNeverCrashes) {
  auto text = Sample(2000);
  auto compressed = Compressed(GetParam(), text);
  for (size_t i = 0; i < compressed.size(); ++i) {
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> bad(compressed.begin(), compressed.end());
      bad[i] ^= flip;
      std::vector<uint8_t> out(text.size());
      auto status = Decompress(GetParam(), bad, out);
      ASSERT_TRUE(status.ok() || status.IsInvalid());
      auto all = DecompressAll(GetParam(), bad, 1 << 20);
      ASSERT_TRUE(all.ok() || all.status().IsInvalid());
    }
  }
}

TEST_P(EveryCodec, NoBytesAreNoBytes) {
  EXPECT_TRUE(Decompress(GetParam(), {}, {}).ok());
  EXPECT_EQ(DecompressAll(GetParam(), {}, 10).ValueOrDie(), "");
  EXPECT_TRUE(DecompressToString(GetParam(), "", 1).status().IsInvalid());
}

TEST_P(EveryCodec, ContextsAreSafeAcrossThreads) {
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        auto text = Sample(static_cast<size_t>(1000 * t + i));
        good[t] += DecompressToString(GetParam(), Compressed(GetParam(), text), text.size()).ValueOrDie() == text;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, std::vector<int>(4, 20));
}

INSTANTIATE_TEST_SUITE_P(Codecs, EveryCodec, ::testing::ValuesIn(kCodecs),
                         [](const auto& test) { return std::string(ToString(test.param)); });

TEST(Gzip, SeveralMembers) {
  auto text = Sample(1000);
  auto members = Compressed(Codec::kGzip, text.substr(0, 400)) + Compressed(Codec::kGzip, "") +
                 Compressed(Codec::kGzip, text.substr(400));
  EXPECT_EQ(DecompressToString(Codec::kGzip, members, 1000).ValueOrDie(), text);
  EXPECT_EQ(DecompressAll(Codec::kGzip, Bytes(members), 1 << 20).ValueOrDie(), text);
  EXPECT_TRUE(DecompressToString(Codec::kGzip, members, 400).status().IsInvalid());
  EXPECT_TRUE(DecompressToString(Codec::kGzip, members + "x", 1000).status().IsInvalid());
}

TEST(Gzip, ZlibWrapped) {
  auto text = Sample(1000);
  EXPECT_EQ(DecompressToString(Codec::kGzip, Compressed(Codec::kZlib, text), 1000).ValueOrDie(), text);
}

TEST(Gzip, ChecksumMismatch) {
  auto compressed = Compressed(Codec::kGzip, "some text");
  compressed[compressed.size() - 8] ^= 1;
  EXPECT_TRUE(DecompressToString(Codec::kGzip, compressed, 9).status().IsInvalid());
}

TEST(Zstd, SeveralFramesAndSkippableOnes) {
  auto text = Sample(1000);
  const std::string skippable(
      "\x50\x2a\x4d\x18\x03\x00\x00\x00"
      "abc",
      11);
  auto frames = Compressed(Codec::kZstd, text.substr(0, 10)) + skippable + Compressed(Codec::kZstd, text.substr(10));
  EXPECT_EQ(DecompressToString(Codec::kZstd, frames, 1000).ValueOrDie(), text);
  EXPECT_EQ(DecompressAll(Codec::kZstd, Bytes(frames), 1000).ValueOrDie(), text);
}

// Bytes of three values, and then noise: neither spoils the code of the other. Arrow reads both forms.
TEST(Zstd, HeadOfAnotherKind) {
  std::mt19937 random(4);
  std::string text(150'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(i < 50'000 ? "\x11\x12\x21"[random() % 3] : random());
  }
  std::string out(MaxCompressedSize(Codec::kZstd, text.size()), '\0');
  const std::span<uint8_t> to(reinterpret_cast<uint8_t*>(out.data()), out.size());
  const size_t together = Compress(Codec::kZstd, 1, Bytes(text), to).ValueOrDie();
  for (const size_t head : {size_t{0}, size_t{1}, size_t{10'000}, size_t{50'000}, size_t{149'999}, text.size()}) {
    const size_t size = Compress(Codec::kZstd, 1, Bytes(text), to, head).ValueOrDie();
    EXPECT_EQ(DecompressToString(Codec::kZstd, out.substr(0, size), text.size()).ValueOrDie(), text) << head;
    std::string theirs(text.size(), '\0');
    EXPECT_EQ(*ArrowCodec(Codec::kZstd)
                   ->Decompress(static_cast<int64_t>(size), to.data(), static_cast<int64_t>(theirs.size()),
                                reinterpret_cast<uint8_t*>(theirs.data())),
              static_cast<int64_t>(text.size()));
    EXPECT_EQ(theirs, text) << head;
    if (head == 50'000) EXPECT_LT(size, together);
  }
}

TEST(Deflate, RestOfZlibChecksumMayFollow) {
  auto text = Sample(1000);
  auto wrapped = Compressed(Codec::kZlib, text).substr(2);
  for (size_t left = 0; left <= 4; ++left) {
    auto cut = wrapped.substr(0, wrapped.size() - 4 + left);
    EXPECT_EQ(DecompressToString(Codec::kDeflate, cut, 1000).ValueOrDie(), text) << left;
  }
  EXPECT_TRUE(DecompressToString(Codec::kDeflate, wrapped + wrapped.back(), 1000).status().IsInvalid());
  wrapped[wrapped.size() - 2] ^= 1;
  EXPECT_TRUE(DecompressToString(Codec::kDeflate, wrapped, 1000).status().IsInvalid());
}

TEST(TrailingBytes, AreInvalid) {
  auto text = Sample(1000);
  for (Codec codec : kCodecs) {
    EXPECT_TRUE(DecompressToString(codec, Compressed(codec, text) + "zz", 1000).status().IsInvalid())
        << ToString(codec);
  }
}

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

TEST(Lz4Hadoop, SeveralPartsAndChunks) {
  auto text = Sample(900);
  auto chunk = [](std::string_view piece) {
    auto block = Compressed(Codec::kLz4Raw, piece);
    return BigEndian(static_cast<uint32_t>(block.size())) + block;
  };
  auto two_parts = BigEndian(300) + chunk(text.substr(0, 300)) + BigEndian(600) + chunk(text.substr(300));
  EXPECT_EQ(DecompressToString(Codec::kLz4Hadoop, two_parts, 900).ValueOrDie(), text);
  auto two_chunks = BigEndian(900) + chunk(text.substr(0, 450)) + chunk(text.substr(450));
  EXPECT_EQ(DecompressToString(Codec::kLz4Hadoop, two_chunks, 900).ValueOrDie(), text);
  EXPECT_TRUE(DecompressToString(Codec::kLz4Hadoop, two_chunks, 899).status().IsInvalid());
}

TEST(Lz4Hadoop, FallsBackToFrameAndRawBlock) {
  auto text = Sample(900);
  auto frame_codec = arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME).ValueOrDie();
  auto frame = CompressedBy(*frame_codec, text);
  EXPECT_EQ(DecompressToString(Codec::kLz4Hadoop, frame, 900).ValueOrDie(), text);
  EXPECT_EQ(DecompressAll(Codec::kLz4Hadoop, Bytes(frame), 5000).ValueOrDie(), text);
  EXPECT_TRUE(DecompressToString(Codec::kLz4Hadoop, frame, 899).status().IsInvalid());
  EXPECT_TRUE(DecompressToString(Codec::kLz4Hadoop, frame.substr(0, frame.size() / 2), 900).status().IsInvalid());
  auto raw = Compressed(Codec::kLz4Raw, text);
  EXPECT_EQ(DecompressToString(Codec::kLz4Hadoop, raw, 900).ValueOrDie(), text);
}

TEST(Snappy, LengthThatTheBytesCannotHold) {
  const std::string claims_4_gib("\xff\xff\xff\xff\x0f\x00\x61", 7);
  EXPECT_TRUE(DecompressAll(Codec::kSnappy, Bytes(claims_4_gib), size_t{1} << 33).status().IsInvalid());
}

TEST(DecompressAll, StopsAtTheLimit) {
  auto bomb = Compressed(Codec::kZstd, std::string(50'000'000, 'a'));
  ASSERT_LT(bomb.size(), 10000u);
  auto result = DecompressAll(Codec::kZstd, Bytes(bomb), 1'000'000);
  ASSERT_TRUE(result.status().IsInvalid());
  EXPECT_NE(result.status().message().find("more than 1000000 bytes"), std::string::npos) << result.status();
}

TEST(Compress, LevelsAreCheckedAndUsed) {
  auto text = Sample(50000);
  EXPECT_LT(Compressed(Codec::kZstd, text, 19).size(), Compressed(Codec::kZstd, text, 1).size());
  EXPECT_LT(Compressed(Codec::kGzip, text, 9).size(), Compressed(Codec::kGzip, text, 1).size());
  EXPECT_LT(Compressed(Codec::kLz4Raw, text, 9).size(), Compressed(Codec::kLz4Raw, text, 1).size());
  EXPECT_LT(Compressed(Codec::kBrotli, text, 9).size(), Compressed(Codec::kBrotli, text, 1).size());
  for (Codec codec : {Codec::kZstd, Codec::kGzip, Codec::kLz4Raw, Codec::kBrotli}) {
    EXPECT_TRUE(CompressToString(codec, 1000, text).status().IsInvalid()) << ToString(codec);
  }
}

TEST(Compress, DestinationTooSmallIsInvalid) {
  std::vector<uint8_t> out(3);
  auto text = Sample(100);
  EXPECT_TRUE(Compress(Codec::kZstd, {}, Bytes(text), out).status().IsInvalid());
}

}  // namespace
}  // namespace calve
