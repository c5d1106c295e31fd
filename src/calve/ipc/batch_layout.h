#pragma once

#include "calve/ipc/batch_plan.h"
#include "calve/ipc/flat_table.h"

#include <arrow/result.h>

#include <cstdint>
#include <span>
#include <vector>

namespace calve::ipc {

using arrow::Status;

struct BufferView {
  const uint8_t* data = nullptr;  ///< null: there is no such buffer
  int64_t size = 0;
};

struct NodeView {
  int64_t length = 0, null_count = 0;
  int32_t first_buffer = 0;    ///< in BatchLayout::buffers; the node has PlanNode::buffers there, and then
  int32_t variadic_count = 0;  ///< so many more, of the characters of views
};

/// Where the arrays of a batch lie, in memory that something else owns: as many nodes as the plan has, the
/// dictionaries' included. Made for being filled again without allocating.
struct BatchLayout {
  std::vector<NodeView> nodes;
  std::vector<BufferView> buffers;
  int64_t rows = 0;

  const NodeView& node(int32_t index) const { return nodes[static_cast<size_t>(index)]; }
  const BufferView& buffer(int32_t index) const { return buffers[static_cast<size_t>(index)]; }
  /// Buffer `i` of a node, counted as arrow::ArrayData does.
  const BufferView& BufferOf(int32_t index, int32_t i) const { return buffer(node(index).first_buffer + i); }
  /// Forgets the batch before.
  void Reset(const BatchPlan& plan);
};

/// Fills in the nodes from `begin` to `end` of `plan` from a RecordBatch table over `body`, and checks what costs
/// nothing a row: that there is a node for each array and a buffer for each of its buffers, inside the body and at a
/// multiple of 8 bytes, that these are long enough for the lengths that the nodes tell, and that the lengths of
/// children fit. What offsets and dictionary keys say is not looked at: CheckLayout does.
///
/// Validity bitmaps where nothing is null count as absent. `record_batch` has been read from `flat`.
Status FillLayout(const BatchPlan& plan, int32_t begin, int32_t end, const FlatTable& record_batch, FlatBytes* flat,
                  std::span<const uint8_t> body, BatchLayout* layout);

/// Makes the nodes from `begin` to `end`, those of a dictionary that did not come, arrays without values.
void FillEmpty(const BatchPlan& plan, int32_t begin, int32_t end, BatchLayout* layout);

/// Checks what FillLayout does not: offsets in order and inside what they point at, text that is UTF-8, dictionary keys
/// inside their dictionary, null counts, type ids and run ends. Of the first `nodes`: those of plan.batch_nodes alone
/// where the same dictionaries were checked before.
Status CheckLayout(const BatchPlan& plan, const BatchLayout& layout, int32_t nodes);

}  // namespace calve::ipc
