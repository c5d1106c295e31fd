#include "calve/pipeline/unified_schema.h"

#include "calve/base/status.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/checked_cast.h>

#include <algorithm>
#include <map>
#include <optional>

// Types are unified pairwise, the first file's with the second's, the result with the third's, and so on. Every rule
// takes two types to the narrowest that holds all values of both, so that the order of the files does not matter.

namespace calve::pipeline {
namespace {

using arrow::Type;
using arrow::internal::checked_cast;
using FieldPtr = std::shared_ptr<arrow::Field>;
using TypePtr = std::shared_ptr<arrow::DataType>;

/// Null: no type holds both.
TypePtr UnifyIntegers(const arrow::DataType& a, const arrow::DataType& b) {
  const bool a_signed = arrow::is_signed_integer(a.id()), b_signed = arrow::is_signed_integer(b.id());
  int bits = std::max(a.bit_width(), b.bit_width());
  // An unsigned one needs the next wider signed one.
  if (a_signed != b_signed) bits = std::max(bits, 2 * (a_signed ? b : a).bit_width());
  if (!a_signed && !b_signed) {
    return bits == 8 ? arrow::uint8() : bits == 16 ? arrow::uint16() : bits == 32 ? arrow::uint32() : arrow::uint64();
  }
  if (bits > 64) return nullptr;
  return bits == 8 ? arrow::int8() : bits == 16 ? arrow::int16() : bits == 32 ? arrow::int32() : arrow::int64();
}

TypePtr UnifyDecimals(const TypePtr& a, const TypePtr& b) {
  const auto& left = checked_cast<const arrow::DecimalType&>(*a);
  const auto& right = checked_cast<const arrow::DecimalType&>(*b);
  if (left.scale() != right.scale()) return nullptr;
  return left.precision() >= right.precision() ? a : b;
}

TypePtr UnifyTimestamps(const TypePtr& a, const TypePtr& b) {
  const auto& left = checked_cast<const arrow::TimestampType&>(*a);
  const auto& right = checked_cast<const arrow::TimestampType&>(*b);
  if (left.timezone() != right.timezone()) return nullptr;
  return left.unit() >= right.unit() ? a : b;
}

TypePtr UnifyTimes(const TypePtr& a, const TypePtr& b) {
  const auto unit = [](const TypePtr& type) { return checked_cast<const arrow::TimeType&>(*type).unit(); };
  return unit(a) >= unit(b) ? a : b;
}

bool IsExtension(const arrow::DataType& type, const char* name) {
  return type.id() == Type::EXTENSION && checked_cast<const arrow::ExtensionType&>(type).extension_name() == name;
}

TypePtr UnifyLeaves(const TypePtr& a, const TypePtr& b) {
  if (a->id() == Type::NA) return b;
  if (b->id() == Type::NA) return a;
  if (arrow::is_integer(a->id()) && arrow::is_integer(b->id())) return UnifyIntegers(*a, *b);
  if (arrow::is_floating(a->id()) && arrow::is_floating(b->id())) return a->bit_width() >= b->bit_width() ? a : b;
  if (arrow::is_decimal(a->id()) && arrow::is_decimal(b->id())) return UnifyDecimals(a, b);
  if (a->id() == Type::TIMESTAMP && b->id() == Type::TIMESTAMP) return UnifyTimestamps(a, b);
  if (arrow::is_time(a->id()) && arrow::is_time(b->id())) return UnifyTimes(a, b);
  if (a->id() == Type::STRING && IsExtension(*b, "arrow.json")) return a;
  if (b->id() == Type::STRING && IsExtension(*a, "arrow.json")) return b;
  return nullptr;
}

class Unifier {
 public:
  explicit Unifier(FileSchemas file_schemas) : by_id_(file_schemas == FileSchemas::kUnionById) {}

