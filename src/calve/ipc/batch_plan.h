#pragma once

#include "calve/ipc/schema_reader.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace calve::ipc {

using arrow::Result;

/// Which buffers an array has, as the columnar format lays them out.
enum class Layout : uint8_t {
  kNull,
  kBits,
  kFixed,
  kBinary32,  ///< offsets and bytes
  kBinary64,
  kView,
  kList32,  ///< and maps
  kList64,
  kListView32,
  kListView64,
  kFixedList,
  kStruct,
  kSparseUnion,
  kDenseUnion,
  kRunEndEncoded
};

/// One array of a batch. The nodes of an array's children follow it, in order, each with its own children behind it.
struct PlanNode {
  std::shared_ptr<arrow::DataType> type;  ///< as the array reports it
  Layout layout = Layout::kNull;
  bool has_validity = true;
  bool is_text = false;           ///< bytes that must be UTF-8
  bool is_signed = false;         ///< of dictionary keys
  bool must_not_be_null = false;  ///< entries and keys of a map, run ends
  uint8_t buffers = 1;            ///< as arrow::ArrayData counts them: validity first, variadic ones left out
  uint8_t alignment = 1;          ///< bytes that consumers may take its buffers to be aligned to
  int32_t byte_width = 0;         ///< of kFixed; of the values of others: nothing
  int32_t list_size = 0;          ///< of kFixedList
  int32_t parent = -1, child_count = 0;
  int32_t end = 0;          ///< one past the last node below it
  int32_t dictionary = -1;  ///< which of BatchPlan::dictionaries its keys look up
  int32_t level = 0;        ///< further from the batch than every node that refers to it
  int32_t index_in_level = 0;

  /// Whether the buffers after the second hold bytes of no alignment.
  bool has_characters() const {
    return layout == Layout::kBinary32 || layout == Layout::kBinary64 || layout == Layout::kView;
  }
};

struct DictionaryPlan {
  int64_t id = 0;
  int32_t root = 0;  ///< the node of its values
};

/// How many references there are to the arrays of a level, and where one of them is.
struct LevelReferences {
  int32_t node = 0, child = -1;  ///< a child of the node; -1: its dictionary
  int64_t count = 0;
};

/// A schema, made ready for decoding batches: every array it takes, in the order in which a batch lists them, and after
/// the batch's own those of its dictionaries.
struct BatchPlan {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<PlanNode> nodes;
  std::vector<int32_t> columns;  ///< the top-level nodes
  int32_t batch_nodes = 0;       ///< nodes of the batch itself
  std::vector<DictionaryPlan> dictionaries;
  std::vector<int32_t> level_sizes;
  std::vector<LevelReferences> level_references;  ///< to each level but the first
  int32_t fixed_buffers = 0;                      ///< of all nodes, variadic ones left out
  int32_t alignment = 1;                          ///< the most of any node
  bool has_views = false;

  /// The dictionary of this id; -1: none.
  int32_t FindDictionary(int64_t id) const;
  /// "column 'a.b'", for errors.
  std::string NameOf(int32_t node) const;
};

/// What an extension type is made of; other types as they are.
const arrow::DataType& StorageOf(const arrow::DataType& type);

/// Invalid when a dictionary id stands for different types, or within its own values.
Result<BatchPlan> MakePlan(const SchemaMessage& message);

}  // namespace calve::ipc
