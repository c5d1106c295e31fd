#pragma once

#include "calve/ipc/batch_layout.h"
#include "calve/ipc/body.h"
#include "calve/ipc/skeleton.h"

#include <arrow/record_batch.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace calve::ipc {

/// A buffer whose bytes lie elsewhere, and can be told to lie elsewhere again.
class BodySlice final : public arrow::Buffer {
 public:
  BodySlice() : Buffer(nullptr, 0) {}
  /// An empty one. Nothing copies slices, but g++ 12 asks for this to make an array of them.
  BodySlice(const BodySlice&) : BodySlice() {}
  BodySlice& operator=(const BodySlice&) = delete;
  void Point(const BufferView& view);
  void Own(Body body) { body_ = std::move(body); }
  void Disown() { body_.Free(); }

 private:
  Body body_;
};

/// A batch whose objects can be filled again; see skeleton.cc for what it consists of.
class Skeleton final : public arrow::RecordBatch {
 public:
  static Skeleton* Make(const BatchPlan& plan, const BatchLayout& layout);
  static void Destroy(Skeleton* skeleton);

  /// Whether `layout` has as many buffers in every array.
  bool Fits(const BatchLayout& layout);
  void Fill(const BatchLayout& layout, Body body);
  /// The one pointer to it; `pool` gets it back.
  std::shared_ptr<arrow::RecordBatch> Handle(std::shared_ptr<SkeletonPool> pool);

  const std::vector<std::shared_ptr<arrow::Array>>& columns() const override;
  std::shared_ptr<arrow::Array> column(int i) const override;
  std::shared_ptr<arrow::ArrayData> column_data(int i) const override;
  const arrow::ArrayDataVector& column_data() const override;
  arrow::Result<std::shared_ptr<RecordBatch>> AddColumn(int i, const std::shared_ptr<arrow::Field>& field,
                                                        const std::shared_ptr<arrow::Array>& column) const override;
  arrow::Result<std::shared_ptr<RecordBatch>> SetColumn(int i, const std::shared_ptr<arrow::Field>& field,
                                                        const std::shared_ptr<arrow::Array>& column) const override;
  arrow::Result<std::shared_ptr<RecordBatch>> RemoveColumn(int i) const override;
  std::shared_ptr<RecordBatch> ReplaceSchemaMetadata(
      const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) const override;
  std::shared_ptr<RecordBatch> Slice(int64_t offset, int64_t length) const override;
  const std::shared_ptr<arrow::Device::SyncEvent>& GetSyncEvent() const override;
  arrow::DeviceAllocationType device_type() const override { return arrow::DeviceAllocationType::kCPU; }

 private:
  template <typename T>
  struct ControlAllocator;
  struct Deleter;
  static constexpr size_t kControlBytes = 64;

  explicit Skeleton(const BatchPlan& plan);
  ~Skeleton() override = default;
  void Build(const BatchLayout& layout);
  void MakeLevels();
  void Toggle(std::shared_ptr<arrow::Buffer>* reference, size_t slice);
  void Release();
  static void Return(Skeleton* skeleton);
  bool IsAlone() const;
  bool AreLevelsAlone() const;
  bool IsUnchanged() const;
  /// One pointer a node, behind the object.
  arrow::ArrayData** arrays() { return reinterpret_cast<arrow::ArrayData**>(this + 1); }
  arrow::ArrayData* const* arrays() const { return reinterpret_cast<arrow::ArrayData* const*>(this + 1); }
  std::shared_ptr<RecordBatch> Plain() const;

  const BatchPlan& plan_;
  std::shared_ptr<arrow::ArrayData[]> first_level_;
  std::shared_ptr<BodySlice[]> slices_;
  int64_t slice_references_ = 0;  ///< from buffers of the arrays
  bool alone_ = false;
  std::shared_ptr<SkeletonPool> pool_;  ///< while a consumer has it

  mutable std::mutex mutex_;  ///< what consumers ask for only
  mutable arrow::ArrayDataVector columns_;
  mutable std::vector<std::shared_ptr<arrow::Array>> boxed_;

  alignas(std::max_align_t) std::byte control_[kControlBytes];
};

}  // namespace calve::ipc
