#pragma once

#include <arrow/result.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace calve {

/// A connection to a SQLite database file. Waits for other writers (busy timeout); changes nothing about the file:
/// journal mode and the like stay as they are. Not thread-safe, and not to be carried over a fork.
class SqliteConnection {
 public:
  enum class Mode { kExisting, kCreate };
  /// Invalid when the file does not exist (kExisting) or is no database.
  static arrow::Result<SqliteConnection> Open(const std::string& path, Mode mode);

  SqliteConnection(SqliteConnection&& other) noexcept;
  SqliteConnection& operator=(SqliteConnection&&) = delete;
  ~SqliteConnection();

  using Row = std::vector<std::optional<std::string>>;
  /// Runs one statement with text parameters and returns its rows.
  arrow::Result<std::vector<Row>> Query(std::string_view sql,
                                        const std::vector<std::optional<std::string>>& parameters);
  /// The same without rows; returns the number of rows changed. AlreadyExists for a broken PRIMARY KEY.
  arrow::Result<int> Execute(std::string_view sql, const std::vector<std::optional<std::string>>& parameters = {});

  const std::string& path() const { return path_; }
  /// True when the last call failed because others hold a lock.
  bool is_busy() const;

 private:
  explicit SqliteConnection(std::string path) : path_(std::move(path)) {}
  arrow::Status Error(std::string_view action) const;

  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// A write transaction: it holds the write lock from the start (BEGIN IMMEDIATE), so that no statement in it can meet
/// another writer. Destroyed without Commit() it is rolled back.
class SqliteTransaction {
 public:
  static arrow::Result<std::unique_ptr<SqliteTransaction>> Begin(SqliteConnection* connection);
  ~SqliteTransaction();
  /// An error leaves it open whether the transaction happened, unless `rolled_back` says that it did not.
  arrow::Status Commit(bool* rolled_back);

 private:
  explicit SqliteTransaction(SqliteConnection* connection) : connection_(connection) {}
  SqliteConnection* connection_;
  bool open_ = true;
};

/// The database file that a catalog's "uri" names: sqlite:///relative.db, sqlite:////absolute.db, with a driver
/// (sqlite+pysqlite:///...), jdbc:sqlite:/path, jdbc:sqlite:file:/path. What follows a "?" is ignored. Databases of
/// other kinds and in memory are NotImplemented, by name.
arrow::Result<std::string> SqlitePathOf(std::string_view uri);

}  // namespace calve
