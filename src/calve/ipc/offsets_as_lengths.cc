#include "calve/ipc/offsets_as_lengths.h"

#include "calve/base/status.h"
#include "calve/ipc/scratch.h"
#include "calve/simd/byte_stream_split.h"
#include "calve/simd/delta.h"

#include <arrow/type.h>

#include <cstring>

namespace calve::ipc {
namespace {

Status Refuse(const BatchPlan& plan, int32_t node) {
  return NotImplemented("{}: {} with offsets stored as lengths", plan.NameOf(node),
                        plan.nodes[static_cast<size_t>(node)].type->ToString());
}

/// Sums wrap around: what offsets may be is checked afterwards.
void Undo(const BufferView& buffer, size_t count, Scratch* scratch) {
  const size_t size = count * sizeof(uint32_t);
  scratch->Clear();
  auto* values = reinterpret_cast<uint32_t*>(scratch->Grow(static_cast<int64_t>(size)));
  simd::JoinByteStreams(buffer.data, count, sizeof(uint32_t), count, reinterpret_cast<uint8_t*>(values));
  simd::AddDeltas(values, count, 0, 0);
  std::memcpy(const_cast<uint8_t*>(buffer.data), values, size);
}

}  // namespace

Status UndoOffsetsAsLengths(const BatchPlan& plan, BatchLayout* layout) {
  thread_local Scratch scratch;
  Status status;
  for (int32_t i = 0; i < static_cast<int32_t>(plan.nodes.size()) && status.ok(); ++i) {
    const PlanNode& node = plan.nodes[static_cast<size_t>(i)];
    if (node.dictionary >= 0) status = Refuse(plan, i);
    switch (node.layout) {
      case Layout::kBinary32:
      case Layout::kList32: {
        const BufferView& offsets = layout->BufferOf(i, 1);
        if (offsets.size > 0) Undo(offsets, static_cast<size_t>(layout->node(i).length) + 1, &scratch);
        break;
      }
      case Layout::kBinary64:
      case Layout::kList64:
      case Layout::kListView32:
      case Layout::kListView64:
      case Layout::kDenseUnion:
        status = Refuse(plan, i);
        break;
      default:
        break;
    }
  }
  scratch.ReleaseIfLarge();
  return status;
}

}  // namespace calve::ipc
