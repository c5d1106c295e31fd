#include "calve/catalog/sqlite.h"

#include "temp_folder.h"

#include <gmock/gmock.h>

namespace calve {
namespace {

using ::testing::HasSubstr;
using Mode = SqliteConnection::Mode;

TEST(SqlitePath, Forms) {
  const std::pair<const char*, const char*> cases[] = {{"sqlite:///rel.db", "rel.db"},
                                                       {"sqlite:////abs/x.db", "/abs/x.db"},
                                                       {"sqlite+pysqlite:///rel.db", "rel.db"},
                                                       {"sqlite+pysqlite:////abs/x.db?timeout=5", "/abs/x.db"},
                                                       {"jdbc:sqlite:/abs/x.db", "/abs/x.db"},
                                                       {"jdbc:sqlite:rel.db", "rel.db"},
                                                       {"jdbc:sqlite:file:/abs/x.db", "/abs/x.db"},
                                                       {"jdbc:sqlite:file:///abs/x.db?cache=shared", "/abs/x.db"},
                                                       {"jdbc:sqlite:file:rel.db", "rel.db"}};
  for (const auto& [uri, path] : cases) EXPECT_EQ(SqlitePathOf(uri).ValueOr("error"), path) << uri;
}

TEST(SqlitePath, Others) {
  for (const char* uri : {"sqlite://", "sqlite:///:memory:", "jdbc:sqlite::memory:", "postgresql://h/db", "mysql://h",
                          "jdbc:postgresql://h", "plain"}) {
    EXPECT_TRUE(SqlitePathOf(uri).status().IsNotImplemented()) << uri;
  }
  EXPECT_TRUE(SqlitePathOf("sqlite:/x.db").status().IsInvalid());
}

TEST(Sqlite, QueriesAndNulls) {
  testing::TempFolder folder;
  auto connection = SqliteConnection::Open(folder / "x.db", Mode::kCreate);
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE(connection->Execute("CREATE TABLE t (a TEXT PRIMARY KEY, b TEXT)").ok());
  EXPECT_EQ(connection->Execute("INSERT INTO t VALUES (?, ?)", {"it's", std::nullopt}).ValueOrDie(), 1);
  auto rows = connection->Query("SELECT a, b FROM t WHERE a = ?", {"it's"});
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0][0], "it's");
  EXPECT_EQ((*rows)[0][1], std::nullopt);
  EXPECT_EQ(connection->Execute("UPDATE t SET b = 'x' WHERE a = 'none'").ValueOrDie(), 0);
  EXPECT_TRUE(connection->Execute("INSERT INTO t VALUES (?, 'y')", {"it's"}).status().IsAlreadyExists());
  EXPECT_TRUE(connection->Query("SELECT nope FROM t", {}).status().IsInvalid());
}

TEST(Sqlite, FilesThatAreNoDatabase) {
  testing::TempFolder folder;
  EXPECT_THAT(SqliteConnection::Open(folder / "none.db", Mode::kExisting).status().message(),
              HasSubstr("no such catalog database"));
  testing::WriteText(folder / "text.db", std::string(4096, 'x'));
  auto connection = SqliteConnection::Open(folder / "text.db", Mode::kExisting);
  ASSERT_TRUE(connection.ok());
  arrow::Status status = connection->Query("SELECT 1 FROM sqlite_master", {}).status();
  EXPECT_TRUE(status.IsInvalid()) << status;
  EXPECT_THAT(status.message(), HasSubstr("text.db"));
  EXPECT_TRUE(SqliteConnection::Open(folder / "no/folder.db", Mode::kCreate).status().IsIOError());
}

TEST(Sqlite, TransactionsRollBackUnlessCommitted) {
  testing::TempFolder folder;
  auto connection = SqliteConnection::Open(folder / "x.db", Mode::kCreate).ValueOrDie();
  ASSERT_TRUE(connection.Execute("CREATE TABLE t (a TEXT)").ok());
  for (bool commit : {false, true}) {
    auto transaction = SqliteTransaction::Begin(&connection).ValueOrDie();
    ASSERT_TRUE(connection.Execute("INSERT INTO t VALUES ('x')").ok());
    bool rolled_back = true;
    if (commit) {
      ASSERT_TRUE(transaction->Commit(&rolled_back).ok());
      EXPECT_FALSE(rolled_back);
    }
  }
  EXPECT_EQ(connection.Query("SELECT a FROM t", {}).ValueOrDie().size(), 1u);
}

TEST(Sqlite, JournalModeOfTheDatabaseStays) {
  testing::TempFolder folder;
  {
    auto connection = SqliteConnection::Open(folder / "wal.db", Mode::kCreate).ValueOrDie();
    ASSERT_TRUE(connection.Query("PRAGMA journal_mode = WAL", {}).ok());
    ASSERT_TRUE(connection.Execute("CREATE TABLE t (a TEXT)").ok());
  }
  for (const auto& [name, mode] : {std::pair("wal.db", "wal"), std::pair("new.db", "delete")}) {
    auto connection = SqliteConnection::Open(folder / name, Mode::kCreate).ValueOrDie();
    EXPECT_EQ(connection.Query("PRAGMA journal_mode", {}).ValueOrDie()[0][0], mode) << name;
  }
}

}  // namespace
}  // namespace calve
