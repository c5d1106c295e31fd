// Configuration as pyiceberg reads it: the first of PYICEBERG_HOME, the home folder and the working folder that has a
// non-empty .pyiceberg.yaml
//
//     default-catalog: NAME
//     catalog:
//       NAME:
//         KEY: VALUE
//
// and over it the environment: PYICEBERG_<part>[__<part>[__<rest>]], where in each part "_" means "-" and in the rest
// "__" means ".": PYICEBERG_CATALOG__PROD__S3__ACCESS_KEY_ID sets catalog / prod / s3.access-key-id. Names and keys are
// lower-cased.

#include "calve/base/status.h"
#include "calve/catalog.h"

#include <yaml-cpp/yaml.h>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

extern char** environ;

namespace calve {
namespace {

constexpr char kFileName[] = ".pyiceberg.yaml";
constexpr int kMaxNesting = 16;

/// Keys are paths joined with a character that no key can have.
using Settings = std::map<std::string, std::string>;
constexpr char kSeparator = '\x1f';

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

void ReplaceAll(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string HomeFolder() {
  std::string home = Environment("HOME");
  if (!home.empty()) return home;
  const passwd* user = getpwuid(getuid());
  return user == nullptr ? "" : user->pw_dir;
}

Status FlattenYaml(const YAML::Node& node, const std::string& file, const std::string& path, int depth,
                   Settings* settings) {
  const int line = node.Mark().line + 1;
  if (depth > kMaxNesting) return Invalid("{}:{}: nested too deep", file, line);
  if (node.IsScalar()) {
    (*settings)[path] = node.Scalar();
    return Status::OK();
  }
  if (node.IsNull()) return Status::OK();
  if (!node.IsMap()) return Invalid("{}:{}: expected a value or a mapping, got a list", file, line);
  for (const auto& member : node) {
    if (!member.first.IsScalar()) return Invalid("{}:{}: a key is not a plain name", file, line);
    const std::string key = Lower(member.first.Scalar());
    ARROW_RETURN_NOT_OK(
        FlattenYaml(member.second, file, path.empty() ? key : path + kSeparator + key, depth + 1, settings));
  }
  return Status::OK();
}

Status ReadYaml(const std::string& file, Settings* settings) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return IOError("cannot read the catalog configuration {}", file);
  try {
    const YAML::Node root = YAML::Load(text.str());
    if (!root.IsNull() && !root.IsMap()) return Invalid("{}:1: expected a mapping", file);
    return FlattenYaml(root, file, "", 0, settings);
  } catch (const YAML::Exception& error) {
    return Invalid("{}:{}: {}", file, error.mark.line + 1, error.msg);
  }
}

Result<Settings> SettingsOfFile() {
  std::error_code ignored;
  const std::string working_folder = std::filesystem::current_path(ignored).string();
  for (const std::string& folder : {Environment("PYICEBERG_HOME"), HomeFolder(), working_folder}) {
    if (folder.empty()) continue;
    const std::string file = (std::filesystem::path(folder) / kFileName).string();
    if (!std::filesystem::is_regular_file(file, ignored)) continue;
    Settings settings;
    ARROW_RETURN_NOT_OK(ReadYaml(file, &settings));
    if (!settings.empty()) return settings;
  }
  return Settings();
}

/// "catalog__prod__s3__region" becomes catalog / prod / s3.region.
std::string PathOfVariable(std::string name) {
  std::string path;
  for (int part = 0; part < 2; ++part) {
    const size_t end = name.find("__");
    if (end == std::string::npos) break;
    std::string head = name.substr(0, end);
    ReplaceAll(&head, "_", "-");
    path += head + kSeparator;
    name.erase(0, end + 2);
  }
  ReplaceAll(&name, "__", ".");
  ReplaceAll(&name, "_", "-");
  return path + name;
}

void AddEnvironment(Settings* settings) {
  constexpr std::string_view kPrefix = "pyiceberg_";
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name = Lower(std::string(text.substr(0, equals)));
    const std::string value(text.substr(equals + 1));
    // An empty variable does not take away what the file says.
    if (!name.starts_with(kPrefix) || value.empty()) continue;
    (*settings)[PathOfVariable(name.substr(kPrefix.size()))] = value;
  }
}

Result<Settings> LoadSettings() {
  ARROW_ASSIGN_OR_RAISE(Settings settings, SettingsOfFile());
  AddEnvironment(&settings);
  return settings;
}

}  // namespace

arrow::Result<CatalogConfig> LoadCatalogConfig(const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(Settings settings, LoadSettings());
  CatalogConfig config;
  config.name = name;
  const std::string prefix = std::string("catalog") + kSeparator + Lower(name) + kSeparator;
  for (auto it = settings.lower_bound(prefix); it != settings.end() && it->first.starts_with(prefix); ++it) {
    std::string key = it->first.substr(prefix.size());
    std::replace(key.begin(), key.end(), kSeparator, '.');
    config.properties[key] = it->second;
  }
  return config;
}

arrow::Result<std::string> DefaultCatalogName() {
  ARROW_ASSIGN_OR_RAISE(Settings settings, LoadSettings());
  auto found = settings.find("default-catalog");
  return found == settings.end() ? std::string("default") : found->second;
}

}  // namespace calve
