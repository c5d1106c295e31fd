#include "calve/catalog/table_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

TEST(TableName, Parts) {
  auto name = ParseTableName("a.b.t");
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_THAT(name->levels, ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(name->table, "t");
  EXPECT_EQ(name->name_space(), "a.b");
  EXPECT_EQ(name->ToString(), "a.b.t");
}

TEST(TableName, Wrong) {
  for (const char* text : {"", "t", ".t", "a.", "a..t", ".", "..", "a.b."}) {
    EXPECT_TRUE(ParseTableName(text).status().IsInvalid()) << text;
  }
  for (const char* text : {"", ".", "a.", ".a"}) EXPECT_TRUE(ParseNamespace(text).status().IsInvalid()) << text;
}

TEST(TableName, FolderNames) {
  EXPECT_TRUE(CheckFolderName("orders 2024").ok());
  for (const char* level : {"", ".", "..", "a/b", "/"}) EXPECT_TRUE(CheckFolderName(level).IsInvalid()) << level;
}

}  // namespace
}  // namespace calve
