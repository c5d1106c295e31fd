#include "calve/catalog/sqlite.h"

#include "calve/base/status.h"

#include <sqlite3.h>

#include <filesystem>

namespace calve {
namespace {

constexpr int kBusyTimeoutMs = 60'000;

struct StatementDeleter {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, StatementDeleter>;

}  // namespace

SqliteConnection::SqliteConnection(SqliteConnection&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}

SqliteConnection::~SqliteConnection() { sqlite3_close_v2(handle_); }

Status SqliteConnection::Error(std::string_view action) const {
  const int code = sqlite3_errcode(handle_);
  const int extended = sqlite3_extended_errcode(handle_);
  const std::string message = fmt::format("catalog database {}: cannot {}: {}", path_, action, sqlite3_errmsg(handle_));
  if (extended == SQLITE_CONSTRAINT_PRIMARYKEY || extended == SQLITE_CONSTRAINT_UNIQUE) {
    return Status::AlreadyExists(message);
  }
  const bool wrong_file = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
  return wrong_file ? Status::Invalid(message) : Status::IOError(message);
}

bool SqliteConnection::is_busy() const { return sqlite3_errcode(handle_) == SQLITE_BUSY; }

arrow::Result<SqliteConnection> SqliteConnection::Open(const std::string& path, Mode mode) {
  if (mode == Mode::kExisting) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return Invalid("no such catalog database: {}", path);
  }
  SqliteConnection connection(path);
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &connection.handle_, flags, nullptr);
  if (connection.handle_ == nullptr) return Status::OutOfMemory("SQLite cannot open ", path);
  if (code != SQLITE_OK) return connection.Error("open it");
  sqlite3_busy_timeout(connection.handle_, kBusyTimeoutMs);
  return connection;
}

arrow::Result<std::vector<SqliteConnection::Row>> SqliteConnection::Query(
    std::string_view sql, const std::vector<std::optional<std::string>>& parameters) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK) {
    return Error(fmt::format("prepare \"{}\"", sql));
  }
  StatementPtr statement(raw);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int index = static_cast<int>(i) + 1;
    const int code = parameters[i] ? sqlite3_bind_text64(raw, index, parameters[i]->data(), parameters[i]->size(),
                                                         SQLITE_TRANSIENT, SQLITE_UTF8)
                                   : sqlite3_bind_null(raw, index);
    if (code != SQLITE_OK) return Error("bind a parameter");
  }
  std::vector<Row> rows;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    Row row(static_cast<size_t>(sqlite3_column_count(raw)));
    for (size_t i = 0; i < row.size(); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, static_cast<int>(i)));
      if (text != nullptr) row[i].emplace(text, static_cast<size_t>(sqlite3_column_bytes(raw, static_cast<int>(i))));
    }
    rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) return Error(fmt::format("run \"{}\"", sql.substr(0, sql.find('('))));
  return rows;
}

arrow::Result<int> SqliteConnection::Execute(std::string_view sql,
                                             const std::vector<std::optional<std::string>>& parameters) {
  ARROW_RETURN_NOT_OK(Query(sql, parameters).status());
  return sqlite3_changes(handle_);
}

arrow::Result<std::unique_ptr<SqliteTransaction>> SqliteTransaction::Begin(SqliteConnection* connection) {
  ARROW_RETURN_NOT_OK(connection->Execute("BEGIN IMMEDIATE").status());
  return std::unique_ptr<SqliteTransaction>(new SqliteTransaction(connection));
}

SqliteTransaction::~SqliteTransaction() {
  if (open_) ARROW_UNUSED(connection_->Execute("ROLLBACK"));
}

Status SqliteTransaction::Commit(bool* rolled_back) {
  *rolled_back = false;
  Status committed = connection_->Execute("COMMIT").status();
  open_ = false;
  if (committed.ok()) return committed;
  // When readers hold it up, the transaction is still open and can be undone. After other errors (of the disk) nothing
  // is certain.
  const bool busy = connection_->is_busy();
  *rolled_back = connection_->Execute("ROLLBACK").ok() && busy;
  return committed;
}

arrow::Result<std::string> SqlitePathOf(std::string_view uri) {
  std::string_view path = uri;
  auto strip = [&](std::string_view prefix) {
    if (!path.starts_with(prefix)) return false;
    path.remove_prefix(prefix.size());
    return true;
  };
  if (strip("jdbc:sqlite:")) {
    if (strip("file:")) {
      // file:/x, file:///x and file:x
      if (path.starts_with("///")) path.remove_prefix(2);
    }
  } else {
    const size_t colon = path.find(':');
    const std::string_view scheme = path.substr(0, colon);
    if (colon == std::string_view::npos || (scheme != "sqlite" && !scheme.starts_with("sqlite+"))) {
      return NotImplemented("SQL catalogs other than SQLite: '{}'", uri.substr(0, colon));
    }
    path.remove_prefix(colon + 1);
    if (path == "//" || path.empty()) return NotImplemented("SQLite catalogs in memory: '{}'", uri);
    if (!strip("///")) return Invalid("'{}' names no SQLite file: expected sqlite:///path", uri);
  }
  path = path.substr(0, path.find('?'));
  if (path.empty() || path.starts_with(":memory:")) return NotImplemented("SQLite catalogs in memory: '{}'", uri);
  return std::string(path);
}

}  // namespace calve
