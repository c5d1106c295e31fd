#include "calve/ipc/skeleton.h"

#include "calve/ipc/skeleton_batch.h"

#include <arrow/array/data.h>
#include <arrow/type.h>

#include <atomic>
#include <new>

// A skeleton is a batch, its arrays and their buffers in few allocations:
//
//   skeleton    the arrow::RecordBatch, the control block of the pointer that consumers hold to it, pointers to the
//   arrays arrays      the arrow::ArrayData of each level of nesting, in one allocation a level slices      all
//   arrow::Buffer objects, in one; the first of them owns the body
//
// Arrays of a level share one reference count, as do the slices. References lead from the batch to the first level,
// from a level to deeper ones, and from any level to the slices: never in a circle. So the skeleton knows how many
// references there are from inside, and that nobody else holds any of the objects when there are no more than that.

namespace calve::ipc {

// ---- Slices.

void BodySlice::Point(const BufferView& view) {
  data_ = view.data;
  size_ = capacity_ = view.size;
}

// ---- The pointer that consumers hold.

/// Puts the control block of a shared_ptr into the skeleton that it points to.
template <typename T>
struct Skeleton::ControlAllocator {
  using value_type = T;

  explicit ControlAllocator(Skeleton* from) : skeleton(from) {}
  template <typename U>
  explicit ControlAllocator(const ControlAllocator<U>& other) : skeleton(other.skeleton) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kControlBytes && alignof(T) <= alignof(std::max_align_t));
    return reinterpret_cast<T*>(skeleton->control_);
  }
  /// Comes when nobody can reach the control block any more, after the deleter.
  void deallocate(T*, size_t) { Skeleton::Return(skeleton); }
  template <typename U>
  bool operator==(const ControlAllocator<U>& other) const {
    return skeleton == other.skeleton;
  }

  Skeleton* skeleton;
};

struct Skeleton::Deleter {
  void operator()(Skeleton* skeleton) const { skeleton->Release(); }
};

std::shared_ptr<arrow::RecordBatch> Skeleton::Handle(std::shared_ptr<SkeletonPool> pool) {
  pool_ = std::move(pool);
  return std::shared_ptr<arrow::RecordBatch>(this, Deleter{}, ControlAllocator<char>(this));
}

// ---- Making and unmaking.

Skeleton* Skeleton::Make(const BatchPlan& plan, const BatchLayout& layout) {
  const size_t size = sizeof(Skeleton) + plan.nodes.size() * sizeof(arrow::ArrayData*);
  void* memory = ::operator new(size);
  auto* skeleton = new (memory) Skeleton(plan);
  skeleton->Build(layout);
  return skeleton;
}

void Skeleton::Destroy(Skeleton* skeleton) {
  skeleton->~Skeleton();
  ::operator delete(skeleton);
}

Skeleton::Skeleton(const BatchPlan& plan) : RecordBatch(plan.schema, 0), plan_(plan) {}

void Skeleton::Build(const BatchLayout& layout) {
  MakeLevels();
  slices_ = std::make_shared<BodySlice[]>(layout.buffers.size() + 1);
  for (size_t i = 0; i < plan_.nodes.size(); ++i) {
    const PlanNode& node = plan_.nodes[i];
    arrow::ArrayData& array = *arrays()[i];
    array.type = node.type;
    array.buffers.resize(static_cast<size_t>(node.buffers + layout.nodes[i].variadic_count));
  }
}

void Skeleton::MakeLevels() {
  thread_local std::vector<std::shared_ptr<arrow::ArrayData[]>> levels;
  for (const int32_t size : plan_.level_sizes) {
    levels.push_back(std::make_shared<arrow::ArrayData[]>(static_cast<size_t>(size)));
  }
  const auto reference = [&](int32_t index) {
    const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
    const auto& level = levels[static_cast<size_t>(node.level)];
    return std::shared_ptr<arrow::ArrayData>(level, &level[node.index_in_level]);
  };
  for (size_t i = 0; i < plan_.nodes.size(); ++i) {
    const PlanNode& node = plan_.nodes[i];
    arrow::ArrayData& array = levels[static_cast<size_t>(node.level)][node.index_in_level];
    arrays()[i] = &array;
    array.child_data.reserve(static_cast<size_t>(node.child_count));
    for (int32_t child = static_cast<int32_t>(i) + 1, n = 0; n < node.child_count; ++n) {
      array.child_data.push_back(reference(child));
      child = plan_.nodes[static_cast<size_t>(child)].end;
    }
    if (node.dictionary >= 0) {
      array.dictionary = reference(plan_.dictionaries[static_cast<size_t>(node.dictionary)].root);
    }
  }
  if (!levels.empty()) first_level_ = levels[0];
  levels.clear();
}

