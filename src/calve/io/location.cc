#include "calve/io/location.h"

#include "calve/io/file_io.h"

#include <cctype>

namespace calve {
namespace {

bool IsSchemeCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
}

bool IsFileScheme(std::string_view text) {
  constexpr std::string_view kFile = "file";
  if (text.size() != kFile.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != kFile[i]) return false;
  }
  return true;
}

std::string WithSingleSlashes(std::string_view path) {
  std::string result;
  result.reserve(path.size());
  for (char c : path) {
    if (c != '/' || result.empty() || result.back() != '/') result += c;
  }
  return result;
}

std::string WithoutTrailingSlashes(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string_view SchemeOf(std::string_view location) {
  size_t size = 0;
  while (size < location.size() && IsSchemeCharacter(location[size])) ++size;
  if (size == 0 || std::isalpha(static_cast<unsigned char>(location[0])) == 0) return {};
  auto scheme = location.substr(0, size), rest = location.substr(size);
  if (rest.starts_with("://") || (IsFileScheme(scheme) && rest.starts_with(":/"))) return scheme;
  return {};
}

std::string NormalizeLocation(std::string_view location) {
  auto scheme = SchemeOf(location);
  if (scheme.empty()) return WithSingleSlashes(location);
  if (!IsFileScheme(scheme)) return std::string(location);
  auto path = location.substr(scheme.size() + 1);
  // After two slashes comes an authority; only an empty one and "localhost" are this machine.
  if (path.starts_with("//localhost/")) path.remove_prefix(std::string_view("//localhost").size());
  if (path.starts_with("//") && !path.starts_with("///")) return std::string(location);
  return WithSingleSlashes(path);
}

PathMap::PathMap(std::vector<std::pair<std::string, std::string>> moves) {
  for (const auto& [from, to] : moves) {
    moves_.emplace_back(WithoutTrailingSlashes(NormalizeLocation(from)), WithoutTrailingSlashes(NormalizeLocation(to)));
  }
}

std::string PathMap::Map(std::string_view location) const {
  auto normalized = NormalizeLocation(location);
  const std::pair<std::string, std::string>* best = nullptr;
  for (const auto& move : moves_) {
    const auto& from = move.first;
    if (!normalized.starts_with(from)) continue;
    const bool whole_segments = normalized.size() == from.size() || normalized[from.size()] == '/';
    if (!whole_segments) continue;
    if (best == nullptr || from.size() > best->first.size()) best = &move;
  }
  if (best == nullptr) return normalized;
  return best->second + normalized.substr(best->first.size());
}

}  // namespace calve
