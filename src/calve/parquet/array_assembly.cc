#include "calve/parquet/array_assembly.h"

#include "calve/parquet/value_conversion.h"

#include "calve/array/array_data.h"
#include "calve/base/status.h"
#include "calve/simd/level_bits.h"

#include <arrow/array/util.h>
#include <arrow/type.h>

#include <bit>
#include <utility>

// Levels to nesting. Take optional list<optional struct<optional x>>, whose leaf has max_definition_level 4, and the
// rows
//
//   null                 def 0  rep 0
//   []                   def 1  rep 0
//   [null, {x: null}]    def 2  rep 0, def 3 rep 1
//   [{x: 7}]             def 4  rep 0
//
// The list has a slot for each entry with rep <= 0 (its enclosing list level), null below def 1 (present_level); an
// element for each entry with rep <= 1 (its own level) and def >= 2 (element_level): offsets 0 0 0 2 3. The struct has
// a slot for each such element, null below def 3; x has one too, null below def 4. Every leaf under a node tells the
// same about it, or the file is damaged.

namespace calve::parquet {
namespace {

using arrow::ArrayData;
using arrow::Buffer;
using ArrayResult = Result<std::shared_ptr<ArrayData>>;

struct Levels {
  const uint8_t* definition = nullptr;
  const uint8_t* repetition = nullptr;  ///< null: every entry begins a row
  int64_t count = 0;
};

/// One bit an entry, or a slot.
using Bits = PoolVector<uint64_t>;

int64_t WordsFor(int64_t bits) { return (bits + 63) / 64; }

Result<Bits> AtLeast(const uint8_t* levels, int64_t count, int threshold, arrow::MemoryPool* pool) {
  Bits bits(pool);
  ARROW_RETURN_NOT_OK(bits.Resize(WordsFor(count)));
  simd::BitsAtLeast(levels, static_cast<size_t>(count), static_cast<uint8_t>(threshold), bits.data());
  return bits;
}

/// Entries that begin a new element of the list of level `list_level`, rather than going on inside it, and that reach
/// `definition_level`.
Result<Bits> Beginnings(const Levels& levels, int list_level, int definition_level, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(Bits bits, AtLeast(levels.definition, levels.count, definition_level, pool));
  if (levels.repetition == nullptr) return bits;
  ARROW_ASSIGN_OR_RAISE(const Bits inside, AtLeast(levels.repetition, levels.count, list_level + 1, pool));
  for (int64_t i = 0; i < bits.size(); ++i) bits[i] &= ~inside[i];
  return bits;
}

int64_t CountSet(const Bits& bits) {
  int64_t count = 0;
  for (const uint64_t word : bits.span()) count += std::popcount(word);
  return count;
}

/// How many elements lie before each slot, and before the end.
Result<std::shared_ptr<Buffer>> OffsetsOf(const Bits& slots, const Bits& elements, int64_t slots_count,
                                          arrow::MemoryPool* pool) {
  PoolVector<int32_t> offsets(pool);
  ARROW_RETURN_NOT_OK(offsets.Resize(slots_count + 1));
  offsets[slots_count] =
      simd::CountBitsBefore(elements.data(), slots.data(), static_cast<size_t>(slots.size()), offsets.data());
  return offsets.Finish();
}

/// What the levels of a leaf say about an ancestor.
struct Shape {
  int64_t length = 0, null_count = 0;
  std::shared_ptr<Buffer> validity;
  std::shared_ptr<Buffer> offsets;  ///< lists and maps

  bool Equals(const Shape& other) const {
    return length == other.length && null_count == other.null_count && SameBytes(validity, other.validity) &&
           SameBytes(offsets, other.offsets);
  }
  static bool SameBytes(const std::shared_ptr<Buffer>& a, const std::shared_ptr<Buffer>& b) {
    return a == nullptr || b == nullptr ? a == b : a->Equals(*b);
  }
};

void CollectLeaves(const ArrowNode& node, std::vector<int>* out) {
  if (node.leaf_index >= 0) out->push_back(node.leaf_index);
  for (const ArrowNode& child : node.children) CollectLeaves(child, out);
}

class Assembler {
 public:
  Assembler(const FileSchema& schema, int first_leaf, std::vector<LeafBatch>* batches, arrow::MemoryPool* pool)
      : schema_(schema), first_leaf_(first_leaf), batches_(*batches), pool_(pool) {}

