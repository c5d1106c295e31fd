#include "calve/iceberg/schema.h"

namespace calve::iceberg {
namespace {

const Field* FindIdIn(const std::vector<Field>& fields, int id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (const Field* found = FindIdIn(field.type->fields, id)) return found;
  }
  return nullptr;
}

// Names may hold dots themselves, so every field that begins `name` is tried, a whole match first.
const Field* FindNameIn(const std::vector<Field>& fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  for (const Field& field : fields) {
    const size_t size = field.name.size();
    if (name.size() <= size || name[size] != '.' || name.substr(0, size) != field.name) continue;
    if (const Field* found = FindNameIn(field.type->fields, name.substr(size + 1))) return found;
  }
  return nullptr;
}

bool NameIn(const std::vector<Field>& fields, int id, const std::string& prefix, std::string* name) {
  for (const Field& field : fields) {
    const std::string path = prefix.empty() ? field.name : prefix + "." + field.name;
    if (field.id == id) {
      *name = path;
      return true;
    }
    if (NameIn(field.type->fields, id, path, name)) return true;
  }
  return false;
}

int HighestIn(const std::vector<Field>& fields) {
  int highest = 0;
  for (const Field& field : fields) {
    highest = std::max({highest, field.id, HighestIn(field.type->fields)});
  }
  return highest;
}

}  // namespace

const Field* Schema::FindById(int id) const { return FindIdIn(fields, id); }

const Field* Schema::FindByName(std::string_view name) const { return FindNameIn(fields, name); }

std::string Schema::NameOf(int id) const {
  std::string name;
  NameIn(fields, id, "", &name);
  return name;
}

int Schema::HighestFieldId() const { return HighestIn(fields); }

bool SameSchema(const Schema& left, const Schema& right) {
  return left.fields == right.fields && left.identifier_field_ids == right.identifier_field_ids;
}

}  // namespace calve::iceberg
