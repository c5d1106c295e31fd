#include "calve/ipc/batch_plan.h"

#include "calve/base/status.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/checked_cast.h>

#include <algorithm>
#include <utility>

namespace calve::ipc {
namespace {

using arrow::Type;
using arrow::internal::checked_cast;

struct Form {
  Layout layout;
  uint8_t buffers, alignment;
  bool has_validity = true, is_text = false;
};

Form FormOf(const arrow::DataType& storage) {
  switch (storage.id()) {
    case Type::NA:
      return {Layout::kNull, 1, 1, false};
    case Type::BOOL:
      return {Layout::kBits, 2, 1};
    case Type::STRING:
      return {Layout::kBinary32, 3, 4, true, true};
    case Type::BINARY:
      return {Layout::kBinary32, 3, 4};
    case Type::LARGE_STRING:
      return {Layout::kBinary64, 3, 8, true, true};
    case Type::LARGE_BINARY:
      return {Layout::kBinary64, 3, 8};
    case Type::STRING_VIEW:
      return {Layout::kView, 2, 8, true, true};
    case Type::BINARY_VIEW:
      return {Layout::kView, 2, 8};
    case Type::LIST:
    case Type::MAP:
      return {Layout::kList32, 2, 4};
    case Type::LARGE_LIST:
      return {Layout::kList64, 2, 8};
    case Type::LIST_VIEW:
      return {Layout::kListView32, 3, 4};
    case Type::LARGE_LIST_VIEW:
      return {Layout::kListView64, 3, 8};
    case Type::FIXED_SIZE_LIST:
      return {Layout::kFixedList, 1, 1};
    case Type::STRUCT:
      return {Layout::kStruct, 1, 1};
    case Type::SPARSE_UNION:
      return {Layout::kSparseUnion, 2, 1, false};
    case Type::DENSE_UNION:
      return {Layout::kDenseUnion, 3, 4, false};
    case Type::RUN_END_ENCODED:
      return {Layout::kRunEndEncoded, 1, 1, false};
    default:
      return {Layout::kFixed, 2, 8};
  }
}

uint8_t AlignmentOfWidth(int32_t bytes) {
  for (const int32_t alignment : {8, 4, 2}) {
    if (bytes > 0 && bytes % alignment == 0) return static_cast<uint8_t>(alignment);
  }
  return 1;
}

class Planner {
 public:
  explicit Planner(BatchPlan* plan) : plan_(plan) {}

  arrow::Status Plan(const SchemaMessage& message) {
    plan_->schema = message.schema;
    for (int i = 0; i < message.schema->num_fields(); ++i) {
      plan_->columns.push_back(size());
      ARROW_RETURN_NOT_OK(Add(message.schema->field(i)->type(), message.fields[static_cast<size_t>(i)], -1));
    }
    plan_->batch_nodes = size();
    // Dictionaries may have dictionaries of their own, which come to stand behind them.
    for (size_t i = 0; i < pending_.size(); ++i) {
      plan_->dictionaries[i].root = size();
      ARROW_RETURN_NOT_OK(Add(pending_[i].values, *pending_[i].shape, -1));
    }
    ARROW_RETURN_NOT_OK(SetLevels());
    for (const PlanNode& node : plan_->nodes) {
      plan_->fixed_buffers += node.buffers;
      plan_->has_views |= node.layout == Layout::kView;
    }
    return arrow::Status::OK();
  }

 private:
  struct Pending {
    std::shared_ptr<arrow::DataType> values;
    const FieldShape* shape;
  };

  int32_t size() const { return static_cast<int32_t>(plan_->nodes.size()); }
  PlanNode& node(int32_t index) { return plan_->nodes[static_cast<size_t>(index)]; }

  /// Of a dictionary only the keys are added here; a dictionary's values are never dictionaries themselves, though what
  /// lies within them may be.
  arrow::Status Add(const std::shared_ptr<arrow::DataType>& type, const FieldShape& shape, int32_t parent) {
    const arrow::DataType& storage = StorageOf(*type);
    const int32_t index = size();
    plan_->nodes.emplace_back();
    node(index).type = type;
    node(index).parent = parent;
    if (storage.id() == Type::DICTIONARY) {
      ARROW_RETURN_NOT_OK(AddKeys(checked_cast<const arrow::DictionaryType&>(storage), shape, index));
    } else {
      ARROW_RETURN_NOT_OK(AddValues(storage, shape, index));
    }
    node(index).end = size();
    return arrow::Status::OK();
  }

  arrow::Status AddKeys(const arrow::DictionaryType& type, const FieldShape& shape, int32_t index) {
    if (!shape.dictionary_id) return Invalid("dictionary type without an id");
    const auto& keys = checked_cast<const arrow::IntegerType&>(*type.index_type());
    PlanNode& keyed = node(index);
    keyed.layout = Layout::kFixed;
    keyed.buffers = 2;
    keyed.byte_width = keys.bit_width() / 8;
    keyed.alignment = AlignmentOfWidth(keyed.byte_width);
    keyed.is_signed = keys.is_signed();
    const int64_t id = *shape.dictionary_id;
    keyed.dictionary = plan_->FindDictionary(id);
    if (keyed.dictionary < 0) {
      keyed.dictionary = static_cast<int32_t>(plan_->dictionaries.size());
      plan_->dictionaries.push_back({id, 0});
      pending_.push_back({type.value_type(), &shape});
    } else if (!pending_[static_cast<size_t>(keyed.dictionary)].values->Equals(*type.value_type())) {
      return Invalid("dictionary {} has values of type {} and of type {}", id,
                     pending_[static_cast<size_t>(keyed.dictionary)].values->ToString(), type.value_type()->ToString());
    }
    return arrow::Status::OK();
  }