  /// `list_level`: the repetition level of the nearest enclosing list, 0 outside of lists.
  ArrayResult Build(const ArrowNode& node, int list_level) {
    if (node.leaf_index >= 0) return BuildLeaf(node);
    switch (node.field->type()->id()) {
      case arrow::Type::LIST:
        return BuildList(node, list_level);
      case arrow::Type::MAP:
        return BuildMap(node, list_level);
      default:
        return BuildStruct(node, list_level);
    }
  }

 private:
  ArrayResult BuildLeaf(const ArrowNode& node) {
    LeafBatch& batch = batches_[node.leaf_index - first_leaf_];
    const LeafColumn& leaf = schema_.leaves[node.leaf_index];
    LeafBatch values = std::move(batch);
    batch.definition_levels = values.definition_levels;  // still needed
    batch.repetition_levels = values.repetition_levels;
    auto array = ConvertLeaf(leaf.decoded_type, std::move(values), pool_);
    if (!array.ok()) return WithContext(array.status(), fmt::format("column '{}'", leaf.dotted_path()));
    return array;
  }

  ArrayResult BuildStruct(const ArrowNode& node, int list_level) {
    auto result = NewArrayData();
    auto& children = result->child_data;
    for (const ArrowNode& child : node.children) {
      ARROW_ASSIGN_OR_RAISE(auto array, BuildChild(child, list_level));
      if (!children.empty() && array->length != children[0]->length) return Disagree(node);
      children.push_back(std::move(array));
    }
    Shape shape;
    shape.length = children[0]->length;
    if (node.field->nullable()) {
      ARROW_ASSIGN_OR_RAISE(shape, ShapeOf(node, list_level));
      if (shape.length != children[0]->length) return Disagree(node);
    }
    result->type = node.field->type();
    result->length = shape.length;
    result->buffers.assign({std::move(shape.validity)});
    result->null_count = shape.null_count;
    return result;
  }

  ArrayResult BuildList(const ArrowNode& node, int list_level) {
    ARROW_ASSIGN_OR_RAISE(auto element, BuildChild(node.children[0], node.repetition_level));
    ARROW_ASSIGN_OR_RAISE(Shape shape, ShapeOf(node, list_level));
    if (shape.offsets->data_as<int32_t>()[shape.length] != element->length) return Disagree(node);
    return ListOf(node, std::move(shape), std::move(element));
  }

  ArrayResult BuildMap(const ArrowNode& node, int list_level) {
    ARROW_ASSIGN_OR_RAISE(auto key, Build(node.children[0], node.repetition_level));
    if (key->GetNullCount() > 0) return Invalid("map '{}' has a null key", node.field->name());
    ARROW_ASSIGN_OR_RAISE(auto value, BuildChild(node.children[1], node.repetition_level));
    ARROW_ASSIGN_OR_RAISE(Shape shape, ShapeOf(node, list_level));
    const int32_t entries = shape.offsets->data_as<int32_t>()[shape.length];
    if (key->length != entries || value->length != entries) return Disagree(node);
    const auto& type = static_cast<const arrow::MapType&>(*node.field->type());
    auto pairs = NewArrayData(type.value_type(), entries, {nullptr}, 0);
    pairs->child_data.push_back(std::move(key));
    pairs->child_data.push_back(std::move(value));
    return ListOf(node, std::move(shape), std::move(pairs));
  }

