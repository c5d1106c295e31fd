#include "calve/ipc/batch_layout.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/ipc/message.h"

#include <array>
#include <string_view>

namespace calve::ipc {
namespace {

// Fields of the table RecordBatch of Message.fbs, and the sizes of its structs.
constexpr int kLength = 0, kNodes = 1, kBuffers = 2, kCompression = 3, kVariadicCounts = 4;
constexpr size_t kStructBytes = 16;  // FieldNode: length(i64) null_count(i64); Buffer: offset(i64) length(i64)

/// Where buffers of no bytes point; consumers may look for a first offset there all the same.
alignas(kBodyAlignment) constexpr uint8_t kNothing[kBodyAlignment] = {};

class Filler {
 public:
  Filler(const BatchPlan& plan, const FlatTable& table, std::span<const uint8_t> body, BatchLayout* layout)
      : plan_(plan),
        body_(body),
        layout_(layout),
        nodes_(table.Vector(kNodes, kStructBytes)),
        buffers_(table.Vector(kBuffers, kStructBytes)),
        variadic_(table.Vector(kVariadicCounts, sizeof(int64_t))) {}

  Status Fill(int32_t begin, int32_t end) {
    if (static_cast<size_t>(end - begin) != nodes_.count) {
      return Invalid("batch of {} arrays, its schema has {}", nodes_.count, end - begin);
    }
    for (int32_t i = begin; i < end; ++i) {
      if (Status status = FillNode(i, static_cast<size_t>(i - begin)); !status.ok()) [[unlikely]] {
        return WithContext(status, plan_.NameOf(i));
      }
    }
    if (next_buffer_ != buffers_.count) {
      return Invalid("batch of {} buffers, its schema has {}", buffers_.count, next_buffer_);
    }
    if (next_variadic_ != variadic_.count) {
      return Invalid("batch of {} variadic counts, its schema has {}", variadic_.count, next_variadic_);
    }
    return CheckChildren(begin, end);
  }

 private:
  Status FillNode(int32_t index, size_t position) {
    const PlanNode& node = plan_.nodes[static_cast<size_t>(index)];
    NodeView& view = layout_->nodes[static_cast<size_t>(index)];
    view.length = nodes_.At<int64_t>(2 * position);
    view.null_count = nodes_.At<int64_t>(2 * position + 1);
    if (view.length < 0 || view.null_count < 0 || view.null_count > view.length) [[unlikely]] {
      return Invalid("length {} with {} nulls", view.length, view.null_count);
    }
    if (node.must_not_be_null && view.null_count != 0) return Invalid("{} nulls where none may be", view.null_count);
    view.first_buffer = static_cast<int32_t>(layout_->buffers.size());
    view.variadic_count = 0;
    ARROW_RETURN_NOT_OK(TakeValidity(node, &view));
    ARROW_RETURN_NOT_OK(TakeOthers(node, &view));
    return CheckSizes(node, view);
  }

