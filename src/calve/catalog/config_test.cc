#include "calve/catalog.h"
#include "temp_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

namespace calve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class Config : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"PYICEBERG_HOME", "PYICEBERG_DEFAULT_CATALOG", "HOME"}) Set(name, "");
    Set("HOME", home_.path());
    previous_ = std::filesystem::current_path();
    std::filesystem::current_path(working_.path());
  }
  void TearDown() override {
    std::filesystem::current_path(previous_);
    for (auto& [name, value] : saved_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  void Set(const std::string& name, const std::string& value) {
    const char* before = std::getenv(name.c_str());
    saved_.try_emplace(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::map<std::string, std::string> Properties(const std::string& name) {
    auto config = LoadCatalogConfig(name);
    EXPECT_TRUE(config.ok()) << config.status();
    return config.ok() ? config->properties : std::map<std::string, std::string>();
  }

  testing::TempFolder home_, working_, elsewhere_;
  std::filesystem::path previous_;
  std::map<std::string, std::optional<std::string>> saved_;
};

constexpr char kYaml[] =
    "default-catalog: Prod\n"
    "catalog:\n"
    "  prod:\n"
    "    type: sql\n"
    "    URI: sqlite:////data/cat.db\n"
    "    warehouse: 'file:///data/wh'\n"
    "    s3.connect-timeout: 60.0\n"
    "  other:\n"
    "    uri: http://localhost\n"
    "  empty:\n";

TEST_F(Config, YamlOfHome) {
  testing::WriteText(home_ / ".pyiceberg.yaml", kYaml);
  auto config = LoadCatalogConfig("Prod");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->name, "Prod");
  EXPECT_THAT(config->properties,
              ElementsAre(Pair("s3.connect-timeout", "60.0"), Pair("type", "sql"),
                          Pair("uri", "sqlite:////data/cat.db"), Pair("warehouse", "file:///data/wh")));
  EXPECT_THAT(Properties("other"), ElementsAre(Pair("uri", "http://localhost")));
  EXPECT_THAT(Properties("empty"), ElementsAre());
  EXPECT_THAT(Properties("nobody"), ElementsAre());
  EXPECT_EQ(DefaultCatalogName().ValueOrDie(), "Prod");
}

TEST_F(Config, NothingConfigured) {
  EXPECT_THAT(Properties("default"), ElementsAre());
  EXPECT_EQ(DefaultCatalogName().ValueOrDie(), "default");
  CatalogConfig config = LoadCatalogConfig("my").ValueOrDie();
  arrow::Status status = Catalog::Open(config).status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_THAT(status.message(), HasSubstr("PYICEBERG_CATALOG__MY__URI"));
}

TEST_F(Config, FoldersInOrder) {
  auto yaml = [](const std::string& uri) { return "catalog:\n  c:\n    uri: " + uri + "\n"; };
  testing::WriteText(working_ / ".pyiceberg.yaml", yaml("working"));
  EXPECT_EQ(Properties("c").at("uri"), "working");
  testing::WriteText(home_ / ".pyiceberg.yaml", yaml("home"));
  EXPECT_EQ(Properties("c").at("uri"), "home");
  testing::WriteText(elsewhere_ / ".pyiceberg.yaml", yaml("elsewhere"));
  Set("PYICEBERG_HOME", elsewhere_.path());
  EXPECT_EQ(Properties("c").at("uri"), "elsewhere");
  // An empty file is passed over.
  testing::WriteText(elsewhere_ / ".pyiceberg.yaml", "");
  EXPECT_EQ(Properties("c").at("uri"), "home");
}

TEST_F(Config, EnvironmentWins) {
  testing::WriteText(home_ / ".pyiceberg.yaml", kYaml);
  Set("PYICEBERG_CATALOG__PROD__URI", "sqlite:////other.db");
  Set("PYICEBERG_CATALOG__PROD__S3__ACCESS_KEY_ID", "key");
  Set("PYICEBERG_CATALOG__PROD__WAREHOUSE", "");
  Set("pyiceberg_catalog__new_one__type", "filesystem");
  auto properties = Properties("prod");
  EXPECT_EQ(properties.at("uri"), "sqlite:////other.db");
  EXPECT_EQ(properties.at("s3.access-key-id"), "key");
  EXPECT_EQ(properties.at("warehouse"), "file:///data/wh");
  EXPECT_EQ(Properties("new-one").at("type"), "filesystem");
  Set("PYICEBERG_DEFAULT_CATALOG", "new-one");
  EXPECT_EQ(DefaultCatalogName().ValueOrDie(), "new-one");
}

TEST_F(Config, MalformedYamlNamesFileAndLine) {
  const std::string file = home_ / ".pyiceberg.yaml";
  const std::pair<const char*, int> cases[] = {{"catalog:\n  c:\n    uri: [1, 2\n", 4},
                                               {"catalog:\n  c: {\n", 3},
                                               {"catalog:\n\tc: 1\n", 2},
                                               {"catalog:\n  c:\n    uri:\n      - a\n", 4},
                                               {"- a\n", 1},
                                               {"catalog: &a\n  x: *b\n", 2}};
  for (const auto& [text, line] : cases) {
    testing::WriteText(file, text);
    arrow::Status status = LoadCatalogConfig("c").status();
    EXPECT_TRUE(status.IsInvalid()) << text << status;
    EXPECT_THAT(status.message(), HasSubstr(fmt::format("{}:{}: ", file, line))) << text;
    EXPECT_FALSE(DefaultCatalogName().ok());
  }
}

TEST_F(Config, CatalogTypes) {
  auto open = [](std::map<std::string, std::string> properties) {
    CatalogConfig config;
    config.properties = std::move(properties);
    return Catalog::Open(config).status();
  };
  EXPECT_TRUE(open({{"type", "sql"}, {"uri", "sqlite:////x.db"}}).ok());
  EXPECT_TRUE(open({{"uri", "sqlite:////x.db"}}).ok());
  EXPECT_TRUE(open({{"uri", "jdbc:sqlite:/x.db"}}).ok());
  EXPECT_TRUE(open({{"type", "FileSystem"}, {"warehouse", "/w"}}).ok());
  EXPECT_TRUE(open({{"type", "hadoop"}, {"warehouse", "/w"}}).ok());
  for (const char* type : {"rest", "hive", "glue", "dynamodb", "in-memory"}) {
    arrow::Status status = open({{"type", type}, {"uri", "x"}});
    EXPECT_TRUE(status.IsNotImplemented()) << type;
    EXPECT_THAT(status.message(), HasSubstr(type));
  }
  EXPECT_TRUE(open({{"uri", "http://host"}}).IsNotImplemented());
  EXPECT_TRUE(open({{"uri", "thrift://host"}}).IsNotImplemented());
  EXPECT_TRUE(open({{"uri", "postgresql://host/db"}}).IsNotImplemented());
  EXPECT_TRUE(open({{"type", "sql"}, {"uri", "sqlite:///:memory:"}}).IsNotImplemented());
  EXPECT_TRUE(open({{"py-catalog-impl", "a.B"}}).IsNotImplemented());
  EXPECT_TRUE(open({{"type", "zoo"}}).IsInvalid());
  EXPECT_TRUE(open({{"uri", "zoo://x"}}).IsInvalid());
  EXPECT_TRUE(open({{"type", "sql"}}).IsInvalid());
  EXPECT_TRUE(open({{"type", "filesystem"}}).IsInvalid());
}

}  // namespace
}  // namespace calve
