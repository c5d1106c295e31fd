#include "calve/simd/snappy.h"

#include "each_target.h"

#include <arrow/util/compression.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace calve::simd {
namespace {

using Bytes = std::vector<uint8_t>;

/// Elements, and what they mean by the format's description.
class Block {
 public:
  /// `length_bytes`: how many hold the length; 0: the tag does, up to 60.
  void Literal(const Bytes& bytes, size_t length_bytes) {
    const size_t length = bytes.size() - 1;
    Add(length_bytes == 0 ? length << 2 : (59 + length_bytes) << 2, 1);
    Add(length, length_bytes);
    elements.insert(elements.end(), bytes.begin(), bytes.end());
    decoded.insert(decoded.end(), bytes.begin(), bytes.end());
  }
  void Copy(int kind, size_t offset, size_t length) {
    AddCopy(kind, offset, length);
    for (; length > 0; --length) decoded.push_back(decoded[decoded.size() - offset]);
  }
  void AddCopy(int kind, size_t offset, size_t length) {
    if (kind == 1) {
      Add(1 | (length - 4) << 2 | offset >> 8 << 5, 1);
      Add(offset & 0xff, 1);
    } else {
      Add(static_cast<size_t>(kind) | (length - 1) << 2, 1);
      Add(offset, kind == 2 ? 2 : 4);
    }
  }

  Bytes elements, decoded;

