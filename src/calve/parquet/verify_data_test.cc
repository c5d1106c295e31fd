#include "calve/parquet_verify.h"

#include "documented_differences.h"
#include "parquet_testing_keys.h"
#include "test_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

// Files that other systems wrote. Those that break a rule stand in a table of docs/format/verify.md, with the rules and
// the reason; all others are right.

namespace calve {
namespace {

using Rules = std::set<std::string>;

/// The rules of the files in the table. A row without a reason counts as none.
std::map<std::string, Rules> DocumentedFiles() {
  std::map<std::string, Rules> files;
  std::ifstream in(std::string(CALVE_SOURCE_DIR) + "/docs/format/verify.md");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) != 0 || line.find(".parquet`") == std::string::npos) continue;
    const auto cells = testing::TableCells(line);
    if (cells.size() < 3 || cells[2].empty()) continue;
    std::istringstream rules(cells[1]);
    for (std::string rule; std::getline(rules, rule, ' ');) files[cells[0]].insert(rule);
  }
  return files;
}

/// The Parquet files below `folder`, relative to `root`.
std::vector<std::string> FilesBelow(const std::filesystem::path& root, const std::string& folder) {
  constexpr uintmax_t kLargest = 40 << 20;
  std::vector<std::string> files;
  if (!std::filesystem::exists(root / folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".parquet" || entry.file_size() > kLargest) continue;
    files.push_back(std::filesystem::relative(entry.path(), root).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// What is found of the files below some folders, and what the documentation says of those.
void ExpectAsDocumented(const std::string& root, const std::vector<std::string>& folders) {
  auto documented = DocumentedFiles();
  size_t checked = 0;
  for (const std::string& folder : folders) {
    for (const std::string& file : FilesBelow(root, folder)) {
      // Two strings of 1 GiB each.
      if (file.ends_with("large_string_map.brotli.parquet") && !testing::LongTests()) continue;
      const auto found = VerifyParquet((std::filesystem::path(root) / file).string());
      ASSERT_TRUE(found.ok()) << found.status();
      Rules rules;
      std::string lines;
      for (const auto& violation : found->violations) {
        rules.insert(violation.rule);
        lines += ToString(violation) + "\n";
      }
      EXPECT_EQ(rules, documented[file]) << file << "\n" << lines;
      documented.erase(file);
      ++checked;
    }
  }
  EXPECT_GT(checked, 50u);
  for (const auto& [file, rules] : documented) {
    const bool here = std::any_of(folders.begin(), folders.end(),
                                  [&, name = file](const auto& folder) { return name.starts_with(folder + "/"); });
    EXPECT_FALSE(here) << file << " is documented and not there";
  }
}

TEST(VerifyData, FilesOfOthersAreRightOrDocumented) {
  CALVE_SHARED_DATA(root);
  ExpectAsDocumented(root, {"parquet-testing", "hyparquet"});
}

TEST(VerifyData, FilesOfTablesAreRightOrDocumented) {
  CALVE_SHARED_DATA(root);
  if (!testing::LongTests()) GTEST_SKIP() << "hundreds of files of tables: in the long suite";
  ExpectAsDocumented(root, {"comet", "duckdb-iceberg", "iceberg-encodings", "spark-iceberg"});
}

TEST(VerifyData, EncryptedFilesAreCheckedWithTheirKeysOrSaidNotToBe) {
  CALVE_SHARED_DATA(root);
  const std::string folder = root + "/parquet-testing/data/";
  for (const char* name : {"encrypt_columns_and_footer", "encrypt_columns_plaintext_footer", "uniform_encryption",
                           "encrypt_columns_and_footer_ctr", "encrypt_columns_and_footer_bloom_filter"}) {
    const std::string path = folder + name + ".parquet.encrypted";
    const auto closed = VerifyParquet(path);
    ASSERT_TRUE(closed.ok()) << closed.status();
    EXPECT_TRUE(closed->ok()) << name;
    EXPECT_FALSE(closed->not_checked.empty()) << name;
    ParquetVerifyOptions options;
    auto keys = std::make_shared<ParquetDecryption>();
    keys->footer_key = "0123456789012345";
    keys->column_keys = {{"double_field", "1234567890123450"}, {"float_field", "1234567890123451"}};
    options.decryption = keys;
    const auto open = VerifyParquet(path, options);
    ASSERT_TRUE(open.ok()) << open.status();
    for (const auto& violation : open->violations) ADD_FAILURE() << name << ": " << ToString(violation);
    for (const auto& why : open->not_checked) ADD_FAILURE() << name << ": " << why;
    EXPECT_GT(open->pages, 0) << name;
  }
}

}  // namespace
}  // namespace calve