bool Skeleton::Fits(const BatchLayout& layout) {
  if (!plan_.has_views) return true;
  for (size_t i = 0; i < plan_.nodes.size(); ++i) {
    const auto buffers = static_cast<size_t>(plan_.nodes[i].buffers + layout.nodes[i].variadic_count);
    if (arrays()[i]->buffers.size() != buffers) return false;
  }
  return true;
}

void Skeleton::Fill(const BatchLayout& layout, Body body) {
  num_rows_ = layout.rows;
  slices_[0].Own(std::move(body));
  for (size_t i = 0; i < plan_.nodes.size(); ++i) {
    const NodeView& view = layout.nodes[i];
    arrow::ArrayData& array = *arrays()[i];
    array.length = view.length;
    array.null_count.store(view.null_count, std::memory_order_relaxed);
    array.offset = 0;
    for (size_t b = 0; b < array.buffers.size(); ++b) {
      const auto number = static_cast<size_t>(view.first_buffer) + b;
      const BufferView& buffer = layout.buffers[number];
      slices_[static_cast<ptrdiff_t>(number) + 1].Point(buffer);
      if ((buffer.data != nullptr) != (array.buffers[b] != nullptr)) Toggle(&array.buffers[b], number + 1);
    }
  }
}

void Skeleton::Toggle(std::shared_ptr<arrow::Buffer>* reference, size_t slice) {
  if (*reference != nullptr) {
    reference->reset();
    --slice_references_;
  } else {
    *reference = std::shared_ptr<arrow::Buffer>(slices_, &slices_[static_cast<ptrdiff_t>(slice)]);
    ++slice_references_;
  }
}

// ---- Coming back.

void Skeleton::Release() {
  boxed_.clear();
  alone_ = IsAlone();
  if (alone_) slices_[0].Disown();
}

void Skeleton::Return(Skeleton* skeleton) {
  const auto pool = std::move(skeleton->pool_);
  if (skeleton->alone_) {
    pool->Give(skeleton);
  } else {
    Destroy(skeleton);
  }
}

/// Whether all references that there are come from inside, and every object is still what was made here.
bool Skeleton::IsAlone() const {
  const auto columns = static_cast<int64_t>(columns_.size());
  if (first_level_ != nullptr && first_level_.use_count() != 1 + columns) return false;
  if (slices_.use_count() != 1 + slice_references_ || !IsUnchanged() || !AreLevelsAlone()) return false;
  // What other threads did with the objects came before they dropped them.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

bool Skeleton::IsUnchanged() const {
  for (size_t i = 0; i < plan_.nodes.size(); ++i) {
    const PlanNode& node = plan_.nodes[i];
    const arrow::ArrayData& array = *arrays()[i];
    if (array.type != node.type || array.statistics != nullptr) return false;
    if (array.buffers.size() != node.buffers && node.layout != Layout::kView) return false;
    if (array.child_data.size() != static_cast<size_t>(node.child_count)) return false;
  }
  return true;
}

bool Skeleton::AreLevelsAlone() const {
  for (const LevelReferences& level : plan_.level_references) {
    const arrow::ArrayData& from = *arrays()[level.node];
    const auto& one = level.child < 0 ? from.dictionary : from.child_data[static_cast<size_t>(level.child)];
    if (one.use_count() != level.count) return false;
  }
  return true;
}

// ---- The pool.

SkeletonPool::~SkeletonPool() {
  for (Skeleton* skeleton : idle_) Skeleton::Destroy(skeleton);
}

Skeleton* SkeletonPool::Take(const BatchLayout& layout) {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  Skeleton* skeleton = idle_.back();
  idle_.pop_back();
  if (skeleton->Fits(layout)) return skeleton;
  Skeleton::Destroy(skeleton);
  return nullptr;
}

void SkeletonPool::Give(Skeleton* skeleton) {
  {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdle) {
      idle_.push_back(skeleton);
      return;
    }
  }
  Skeleton::Destroy(skeleton);
}

std::shared_ptr<arrow::RecordBatch> SkeletonPool::MakeBatch(const std::shared_ptr<SkeletonPool>& pool,
                                                            const BatchLayout& layout, Body body, bool* reused) {
  Skeleton* skeleton = pool->Take(layout);
  *reused = skeleton != nullptr;
  if (skeleton == nullptr) skeleton = Skeleton::Make(pool->plan(), layout);
  skeleton->Fill(layout, std::move(body));
  return skeleton->Handle(pool);
}

}  // namespace calve::ipc