  Status Add(const SchemaOfFile& next) {
    file_ = &next.file;
    if (by_id_) ARROW_RETURN_NOT_OK(CheckIds(next.schema->fields(), ""));
    if (fields_.empty()) {
      fields_ = next.schema->fields();
      return Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(fields_, Fields(fields_, next.schema->fields(), ""));
    return Status::OK();
  }

  std::shared_ptr<arrow::Schema> Finish() { return arrow::schema(std::move(fields_)); }

 private:
  /// What fields are known by; the n-th of a name is another than the first.
  using Key = std::pair<std::string, int>;

  std::vector<Key> KeysOf(const arrow::FieldVector& fields) const {
    std::map<std::string, int> seen;
    std::vector<Key> keys;
    for (const FieldPtr& field : fields) {
      const std::string name = by_id_ ? std::to_string(FieldIdOf(*field)) : field->name();
      keys.emplace_back(name, seen[name]++);
    }
    return keys;
  }

  Result<arrow::FieldVector> Fields(const arrow::FieldVector& known, const arrow::FieldVector& added,
                                    const std::string& prefix) const {
    const std::vector<Key> known_keys = KeysOf(known), added_keys = KeysOf(added);
    std::map<Key, size_t> position;
    for (size_t i = 0; i < added.size(); ++i) position[added_keys[i]] = i;
    std::vector<bool> used(added.size(), false);
    arrow::FieldVector result;
    for (size_t i = 0; i < known.size(); ++i) {
      const auto found = position.find(known_keys[i]);
      if (found == position.end()) {
        result.push_back(known[i]->WithNullable(true));
        continue;
      }
      used[found->second] = true;
      ARROW_ASSIGN_OR_RAISE(auto field, One(known[i], added[found->second], prefix + known[i]->name()));
      result.push_back(std::move(field));
    }
    for (size_t i = 0; i < added.size(); ++i) {
      if (!used[i]) result.push_back(added[i]->WithNullable(true));
    }
    return result;
  }

  Result<FieldPtr> One(const FieldPtr& known, const FieldPtr& added, const std::string& path) const {
    ARROW_ASSIGN_OR_RAISE(auto type, Types(known->type(), added->type(), path));
    return known->WithType(std::move(type))->WithNullable(known->nullable() || added->nullable());
  }

  Result<TypePtr> Types(const TypePtr& known, const TypePtr& added, const std::string& path) const {
    if (known->id() == Type::STRUCT && added->id() == Type::STRUCT) {
      ARROW_ASSIGN_OR_RAISE(auto fields, Fields(known->fields(), added->fields(), path + "."));
      return arrow::struct_(std::move(fields));
    }
    if (known->id() == Type::LIST && added->id() == Type::LIST) {
      ARROW_ASSIGN_OR_RAISE(auto element, One(known->field(0), added->field(0), path + ".element"));
      return arrow::list(std::move(element));
    }
    if (known->id() == Type::MAP && added->id() == Type::MAP) return Maps(*known, *added, path);
    if (known->Equals(*added)) return known;
    const bool nested = known->num_fields() > 0 || added->num_fields() > 0;
    const bool a_null = known->id() == Type::NA || added->id() == Type::NA;
    TypePtr type = nested && !a_null ? nullptr : UnifyLeaves(known, added);
    if (type != nullptr) return type;
    return Invalid("file {}: column '{}' is {}, and {} in the files before: no type holds both", *file_, path,
                   added->ToString(), known->ToString());
  }

  Result<TypePtr> Maps(const arrow::DataType& known, const arrow::DataType& added, const std::string& path) const {
    const auto& left = checked_cast<const arrow::MapType&>(known);
    const auto& right = checked_cast<const arrow::MapType&>(added);
    ARROW_ASSIGN_OR_RAISE(auto key, One(left.key_field(), right.key_field(), path + ".key"));
    ARROW_ASSIGN_OR_RAISE(auto value, One(left.item_field(), right.item_field(), path + ".value"));
    return std::make_shared<arrow::MapType>(std::move(key), std::move(value));
  }

  /// By id every column and field of a struct has one, and no other of its level has the same.
  Status CheckIds(const arrow::FieldVector& fields, const std::string& prefix) const {
    std::map<int, std::string> names;
    for (const FieldPtr& field : fields) {
      const std::string path = prefix + field->name();
      const int id = FieldIdOf(*field);
      if (id < 0) return Invalid("file {}: column '{}' has no field id", *file_, path);
      const auto [other, added] = names.emplace(id, path);
      if (!added)
        return Invalid("file {}: columns '{}' and '{}' both have field id {}", *file_, other->second, path, id);
      ARROW_RETURN_NOT_OK(CheckIdsInside(*field->type(), path));
    }
    return Status::OK();
  }

  Status CheckIdsInside(const arrow::DataType& type, const std::string& path) const {
    if (type.id() == Type::STRUCT) return CheckIds(type.fields(), path + ".");
    if (type.id() == Type::LIST) return CheckIdsInside(*type.field(0)->type(), path + ".element");
    if (type.id() != Type::MAP) return Status::OK();
    const auto& map = checked_cast<const arrow::MapType&>(type);
    ARROW_RETURN_NOT_OK(CheckIdsInside(*map.key_type(), path + ".key"));
    return CheckIdsInside(*map.item_type(), path + ".value");
  }

  const bool by_id_;
  const std::string* file_ = nullptr;
  arrow::FieldVector fields_;
};

void MatchIds(const std::vector<TargetField>& targets, std::vector<SourceField>* fields);

void MatchInside(const TargetField& target, SourceField* field) {
  if (field->type->id() == Type::STRUCT) return MatchIds(target.children, &field->children);
  for (size_t i = 0; i < std::min(target.children.size(), field->children.size()); ++i) {
    field->children[i].id = target.children[i].id;
    MatchInside(target.children[i], &field->children[i]);
  }
}

void MatchIds(const std::vector<TargetField>& targets, std::vector<SourceField>* fields) {
  std::map<int, const TargetField*> by_id;
  for (const TargetField& target : targets) by_id.emplace(FieldIdOf(*target.field), &target);
  for (SourceField& field : *fields) {
    const auto found = field.id < 0 ? by_id.end() : by_id.find(field.id);
    field.id = found == by_id.end() ? -1 : found->second->id;
    if (found != by_id.end()) MatchInside(*found->second, &field);
  }
}

}  // namespace

Result<std::shared_ptr<arrow::Schema>> UnifySchemas(const std::vector<SchemaOfFile>& files, FileSchemas file_schemas) {
  Unifier unifier(file_schemas);
  for (const SchemaOfFile& file : files) ARROW_RETURN_NOT_OK(unifier.Add(file));
  return unifier.Finish();
}

void AssignIdsByFieldId(const std::vector<TargetField>& targets, SourceSchema* source) {
  MatchIds(targets, &source->fields);
}

}  // namespace calve::pipeline