  Status TakeValidity(const PlanNode& node, NodeView* view) {
    if (!node.has_validity) {
      // Nulls of these are not counted in a bitmap of their own.
      view->null_count = node.layout == Layout::kNull ? view->length : 0;
      layout_->buffers.emplace_back();
      return Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(const BufferView bitmap, TakeBuffer());
    if (view->null_count > 0 && bitmap.size < (view->length + 7) / 8) [[unlikely]] {
      return Invalid("validity of {} bytes for {} values", bitmap.size, view->length);
    }
    layout_->buffers.push_back(view->null_count > 0 ? bitmap : BufferView{});
    return Status::OK();
  }

  Status TakeOthers(const PlanNode& node, NodeView* view) {
    for (int i = 1; i < node.buffers; ++i) {
      ARROW_ASSIGN_OR_RAISE(const BufferView buffer, TakeBuffer());
      layout_->buffers.push_back(buffer);
    }
    if (node.layout != Layout::kView) return Status::OK();
    if (next_variadic_ >= variadic_.count) return Invalid("views without a variadic count");
    const auto count = variadic_.At<int64_t>(next_variadic_++);
    if (count < 0 || count > static_cast<int64_t>(buffers_.count - next_buffer_)) {
      return Invalid("{} variadic buffers, {} are left", count, buffers_.count - next_buffer_);
    }
    view->variadic_count = static_cast<int32_t>(count);
    for (int64_t i = 0; i < count; ++i) {
      ARROW_ASSIGN_OR_RAISE(const BufferView buffer, TakeBuffer());
      layout_->buffers.push_back(buffer);
    }
    return Status::OK();
  }

  Result<BufferView> TakeBuffer() {
    if (next_buffer_ >= buffers_.count) return Invalid("batch of {} buffers: too few for its schema", buffers_.count);
    const auto offset = buffers_.At<int64_t>(2 * next_buffer_), size = buffers_.At<int64_t>(2 * next_buffer_ + 1);
    const auto total = static_cast<int64_t>(body_.size());
    if (offset < 0 || size < 0 || offset > total || size > total - offset) [[unlikely]] {
      return Invalid("buffer {} of {} bytes at byte {} leaves the body of {} bytes", next_buffer_, size, offset, total);
    }
    if (offset % kBufferAlignment != 0 && size > 0) [[unlikely]] {
      return Invalid("buffer {} begins at byte {} of the body, not at a multiple of {}", next_buffer_, offset,
                     kBufferAlignment);
    }
    ++next_buffer_;
    if (size == 0) return BufferView{kNothing, 0};
    return BufferView{body_.data() + offset, size};
  }

  static Status CheckSize(std::string_view what, const BufferView& buffer, int64_t count, int64_t width) {
    const auto needed = CheckedMultiply<int64_t>(count, width);
    if (needed && buffer.size >= *needed) [[likely]]
      return Status::OK();
    return Invalid("{} of {} bytes for {} values of {} bytes", what, buffer.size, count, width);
  }

  /// An array without values may do without offsets.
  static Status CheckOffsetsSize(const BufferView& buffer, int64_t length, int64_t width) {
    if (length == 0 && buffer.size == 0) return Status::OK();
    if (length == INT64_MAX) return Invalid("length {}", length);
    return CheckSize("offsets", buffer, length + 1, width);
  }

  Status CheckSizes(const PlanNode& node, const NodeView& view) const {
    const auto buffer = [&](int32_t i) -> const BufferView& { return layout_->buffer(view.first_buffer + i); };
    switch (node.layout) {
      case Layout::kBits:
        if (buffer(1).size >= view.length / 8 + (view.length % 8 != 0)) return Status::OK();
        return Invalid("values of {} bytes for {} bits", buffer(1).size, view.length);
      case Layout::kFixed:
        return CheckSize("values", buffer(1), view.length, node.byte_width);
      case Layout::kBinary32:
      case Layout::kList32:
        return CheckOffsetsSize(buffer(1), view.length, 4);
      case Layout::kBinary64:
      case Layout::kList64:
        return CheckOffsetsSize(buffer(1), view.length, 8);
      case Layout::kView:
        return CheckSize("views", buffer(1), view.length, 16);
      case Layout::kListView32:
      case Layout::kListView64: {
        const int64_t width = node.layout == Layout::kListView32 ? 4 : 8;
        ARROW_RETURN_NOT_OK(CheckSize("offsets", buffer(1), view.length, width));
        return CheckSize("sizes", buffer(2), view.length, width);
      }
      case Layout::kDenseUnion:
        ARROW_RETURN_NOT_OK(CheckSize("offsets", buffer(2), view.length, 4));
        [[fallthrough]];
      case Layout::kSparseUnion:
        return CheckSize("type ids", buffer(1), view.length, 1);
      default:
        return Status::OK();
    }
  }

  Status CheckChildren(int32_t begin, int32_t end) const {
    for (int32_t i = begin; i < end; ++i) {
      const PlanNode& node = plan_.nodes[static_cast<size_t>(i)];
      if (node.child_count == 0) continue;
      if (Status status = CheckChildrenOf(node, i); !status.ok()) [[unlikely]] {
        return WithContext(status, plan_.NameOf(i));
      }
    }
    return Status::OK();
  }

  Status CheckChildrenOf(const PlanNode& node, int32_t index) const {
    const int64_t length = layout_->node(index).length;
    int64_t least = 0;
    if (node.layout == Layout::kStruct || node.layout == Layout::kSparseUnion) {
      least = length;
    } else if (node.layout == Layout::kFixedList) {
      const auto values = CheckedMultiply<int64_t>(length, node.list_size);
      if (!values) return Invalid("{} lists of {} values", length, node.list_size);
      least = *values;
    } else if (node.layout == Layout::kRunEndEncoded) {
      return CheckRuns(index);
    }
    for (int32_t child = index + 1, i = 0; i < node.child_count; ++i) {
      const int64_t values = layout_->node(child).length;
      if (values < least) return Invalid("child {} of {} values, {} are needed", i, values, least);
      child = plan_.nodes[static_cast<size_t>(child)].end;
    }
    return Status::OK();
  }

  Status CheckRuns(int32_t index) const {
    const int32_t ends = index + 1, values = plan_.nodes[static_cast<size_t>(ends)].end;
    const int64_t runs = layout_->node(ends).length;
    if (layout_->node(values).length < runs) {
      return Invalid("{} run ends with {} values", runs, layout_->node(values).length);
    }
    if (runs == 0 && layout_->node(index).length > 0)
      return Invalid("{} values in no run", layout_->node(index).length);
    return Status::OK();
  }

  const BatchPlan& plan_;
  const std::span<const uint8_t> body_;
  BatchLayout* layout_;
  const FlatVector nodes_, buffers_, variadic_;
  size_t next_buffer_ = 0, next_variadic_ = 0;
};

}  // namespace

void BatchLayout::Reset(const BatchPlan& plan) {
  nodes.assign(plan.nodes.size(), NodeView{});
  buffers.clear();
  rows = 0;
}

void FillEmpty(const BatchPlan& plan, int32_t begin, int32_t end, BatchLayout* layout) {
  for (int32_t i = begin; i < end; ++i) {
    const PlanNode& node = plan.nodes[static_cast<size_t>(i)];
    layout->nodes[static_cast<size_t>(i)] = {0, 0, static_cast<int32_t>(layout->buffers.size()), 0};
    layout->buffers.emplace_back();
    for (int b = 1; b < node.buffers; ++b) layout->buffers.push_back({kNothing, 0});
  }
}

Status FillLayout(const BatchPlan& plan, int32_t begin, int32_t end, const FlatTable& record_batch, FlatBytes* flat,
                  std::span<const uint8_t> body, BatchLayout* layout) {
  const auto rows = record_batch.Scalar<int64_t>(kLength);
  const bool compressed = record_batch.Table(kCompression).exists();
  Filler filler(plan, record_batch, body, layout);
  ARROW_RETURN_NOT_OK(CheckFlat(*flat));
  if (compressed) return NotImplemented("compression of message bodies");
  if (rows < 0) return Invalid("batch of {} rows", rows);
  ARROW_RETURN_NOT_OK(filler.Fill(begin, end));
  for (int32_t i = begin; i < end; i = plan.nodes[static_cast<size_t>(i)].end) {
    if (layout->node(i).length != rows) {
      return Invalid("{}: {} values in a batch of {} rows", plan.NameOf(i), layout->node(i).length, rows);
    }
  }
  layout->rows = rows;
  return Status::OK();
}

}  // namespace calve::ipc
