#include "calve/parquet/field_lookup.h"

#include <algorithm>

namespace calve::parquet {
namespace {

bool Begins(std::string_view path, std::string_view name) {
  return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '.');
}

std::vector<size_t> SortedOnce(std::vector<size_t> fields) {
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

}  // namespace

std::vector<size_t> FieldLookup::Named(std::string_view path) const {
  std::vector<size_t> found;
  if (names_.lookups++ < kPasses) {
    for (size_t field = 0; field < index_.fields().size(); ++field) {
      if (Begins(path, NameOf(field))) found.push_back(field);
    }
    return found;
  }
  std::call_once(names_.built, [&] { BuildNames(); });
  for (size_t end = 0; end <= path.size(); ++end) {
    if (end < path.size() && path[end] != '.') continue;
    const auto [first, last] = names_.fields.equal_range(path.substr(0, end));
    for (auto it = first; it != last; ++it) found.push_back(it->second);
  }
  return SortedOnce(std::move(found));
}

std::vector<size_t> FieldLookup::WithId(int32_t field_id) const {
  std::vector<size_t> found;
  if (ids_.lookups++ < kPasses) {
    const auto& elements = index_.elements();
    for (uint32_t i = 1; i < elements.size(); ++i) {
      if (elements[i].has_field_id && elements[i].field_id == field_id) found.push_back(index_.FieldOfElement(i));
    }
    return SortedOnce(std::move(found));
  }
  std::call_once(ids_.built, [&] { BuildIds(); });
  const auto [first, last] = ids_.fields.equal_range(field_id);
  for (auto it = first; it != last; ++it) found.push_back(it->second);
  return SortedOnce(std::move(found));
}

void FieldLookup::BuildNames() const {
  names_.fields.reserve(index_.fields().size());
  for (size_t field = 0; field < index_.fields().size(); ++field) {
    names_.fields.emplace(NameOf(field), static_cast<uint32_t>(field));
  }
}

void FieldLookup::BuildIds() const {
  for (size_t field = 0; field < index_.fields().size(); ++field) {
    const uint32_t begin = index_.fields()[field], end = index_.elements()[begin].end;
    for (uint32_t i = begin; i < end; ++i) {
      const FooterIndex::Element& element = index_.elements()[i];
      if (element.has_field_id) ids_.fields.emplace(element.field_id, static_cast<uint32_t>(field));
    }
  }
}

}  // namespace calve::parquet