 private:
  void Add(size_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) elements.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
};

Bytes RandomBytes(size_t count, std::mt19937* random) {
  Bytes bytes(count);
  for (auto& byte : bytes) byte = static_cast<uint8_t>((*random)());
  return bytes;
}

/// Elements of every kind, in an order or in none, and lengths that take more bytes than they must.
Block RandomBlock(size_t elements, std::mt19937* random) {
  Block block;
  block.Literal(RandomBytes(1 + (*random)() % 20, random), 0);
  const size_t first = (*random)() % 2 == 0 ? 4 : (*random)() % 4, second = (*random)() % 4;
  for (size_t i = 0; i < elements; ++i) {
    const size_t most = (*random)() % 3 == 0 ? block.decoded.size() : std::min<size_t>(block.decoded.size(), 20);
    const size_t offset = 1 + (*random)() % most;
    const size_t kind = first == 4 ? (*random)() % 4 : i % 2 == 0 ? first : second;
    if (kind == 0) {
      const size_t length_bytes = (*random)() % 8 == 0 ? 1 + (*random)() % 4 : 0;
      const size_t longest = (*random)() % 4 == 0 ? 60 : 8;
      block.Literal(RandomBytes(1 + (*random)() % longest, random), length_bytes);
    } else if (kind == 1 && offset < 2048) {
      block.Copy(1, offset, 4 + (*random)() % 8);
    } else if (kind == 2 && offset < 65536) {
      block.Copy(2, offset, 1 + (*random)() % 64);
    } else {
      block.Copy(3, offset, 1 + (*random)() % 64);
    }
  }
  return block;
}

/// What Arrow makes of the elements; false when it refuses them.
bool DecodeByArrow(const Bytes& elements, Bytes* out) {
  Bytes whole;
  for (size_t left = out->size();; left >>= 7) {
    whole.push_back(static_cast<uint8_t>(left < 128 ? left : left % 128 | 128));
    if (left < 128) break;
  }
  whole.insert(whole.end(), elements.begin(), elements.end());
  const auto codec = arrow::util::Codec::Create(arrow::Compression::SNAPPY).ValueOrDie();
  const auto size = static_cast<int64_t>(out->size());
  return codec->Decompress(static_cast<int64_t>(whole.size()), whole.data(), size, out->data()).ok();
}

TEST(SnappyElements, EveryOffsetAndLength) {
  ForEachTarget([] {
    std::mt19937 random(1);
    std::vector<size_t> offsets = {64, 100, 2047, 2048, 65535, 65536};
    for (size_t offset = 1; offset <= 40; ++offset) offsets.push_back(offset);
    for (const size_t offset : offsets) {
      Block block;
      block.Literal(RandomBytes(offset, &random), offset > 256 ? 4 : 1);
      for (size_t length = 1; length <= 64; ++length) {
        if (length >= 4 && length < 12 && offset < 2048) block.Copy(1, offset, length);
        if (offset < 65536) block.Copy(2, offset, length);
        block.Literal(RandomBytes(1 + length % 7, &random), 0);
        block.Copy(3, offset, length);
      }
      Bytes out(block.decoded.size());
      ASSERT_TRUE(DecodeSnappyElements(block.elements, out)) << offset;
      ASSERT_EQ(out, block.decoded) << offset;
    }
  });
}

TEST(SnappyElements, LiteralsOfEveryForm) {
  ForEachTarget([] {
    std::mt19937 random(2);
    for (const size_t length : {1, 15, 16, 17, 60, 61, 64, 256, 300, 70000}) {
      for (size_t length_bytes = 0; length_bytes <= 4; ++length_bytes) {
        if (length > (length_bytes == 0 ? size_t{60} : size_t{1} << (8 * std::min<size_t>(length_bytes, 3)))) continue;
        Block block;
        block.Literal(RandomBytes(length, &random), length_bytes);
        block.Copy(2, std::min<size_t>(length, 7), 20);
        block.Literal(RandomBytes(200, &random), 1);
        Bytes out(block.decoded.size());
        ASSERT_TRUE(DecodeSnappyElements(block.elements, out)) << length << " " << length_bytes;
        ASSERT_EQ(out, block.decoded) << length << " " << length_bytes;
      }
    }
  });
}

TEST(SnappyElements, RandomOnesAsArrowReadsThem) {
  ForEachTarget([] {
    std::mt19937 random(3);
    for (size_t i = 0; i < 500; ++i) {
      const Block block = RandomBlock(random() % 500, &random);
      Bytes out(block.decoded.size()), by_arrow(block.decoded.size());
      ASSERT_TRUE(DecodeSnappyElements(block.elements, out)) << i;
      ASSERT_EQ(out, block.decoded) << i;
      ASSERT_TRUE(DecodeByArrow(block.elements, &by_arrow)) << i;
      ASSERT_EQ(out, by_arrow) << i;
    }
  });
}

TEST(SnappyElements, CorruptedOnesAsArrowReadsThem) {
  ForEachTarget([] {
    std::mt19937 random(4);
    size_t refused = 0;
    for (size_t i = 0; i < 5000; ++i) {
      Block block = RandomBlock(5 + random() % 500, &random);
      block.elements[random() % block.elements.size()] = static_cast<uint8_t>(random());
      Bytes out(block.decoded.size()), by_arrow(block.decoded.size());
      const bool decoded = DecodeSnappyElements(block.elements, out);
      ASSERT_EQ(decoded, DecodeByArrow(block.elements, &by_arrow)) << i;
      if (decoded) ASSERT_EQ(out, by_arrow) << i;
      refused += decoded ? 0 : 1;
    }
    EXPECT_GT(refused, 1000u);
  });
}

/// 600 bytes of elements or more, of fewer than 2,000 bytes; their kinds in one order or in none.
Block BlockOf(bool in_order, std::mt19937* random) {
  Block block;
  while (block.elements.size() < 600) {
    block.Literal(RandomBytes(1, random), 0);
    const bool first = in_order || (*random)() % 2 == 0;
    block.Copy(first ? 1 : 2, 1, first ? 4 : 1);
  }
  return block;
}

TEST(SnappyElements, OffsetsBeforeTheFirstByte) {
  ForEachTarget([] {
    std::mt19937 random(7);
    for (const bool in_order : {true, false}) {
      const Block before = BlockOf(in_order, &random);
      const size_t reach = before.decoded.size();
      ASSERT_LT(reach, 2000u);
      for (const int kind : {1, 2, 3}) {
        for (const size_t offset : {reach, reach + 1, size_t{2047}, size_t{0}}) {
          Block block = before;
          block.AddCopy(kind, offset, 8);
          block.decoded.resize(reach + 8);
          for (int i = 0; i < 100; ++i) block.Literal({1}, 0);
          Bytes out(block.decoded.size());
          EXPECT_EQ(DecodeSnappyElements(block.elements, out), offset == reach) << kind << " " << offset;
        }
      }
    }
  });
}

TEST(SnappyElements, TruncatedAtEveryByte) {
  ForEachTarget([] {
    std::mt19937 random(5);
    const Block block = RandomBlock(200, &random);
    for (size_t size = 0; size < block.elements.size(); ++size) {
      const Bytes cut(block.elements.begin(), block.elements.begin() + static_cast<ptrdiff_t>(size));
      Bytes out(block.decoded.size());
      ASSERT_FALSE(DecodeSnappyElements(cut, out)) << size;
    }
  });
}

TEST(SnappyElements, SizesThatLie) {
  ForEachTarget([] {
    std::mt19937 random(6);
    const Block block = RandomBlock(200, &random);
    for (size_t size = 0; size < block.decoded.size() + 100; ++size) {
      Bytes out(size);
      ASSERT_EQ(DecodeSnappyElements(block.elements, out), size == block.decoded.size()) << size;
    }
  });
}

}  // namespace
}  // namespace calve::simd
