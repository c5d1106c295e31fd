// Reads every manifest list and manifest of the full test data, and compares with what fastavro found in them.
#include "calve/avro/reader.h"
#include "calve/iceberg/manifest.h"
#include "calve/io/file_io.h"
#include "temp_folder.h"
#include "test_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>

namespace calve::iceberg {
namespace {

namespace fs = std::filesystem;
using Counts = std::vector<int64_t>;

/// Lists of attempts that lost, and one of a snapshot that names its manifests inline: no metadata leads to them.
const std::vector<std::string> kUnreached = {
    "snap-1584331123492059582-3-91bf4420-2bae-484f-b724-8184d56d3029.avro",
    "snap-7342794868382145167-3-34f7dec7-90c5-4cd5-b158-5782b73fc010.avro",
    "snap-2456114553637229296-1-d65f86b0-b799-467f-b1f4-9c697e4c4fc7.avro",
};

std::map<std::string, Counts> ExpectedCounts() {
  auto json = nlohmann::json::parse(testing::ReadText(testing::Data("iceberg/manifest_counts.json")));
  return json.get<std::map<std::string, Counts>>();
}

Counts CountsOf(const std::vector<ManifestFile>& manifests) {
  Counts counts{static_cast<int64_t>(manifests.size()), 0, 0, 0, 0};
  for (const auto& manifest : manifests) {
    counts[1] += manifest.manifest_length;
    counts[2] += manifest.added_files_count.value_or(0);
    counts[3] += manifest.existing_files_count.value_or(0);
    counts[4] += manifest.deleted_files_count.value_or(0);
  }
  return counts;
}

Counts CountsOf(const std::vector<ManifestEntry>& entries) {
  Counts counts{static_cast<int64_t>(entries.size()), 0, 0, 0, 0, 0, 0};
  for (const auto& entry : entries) {
    constexpr int kPlaces[] = {2, 1, 3};  // existing, added, deleted
    ++counts[static_cast<size_t>(kPlaces[static_cast<int>(entry.status)])];
    counts[4] += entry.file.record_count;
    counts[5] += entry.file.file_size_in_bytes;
    counts[6] += static_cast<int64_t>(entry.file.lower_bounds.size());
  }
  return counts;
}

/// Reads all snapshots of a table's metadata file; what is read goes to `found`, by path below `root`.
class TableWalk {
 public:
  TableWalk(std::string root, std::map<std::string, Counts>* found, std::vector<std::string>* failures)
      : root_(std::move(root)), found_(found), failures_(failures) {}

  void Walk(const fs::path& metadata_file) {
    auto parsed = ParseTableMetadata(FileIO().ReadAll(metadata_file.string()).ValueOrDie());
    if (!parsed.ok()) {
      failures_->push_back(metadata_file.string() + ": " + parsed.status().ToString());
      return;
    }
    auto table_folder = metadata_file.parent_path().parent_path().string();
    FileIO io(PathMap(
        {{parsed->location, table_folder}, {"lineitem_iceberg", table_folder}, {"lineitem_iceberg_gz", table_folder}}));
    for (const auto& snapshot : parsed->snapshots) Read(io, *parsed, snapshot);
  }

 private:
  void Read(const FileIO& io, const TableMetadata& metadata, const Snapshot& snapshot) {
    auto manifests = ManifestsOf(io, metadata, snapshot);
    if (!manifests.ok()) {
      failures_->push_back(manifests.status().message());
      return;
    }
    if (!snapshot.manifest_list.empty()) (*found_)[Name(io, snapshot.manifest_list)] = CountsOf(*manifests);
    for (const auto& manifest : *manifests) {
      auto entries = ReadManifest(io, metadata, manifest);
      if (entries.ok()) {
        (*found_)[Name(io, manifest.manifest_path)] = CountsOf(*entries);
      } else {
        failures_->push_back(entries.status().message());
      }
    }
  }

  std::string Name(const FileIO& io, const std::string& location) const {
    return fs::relative(io.LocalPath(location).ValueOrDie(), root_).string();
  }

  std::string root_;
  std::map<std::string, Counts>* found_;
  std::vector<std::string>* failures_;
};

TEST(ReadManifest, EveryTableOfTheTestData) {
  CALVE_SHARED_DATA(root);
  std::map<std::string, Counts> found;
  std::vector<std::string> failures;
  TableWalk walk(root, &found, &failures);
  for (const char* top : {"/spark-iceberg/warehouse", "/duckdb-iceberg"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root + top)) {
      auto name = entry.path().filename().string();
      if (name[0] != '.' && name.find("metadata.json") != std::string::npos) walk.Walk(entry.path());
    }
  }
  auto expected = ExpectedCounts();
  for (const auto& [name, counts] : found) {
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_EQ(counts, expected[name]) << name;
  }
  std::vector<std::string> unreached;
  for (const auto& [name, counts] : expected) {
    if (!found.contains(name)) unreached.push_back(fs::path(name).filename().string());
  }
  EXPECT_THAT(unreached, ::testing::UnorderedElementsAreArray(kUnreached));
  std::sort(failures.begin(), failures.end());
  failures.erase(std::unique(failures.begin(), failures.end()), failures.end());
  EXPECT_EQ(failures.size(), 8u);
  for (const auto& failure : failures) {
    bool expired = failure.find("/t/m_expire/metadata/snap-") != std::string::npos;
    bool lost = failure.find("snap-7342794868382145167-1-") != std::string::npos;
    EXPECT_TRUE(failure.starts_with("no such file: ") && (expired || lost)) << failure;
  }
}

}  // namespace
}  // namespace calve::iceberg
