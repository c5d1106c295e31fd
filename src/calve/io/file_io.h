#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace calve {

using arrow::Result;
using arrow::Status;

/// Maps the locations that a table's metadata names to where its files lie now: the longest `from` that is a
/// whole-segment prefix is replaced by `to`. Schemes are compared after normalization (`file:/x`, `file:///x` and `/x`
/// are the same).
class PathMap {
 public:
  PathMap() = default;
  explicit PathMap(std::vector<std::pair<std::string, std::string>> moves);

  bool empty() const { return moves_.empty(); }
  std::string Map(std::string_view location) const;

 private:
  std::vector<std::pair<std::string, std::string>> moves_;
};

/// A location without its `file:` scheme and with one slash between segments; locations of other schemes unchanged.
std::string NormalizeLocation(std::string_view location);

/// Files by location, on local disks. Other schemes are NotImplemented, by name. Thread-safe.
///
/// Every error names the location. What is written is complete or absent: bytes go to a temporary name in the same
/// folder, are synced, and get the final name in one step; the folder is synced too.
class FileIO {
 public:
  explicit FileIO(PathMap paths = {}) : paths_(std::move(paths)) {}

  const PathMap& paths() const { return paths_; }
  /// The local path of `location`.
  Result<std::string> LocalPath(std::string_view location) const;

  Result<bool> Exists(std::string_view location) const;
  Result<int64_t> Size(std::string_view location) const;  ///< IOError "no such file" when it is gone
  Result<std::string> ReadAll(std::string_view location) const;
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> Open(std::string_view location) const;

  /// Creates `location` with `bytes`, synced. AlreadyExists (and the file unchanged) when something has that name: of
  /// writers that race, one succeeds. Missing folders are made.
  Status CreateNew(std::string_view location, std::string_view bytes) const;
  /// Creates or replaces `location` in one step, synced.
  Status Replace(std::string_view location, std::string_view bytes) const;
  Status Delete(std::string_view location) const;
  /// Names (not locations) in the folder `location`, sorted; IOError when it is no folder.
  Result<std::vector<std::string>> List(std::string_view location) const;

  /// A file being written under a temporary name. Destroyed without Commit(), it leaves nothing behind.
  class Output;
  /// Missing folders are made. The final name must not exist yet when Commit is called.
  Result<std::unique_ptr<Output>> Create(std::string_view location) const;

 private:
  PathMap paths_;
};

class FileIO::Output {
 public:
  virtual ~Output() = default;
  virtual arrow::io::OutputStream* stream() = 0;
  /// Closes, syncs and names the file. Returns its size. AlreadyExists when the name is taken.
  virtual Result<int64_t> Commit() = 0;
};

}  // namespace calve
