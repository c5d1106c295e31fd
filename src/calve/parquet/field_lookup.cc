#include "calve/parquet/field_lookup.h"

#include <algorithm>
#include <functional>

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

size_t HashOf(std::string_view name) { return std::hash<std::string_view>{}(name); }
/// Ids count up mostly.
size_t HashOf(int32_t id) { return static_cast<uint32_t>(id); }

}  // namespace

std::vector<size_t> FieldLookup::Named(std::string_view path) const {
  std::vector<size_t> found;
  if (!names_.WantsTable()) {
    for (size_t field = 0; field < index_.fields().size(); ++field) {
      if (Begins(path, NameOf(field))) found.push_back(field);
    }
    return found;
  }
  std::call_once(names_.built, [&] {
    const auto count = static_cast<uint32_t>(index_.fields().size());
    names_.Reset(count);
    for (uint32_t field = 0; field < count; ++field) names_.Add(field, HashOf(NameOf(field)));
  });
  for (size_t end = 0; end <= path.size(); ++end) {
    if (end < path.size() && path[end] != '.') continue;
    const std::string_view name = path.substr(0, end);
    names_.ForEach(HashOf(name), [&](uint32_t field) {
      if (NameOf(field) == name) found.push_back(field);
    });
  }
  return SortedOnce(std::move(found));
}

std::vector<size_t> FieldLookup::WithId(int32_t field_id) const {
  const auto& elements = index_.elements();
  const auto has_id = [&](uint32_t i) { return elements[i].has_field_id && elements[i].field_id == field_id; };
  std::vector<size_t> found;
  if (!ids_.WantsTable()) {
    for (uint32_t i = 1; i < elements.size(); ++i) {
      if (has_id(i)) found.push_back(index_.FieldOfElement(i));
    }
    return SortedOnce(std::move(found));
  }
  std::call_once(ids_.built, [&] {
    ids_.Reset(elements.size());
    for (uint32_t i = 1; i < elements.size(); ++i) {
      if (elements[i].has_field_id) ids_.Add(i, HashOf(elements[i].field_id));
    }
  });
  ids_.ForEach(HashOf(field_id), [&](uint32_t element) {
    if (has_id(element)) found.push_back(index_.FieldOfElement(element));
  });
  return SortedOnce(std::move(found));
}

void FieldLookup::ExpectMany() const {
  names_.ExpectMany();
  ids_.ExpectMany();
}

int64_t FieldLookup::memory_bytes() const {
  size_t entries = 0;
  for (const size_t count : {index_.fields().size(), index_.elements().size()}) {
    entries += count + Table::BucketsFor(count);
  }
  return static_cast<int64_t>(sizeof(*this) + entries * sizeof(uint32_t));
}

}  // namespace calve::parquet
