#include "calve/ipc/c_export.h"

#include "calve/base/status.h"

#include <atomic>
#include <new>

// One allocation:
//
//   arena = Arena  ArrowArray (one for every place where a node stands, dictionaries once a use)  pointers
//
// pointers are the arrays' lists of buffers and children.

namespace calve::ipc {
namespace {

constexpr size_t kMostArrays = size_t{1} << 20;

/// Counts the arrays that are not released yet.
struct Arena {
  std::atomic<int64_t> live{0};
  Body body;
};

void ReleaseArray(ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  }
  if (array->dictionary != nullptr && array->dictionary->release != nullptr) {
    array->dictionary->release(array->dictionary);
  }
  auto* arena = static_cast<Arena*>(array->private_data);
  array->release = nullptr;
  if (arena->live.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    arena->~Arena();
    ::operator delete(arena);
  }
}

class Exporter {
 public:
  Exporter(const BatchPlan& plan, const BatchLayout& layout) : plan_(plan), layout_(layout) {}

  Status Export(Body body, ArrowArray* out) {
    Count(plan_.columns.size());
    for (const int32_t column : plan_.columns) CountNode(column);
    if (arrays_ > kMostArrays) return NotImplemented("more than {} arrays in a batch", kMostArrays);
    void* memory = ::operator new(sizeof(Arena) + arrays_ * sizeof(ArrowArray) + pointers_ * sizeof(void*));
    arena_ = new (memory) Arena;
    arena_->body = std::move(body);
    next_array_ = reinterpret_cast<ArrowArray*>(arena_ + 1);
    next_pointer_ = reinterpret_cast<void**>(next_array_ + arrays_);
    *out = Begin(layout_.rows, 0, 1, static_cast<int64_t>(plan_.columns.size()));
    out->buffers[0] = nullptr;
    for (size_t i = 0; i < plan_.columns.size(); ++i) out->children[i] = Node(plan_.columns[i]);
    return Status::OK();
  }

 private:
  static size_t BuffersOf(const PlanNode& node, const NodeView& view) {
    // Views tell the sizes of their variadic buffers in one more; arrays without validity have no place for it.
    const size_t views = node.layout == Layout::kView ? static_cast<size_t>(view.variadic_count) + 1 : 0;
    return node.buffers - (node.has_validity ? 0U : 1U) + views;
  }

  void Count(size_t children) { pointers_ += 1 + children; }

  void CountNode(int32_t index) {
    const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
    const NodeView& view = layout_.node(index);
    if (++arrays_ > kMostArrays) return;
    pointers_ += BuffersOf(node, view) + static_cast<size_t>(node.child_count);
    if (node.layout == Layout::kView) pointers_ += static_cast<size_t>(view.variadic_count);
    for (int32_t child = index + 1, n = 0; n < node.child_count; ++n) {
      CountNode(child);
      child = plan_.nodes[static_cast<size_t>(child)].end;
    }
    if (node.dictionary >= 0) CountNode(plan_.dictionaries[static_cast<size_t>(node.dictionary)].root);
  }

  void** TakePointers(size_t count) {
    void** pointers = next_pointer_;
    next_pointer_ += count;
    return pointers;
  }

  ArrowArray Begin(int64_t length, int64_t null_count, int64_t buffers, int64_t children) {
    ArrowArray array{};
    array.length = length;
    array.null_count = null_count;
    array.n_buffers = buffers;
    array.n_children = children;
    array.buffers = const_cast<const void**>(TakePointers(static_cast<size_t>(buffers)));
    array.children = reinterpret_cast<ArrowArray**>(TakePointers(static_cast<size_t>(children)));
    array.release = ReleaseArray;
    array.private_data = arena_;
    arena_->live.fetch_add(1, std::memory_order_relaxed);
    return array;
  }

  ArrowArray* Node(int32_t index) {
    const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
    const NodeView& view = layout_.node(index);
    ArrowArray* array = next_array_++;
    *array = Begin(view.length, view.null_count, static_cast<int64_t>(BuffersOf(node, view)), node.child_count);
    const int32_t skipped = node.has_validity ? 0 : 1, fixed = node.buffers - skipped;
    for (int32_t i = 0; i < fixed; ++i) array->buffers[i] = layout_.BufferOf(index, i + skipped).data;
    if (node.layout == Layout::kView) AddVariadic(index, fixed, view.variadic_count, array);
    for (int32_t child = index + 1, n = 0; n < node.child_count; ++n) {
      array->children[n] = Node(child);
      child = plan_.nodes[static_cast<size_t>(child)].end;
    }
    if (node.dictionary >= 0) array->dictionary = Node(plan_.dictionaries[static_cast<size_t>(node.dictionary)].root);
    return array;
  }

  void AddVariadic(int32_t index, int32_t fixed, int32_t count, ArrowArray* array) {
    auto* sizes = reinterpret_cast<int64_t*>(TakePointers(static_cast<size_t>(count)));
    for (int32_t i = 0; i < count; ++i) {
      const BufferView& buffer = layout_.BufferOf(index, fixed + i);
      array->buffers[fixed + i] = buffer.data;
      sizes[i] = buffer.size;
    }
    array->buffers[fixed + count] = sizes;
  }

  const BatchPlan& plan_;
  const BatchLayout& layout_;
  size_t arrays_ = 0, pointers_ = 0;
  Arena* arena_ = nullptr;
  ArrowArray* next_array_ = nullptr;
  void** next_pointer_ = nullptr;
};

}  // namespace

Status ExportBatch(const BatchPlan& plan, const BatchLayout& layout, Body body, ArrowArray* out) {
  static_assert(sizeof(void*) == sizeof(int64_t));
  return Exporter(plan, layout).Export(std::move(body), out);
}

}  // namespace calve::ipc