  static std::shared_ptr<ArrayData> ListOf(const ArrowNode& node, Shape shape, std::shared_ptr<ArrayData> elements) {
    auto list = NewArrayData(node.field->type(), shape.length, {std::move(shape.validity), std::move(shape.offsets)},
                             shape.null_count);
    list->child_data.push_back(std::move(elements));
    return list;
  }

  /// A child; one that is never null has no validity, although slots under a null parent are no values.
  ArrayResult BuildChild(const ArrowNode& node, int list_level) {
    ARROW_ASSIGN_OR_RAISE(auto array, Build(node, list_level));
    if (!node.field->nullable() && array->type->id() != arrow::Type::NA) {
      array->buffers[0] = nullptr;
      array->null_count = 0;
    }
    return array;
  }

  /// What the leaves under `node` agree on.
  Result<Shape> ShapeOf(const ArrowNode& node, int list_level) {
    std::vector<int> leaves;
    CollectLeaves(node, &leaves);
    Shape shape;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const LeafBatch& batch = batches_[leaves[i] - first_leaf_];
      Levels levels{batch.definition_levels->data(),
                    batch.repetition_levels == nullptr ? nullptr : batch.repetition_levels->data(), batch.levels_count};
      const bool is_list = node.element_level > 0;
      ARROW_ASSIGN_OR_RAISE(Shape told,
                            is_list ? ListShape(node, levels, list_level) : StructShape(node, levels, list_level));
      if (i == 0) {
        shape = std::move(told);
      } else if (!shape.Equals(told)) {
        return Disagree(node);
      }
    }
    return shape;
  }

  Result<Shape> StructShape(const ArrowNode& node, const Levels& levels, int list_level) {
    ARROW_ASSIGN_OR_RAISE(const Bits slots, Beginnings(levels, list_level, node.exists_level, pool_));
    return SlotShape(node, levels, slots);
  }

  Result<Shape> ListShape(const ArrowNode& node, const Levels& levels, int list_level) {
    ARROW_ASSIGN_OR_RAISE(const Bits slots, Beginnings(levels, list_level, node.exists_level, pool_));
    ARROW_ASSIGN_OR_RAISE(Shape shape, SlotShape(node, levels, slots));
    ARROW_ASSIGN_OR_RAISE(const Bits elements, Beginnings(levels, node.repetition_level, node.element_level, pool_));
    ARROW_ASSIGN_OR_RAISE(shape.offsets, OffsetsOf(slots, elements, shape.length, pool_));
    return shape;
  }

  /// How many slots there are, and which of them are null.
  Result<Shape> SlotShape(const ArrowNode& node, const Levels& levels, const Bits& slots) {
    Shape shape;
    shape.length = CountSet(slots);
    if (!node.field->nullable()) return shape;
    ARROW_ASSIGN_OR_RAISE(const Bits present, AtLeast(levels.definition, levels.count, node.present_level, pool_));
    Bits valid(pool_);
    ARROW_RETURN_NOT_OK(valid.Resize(WordsFor(shape.length)));
    simd::CompressBits(present.data(), slots.data(), static_cast<size_t>(levels.count), valid.data());
    ValidityBuilder validity(pool_);
    ARROW_RETURN_NOT_OK(validity.AppendBits(reinterpret_cast<const uint8_t*>(valid.data()), 0, shape.length));
    shape.null_count = validity.null_count();
    ARROW_ASSIGN_OR_RAISE(shape.validity, validity.Finish());
    return shape;
  }

  Status Disagree(const ArrowNode& node) const {
    return Invalid("the columns under '{}' disagree about how many values it has", node.field->name());
  }

  const FileSchema& schema_;
  int first_leaf_;
  std::vector<LeafBatch>& batches_;
  arrow::MemoryPool* pool_;
};

}  // namespace

Result<std::shared_ptr<ArrayData>> AssembleField(const FileSchema& schema, const ArrowNode& node, int first_leaf,
                                                 std::vector<LeafBatch>* batches, arrow::MemoryPool* pool) {
  return Assembler(schema, first_leaf, batches, pool).Build(node, 0);
}

}  // namespace calve::parquet