  arrow::Status AddValues(const arrow::DataType& storage, const FieldShape& shape, int32_t index) {
    const Form form = FormOf(storage);
    PlanNode& added = node(index);
    added.layout = form.layout;
    added.buffers = form.buffers;
    added.alignment = form.alignment;
    added.has_validity = form.has_validity;
    added.is_text = form.is_text;
    if (form.layout == Layout::kFixed) {
      added.byte_width = storage.byte_width();
      added.alignment = AlignmentOfWidth(storage.id() == Type::FIXED_SIZE_BINARY ? 1 : added.byte_width);
    }
    if (storage.id() == Type::FIXED_SIZE_LIST) {
      added.list_size = checked_cast<const arrow::FixedSizeListType&>(storage).list_size();
    }
    added.child_count = storage.num_fields();
    if (shape.children.size() != static_cast<size_t>(storage.num_fields())) {
      return Invalid("type {} has {} fields, the schema {}", storage.ToString(), storage.num_fields(),
                     shape.children.size());
    }
    return AddChildren(storage, shape, index);
  }

  arrow::Status AddChildren(const arrow::DataType& storage, const FieldShape& shape, int32_t index) {
    for (int i = 0; i < storage.num_fields(); ++i) {
      const int32_t child = size();
      ARROW_RETURN_NOT_OK(Add(storage.field(i)->type(), shape.children[static_cast<size_t>(i)], index));
      if (storage.id() == Type::MAP) {
        node(child).must_not_be_null = node(child + 1).must_not_be_null = true;
      } else if (storage.id() == Type::RUN_END_ENCODED && i == 0) {
        node(child).must_not_be_null = true;
      }
    }
    return arrow::Status::OK();
  }

  /// Levels grow along every reference, so that the arrays of one level can be one allocation that none of them refers
  /// to. A dictionary that refers to itself has no level.
  arrow::Status SetLevels() {
    const int32_t count = size();
    bool changed = true;
    for (int32_t pass = 0; changed; ++pass) {
      if (pass > count) return Invalid("dictionary within its own values");
      changed = false;
      for (int32_t i = 0; i < count; ++i) {
        const PlanNode& from = node(i);
        if (from.parent >= 0) changed |= Raise(i, node(from.parent).level + 1);
        if (from.dictionary >= 0) {
          changed |= Raise(plan_->dictionaries[static_cast<size_t>(from.dictionary)].root, from.level + 1);
        }
      }
    }
    for (PlanNode& each : plan_->nodes) {
      const auto level = static_cast<size_t>(each.level);
      if (level >= plan_->level_sizes.size()) plan_->level_sizes.resize(level + 1);
      each.index_in_level = plan_->level_sizes[level]++;
    }
    CountReferences();
    return arrow::Status::OK();
  }

  void CountReferences() {
    if (plan_->level_sizes.empty()) return;
    plan_->level_references.resize(plan_->level_sizes.size() - 1);
    const auto count = [&](int32_t to, int32_t from, int32_t child) {
      LevelReferences& references = plan_->level_references[static_cast<size_t>(node(to).level) - 1];
      references = {from, child, references.count + 1};
    };
    for (int32_t i = 0; i < size(); ++i) {
      for (int32_t child = i + 1, n = 0; n < node(i).child_count; child = node(child).end, ++n) count(child, i, n);
      if (node(i).dictionary >= 0) {
        count(plan_->dictionaries[static_cast<size_t>(node(i).dictionary)].root, i, -1);
      }
    }
  }

  bool Raise(int32_t index, int32_t level) {
    if (node(index).level >= level) return false;
    node(index).level = level;
    return true;
  }

  BatchPlan* plan_;
  std::vector<Pending> pending_;
};

}  // namespace

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  const arrow::DataType* storage = &type;
  while (storage->id() == Type::EXTENSION) {
    storage = checked_cast<const arrow::ExtensionType&>(*storage).storage_type().get();
  }
  return *storage;
}

int32_t BatchPlan::FindDictionary(int64_t id) const {
  for (size_t i = 0; i < dictionaries.size(); ++i) {
    if (dictionaries[i].id == id) return static_cast<int32_t>(i);
  }
  return -1;
}

std::string BatchPlan::NameOf(int32_t index) const {
  std::string path;
  int32_t at = index;
  for (; nodes[static_cast<size_t>(at)].parent >= 0; at = nodes[static_cast<size_t>(at)].parent) {
    const PlanNode& parent = nodes[static_cast<size_t>(nodes[static_cast<size_t>(at)].parent)];
    int child = 0;
    for (int32_t i = nodes[static_cast<size_t>(at)].parent + 1; i < at; i = nodes[static_cast<size_t>(i)].end) ++child;
    path = "." + StorageOf(*parent.type).field(child)->name() + path;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == at) return fmt::format("column '{}{}'", schema->field(static_cast<int>(i))->name(), path);
  }
  for (const DictionaryPlan& dictionary : dictionaries) {
    if (dictionary.root == at) return fmt::format("dictionary {}{}", dictionary.id, path);
  }
  return path;
}

Result<BatchPlan> MakePlan(const SchemaMessage& message) {
  BatchPlan plan;
  ARROW_RETURN_NOT_OK(Planner(&plan).Plan(message));
  return plan;
}

}  // namespace calve::ipc
