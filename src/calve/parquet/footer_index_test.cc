#include "calve/parquet/footer_index.h"

#include "calve/parquet/metadata_reader.h"
#include "calve/parquet/read_plan.h"
#include "calve/parquet/schema.h"
#include "test_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

// The index of a footer takes what the parsers take, and refuses what they refuse.

namespace calve::parquet {
namespace {

std::string FooterOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string file((std::istreambuf_iterator<char>(in)), {});
  if (file.size() < 12 || file.substr(file.size() - 4) != "PAR1") return {};
  uint32_t size = 0;
  std::memcpy(&size, file.data() + file.size() - 8, 4);
  return size + 12 > file.size() ? std::string() : file.substr(file.size() - 8 - size, size);
}

/// The footers of all Parquet files of the shared data, those longer than `most_bytes` left out.
std::vector<std::pair<std::string, std::string>> SharedFooters(const std::string& folder, size_t most_bytes) {
  std::vector<std::pair<std::string, std::string>> footers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".parquet") continue;
    std::string footer = FooterOf(entry.path().string());
    if (!footer.empty() && footer.size() <= most_bytes) footers.emplace_back(entry.path().string(), std::move(footer));
  }
  std::sort(footers.begin(), footers.end());
  return footers;
}

/// Of the small ones, all in a long run, otherwise one in forty.
std::vector<std::pair<std::string, std::string>> SmallFooters(const std::string& folder) {
  constexpr size_t kSmallFooter = 900;
  const auto all = SharedFooters(folder, kSmallFooter);
  const size_t step = testing::LongTests() ? 1 : 40;
  std::vector<std::pair<std::string, std::string>> footers;
  for (size_t i = 0; i < all.size(); i += step) footers.push_back(all[i]);
  return footers;
}

Status ParseWhole(const std::string& footer) {
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(footer.data()), footer.size());
  ARROW_ASSIGN_OR_RAISE(const FileMetadata metadata, ParseFileMetadata(bytes));
  ARROW_ASSIGN_OR_RAISE(const FileSchema schema, FileSchema::Make(metadata.schema));
  return CheckFileMetadata(metadata, schema).status();
}

/// With bytes behind it, as the rest of a longer footer: near its end, chunks are passed over with more care.
std::string WithRest(const std::string& footer) { return footer + std::string(20000, '\x15'); }

/// The status of the index, which is to be that of the parsers.
Status ExpectAgreement(const std::string& footer, const std::string& what) {
  const Status parsed = ParseWhole(footer);
  const Status indexed = FooterIndex::Make(arrow::Buffer::FromString(footer)).status();
  EXPECT_EQ(parsed.ok(), indexed.ok()) << what << "\nparsed: " << parsed << "\nindexed: " << indexed;
  EXPECT_TRUE(indexed.ok() || indexed.IsInvalid()) << what << ": " << indexed;
  const std::string longer = WithRest(footer);
  const Status parsed_longer = ParseWhole(longer);
  const Status indexed_longer = FooterIndex::Make(arrow::Buffer::FromString(longer)).status();
  EXPECT_EQ(parsed_longer.ok(), indexed_longer.ok())
      << what << ", with a rest\nparsed: " << parsed_longer << "\nindexed: " << indexed_longer;
  return indexed;
}

TEST(FooterIndex, TakesWhatTheParsersTake) {
  CALVE_SHARED_DATA(data);
  int taken = 0;
  for (const auto& [path, footer] : SharedFooters(data, size_t{64} << 20)) {
    taken += ExpectAgreement(footer, path).ok() ? 1 : 0;
  }
  EXPECT_GT(taken, 100);
}

TEST(FooterIndex, TruncatedAtEveryByte) {
  CALVE_SHARED_DATA(data);
  int footers = 0;
  for (const auto& [path, footer] : SmallFooters(data)) {
    if (!ParseWhole(footer).ok()) continue;
    ++footers;
    for (size_t size = 0; size < footer.size(); ++size) {
      ASSERT_TRUE(ExpectAgreement(footer.substr(0, size), fmt::format("{} cut at {}", path, size)).IsInvalid());
    }
  }
  EXPECT_GT(footers, 2);
}

TEST(FooterIndex, AgreesWithTheParsersOnEveryFlippedByte) {
  CALVE_SHARED_DATA(data);
  int taken = 0, refused = 0;
  for (auto& [path, footer] : SmallFooters(data)) {
    for (size_t i = 0; i < footer.size(); ++i) {
      const char original = footer[i];
      for (const int mask : {0x01, 0x02, 0x10, 0x80, 0xff, -1}) {
        footer[i] = mask < 0 ? '\0' : static_cast<char>(original ^ mask);
        const Status status = ExpectAgreement(footer, fmt::format("{} byte {} mask {}", path, i, mask));
        (status.ok() ? taken : refused) += 1;
        if (::testing::Test::HasFailure()) return;
      }
      footer[i] = original;
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

/// Some bytes of `footer` copied, removed or replaced.
std::string Damaged(const std::string& footer, std::mt19937& random) {
  std::string result = footer;
  const auto at = [&] { return random() % (result.size() + 1); };
  for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
    const size_t from = at(), size = random() % 40;
    switch (random() % 3) {
      case 0:
        result.erase(from, size);
        break;
      case 1:
        result.insert(at(), result.substr(from, size));
        break;
      default:
        if (from < result.size()) result[from] = static_cast<char>(random());
    }
  }
  return result;
}

TEST(FooterIndex, AgreesWithTheParsersOnDamagedFooters) {
  CALVE_SHARED_DATA(data);
  std::mt19937 random(11);
  int taken = 0;
  for (const auto& [path, footer] : SmallFooters(data)) {
    for (int i = 0; i < 300; ++i) {
      taken += ExpectAgreement(Damaged(footer, random), fmt::format("{} damage {}", path, i)).ok() ? 1 : 0;
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(taken, 100);
}

TEST(FooterIndex, FindsTheSameChunksNearItsEndAsBeforeIt) {
  CALVE_SHARED_DATA(data);
  for (const auto& [path, footer] : SharedFooters(data, 5000)) {
    const auto near = FooterIndex::Make(arrow::Buffer::FromString(footer));
    const auto before = FooterIndex::Make(arrow::Buffer::FromString(WithRest(footer)));
    if (!near.ok()) continue;
    ASSERT_TRUE(before.ok()) << path;
    for (int group = 0; group < static_cast<int>((*near)->row_groups().size()); ++group) {
      for (int leaf = 0; leaf < (*near)->num_columns(); ++leaf) {
        EXPECT_EQ((*near)->column_chunk(group, leaf).data() - (*near)->bytes().data(),
                  (*before)->column_chunk(group, leaf).data() - (*before)->bytes().data());
      }
    }
  }
}

TEST(FooterIndex, TakesMemoryThatTheBytesJustify) {
  CALVE_SHARED_DATA(data);
  for (const auto& [path, footer] : SharedFooters(data, size_t{64} << 20)) {
    const auto index = FooterIndex::Make(arrow::Buffer::FromString(footer));
    if (!index.ok()) continue;
    EXPECT_LT((*index)->memory_bytes(), static_cast<int64_t>(4096 + 10 * footer.size())) << path;
  }
}

}  // namespace
}  // namespace calve::parquet
