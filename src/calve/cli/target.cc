#include "calve/cli/target.h"

#include <arrow/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <glob.h>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;
namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

constexpr std::string_view kFileScheme = "file:";

bool IsPattern(const std::string& path) { return path.find_first_of("*?[{") != std::string::npos; }

// A file: location is a path too.
std::string WithoutScheme(const std::string& location) {
  if (!location.starts_with(kFileScheme)) return location;
  std::string path = location.substr(kFileScheme.size());
  const size_t slashes = path.find_first_not_of('/');
  return slashes == std::string::npos || slashes < 2 ? path : path.substr(slashes - 1);
}

Result<std::vector<std::string>> Matches(const std::string& pattern) {
  glob_t found = {};
  const int result = glob(pattern.c_str(), GLOB_BRACE, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (result == GLOB_NOMATCH || (result == 0 && paths.empty())) {
    return Status::IOError(fmt::format("no file matches '{}'", pattern));
  }
  if (result != 0) return Status::IOError(fmt::format("cannot list the files that match '{}'", pattern));
  return paths;
}

Result<std::vector<std::pair<std::string, std::string>>> ParseMoves(const std::vector<std::string>& moved) {
  std::vector<std::pair<std::string, std::string>> moves;
  for (const std::string& move : moved) {
    const size_t equals = move.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == move.size()) {
      return Status::Invalid(fmt::format("--moved takes OLD=NEW, not '{}'", move));
    }
    moves.emplace_back(move.substr(0, equals), move.substr(equals + 1));
  }
  return moves;
}

bool HasConnection(const CatalogFlags& flags) {
  return !flags.uri.empty() || !flags.type.empty() || !flags.warehouse.empty();
}

// The configured properties, unless the flags alone say what the catalog is.
Result<CatalogConfig> ConfigOf(const CatalogFlags& flags) {
  if (HasConnection(flags) && flags.name.empty()) return CatalogConfig{};
  std::string name = flags.name;
  if (name.empty()) {
    ARROW_ASSIGN_OR_RAISE(name, DefaultCatalogName());
  }
  return LoadCatalogConfig(name);
}

// "a.b.t" is table b.t of catalog a, when there is such a catalog or no default that could have a namespace a.b.
Result<bool> FirstPartIsCatalog(const std::string& first) {
  ARROW_ASSIGN_OR_RAISE(const CatalogConfig named, LoadCatalogConfig(first));
  if (!named.properties.empty()) return true;
  ARROW_ASSIGN_OR_RAISE(const std::string default_name, DefaultCatalogName());
  ARROW_ASSIGN_OR_RAISE(const CatalogConfig by_default, LoadCatalogConfig(default_name));
  return by_default.properties.empty();
}

}  // namespace

bool IsPath(const std::string& target) {
  return target.find('/') != std::string::npos || target.starts_with(kFileScheme) || IsPattern(target) ||
         target.ends_with(".parquet") || Exists(target);
}

bool IsTablePath(const std::string& target) {
  const std::string path = WithoutScheme(target);
  return IsFolder(path) || path.ends_with(".metadata.json") || path.ends_with(".metadata.json.gz");
}

Status CheckRegularFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status)) return Status::OK();
  return Status::IOError(
      fmt::format("'{}' is {}not a regular file", path, fs::is_directory(status) ? "a folder, " : ""));
}

Result<std::vector<std::string>> ExpandFiles(const std::vector<std::string>& patterns) {
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    const std::string path = WithoutScheme(pattern);
    if (Exists(path)) {
      files.push_back(path);
    } else if (IsPattern(path)) {
      ARROW_ASSIGN_OR_RAISE(auto matches, Matches(path));
      files.insert(files.end(), matches.begin(), matches.end());
    } else {
      return Status::IOError(fmt::format("no such file: '{}'", path));
    }
  }
  for (const std::string& file : files) ARROW_RETURN_NOT_OK(CheckRegularFile(file));
  return files;
}

Result<std::unique_ptr<Catalog>> OpenCatalog(const CatalogFlags& flags) {
  ARROW_ASSIGN_OR_RAISE(CatalogConfig config, ConfigOf(flags));
  ARROW_ASSIGN_OR_RAISE(config.moved, ParseMoves(flags.moved));
  if (!flags.uri.empty()) config.properties["uri"] = flags.uri;
  if (!flags.warehouse.empty()) config.properties["warehouse"] = flags.warehouse;
  if (!flags.type.empty()) {
    config.properties["type"] = flags.type;
  } else if (HasConnection(flags) && !config.properties.contains("type")) {
    const auto uri = config.properties.find("uri");
    config.properties["type"] = uri == config.properties.end() ? "filesystem" : "sql";
  }
  return Catalog::Open(config);
}

Result<NameInCatalog> ResolveName(const std::string& name, const CatalogFlags& flags) {
  const auto dots = std::count(name.begin(), name.end(), '.');
  const std::string first = name.substr(0, name.find('.'));
  CatalogFlags chosen = flags;
  std::string rest = name;
  const bool flags_decide = !flags.name.empty() || HasConnection(flags);
  bool first_is_catalog = dots >= 2 && first == flags.name;
  if (dots >= 2 && !flags_decide) {
    ARROW_ASSIGN_OR_RAISE(first_is_catalog, FirstPartIsCatalog(first));
  }
  if (first_is_catalog) {
    chosen.name = first;
    rest = name.substr(first.size() + 1);
  }
  NameInCatalog result;
  ARROW_ASSIGN_OR_RAISE(result.catalog, OpenCatalog(chosen));
  result.name = rest;
  return result;
}

Result<Table> OpenTarget(const std::string& target, const CatalogFlags& flags) {
  if (IsPath(target)) {
    ARROW_ASSIGN_OR_RAISE(auto moves, ParseMoves(flags.moved));
    const std::string path = WithoutScheme(target);
    if (!IsFolder(path)) ARROW_RETURN_NOT_OK(CheckRegularFile(path));
    // A location has a whole path; a relative one is the path that follows the scheme.
    return OpenTable(target.starts_with("file:/") ? target : path, moves);
  }
  if (target.find('.') == std::string::npos) {
    return Status::IOError(
        fmt::format("no such file or table: '{}' (a table's name is [catalog.]namespace.table)", target));
  }
  ARROW_ASSIGN_OR_RAISE(auto found, ResolveName(target, flags));
  return found.catalog->LoadTable(found.name);
}

}  // namespace calve::cli
