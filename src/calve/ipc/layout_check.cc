#include "calve/base/status.h"
#include "calve/ipc/batch_layout.h"
#include "calve/ipc/text_check.h"
#include "calve/simd/checks.h"

#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace calve::ipc {
namespace {

using arrow::internal::checked_cast;

/// Checks one node of a layout after another.
class Checker {
 public:
  Checker(const BatchPlan& plan, const BatchLayout& layout) : plan_(plan), layout_(layout) {}

  Status Check(int32_t nodes) {
    for (index_ = 0; index_ < nodes; ++index_) {
      node_ = &plan_.nodes[static_cast<size_t>(index_)];
      view_ = &layout_.node(index_);
      if (Status status = CheckNode(); !status.ok()) [[unlikely]]
        return WithContext(status, plan_.NameOf(index_));
    }
    return Status::OK();
  }

 private:
  const BufferView& buffer(int32_t i) const { return layout_.BufferOf(index_, i); }
  template <typename T>
  const T* values(int32_t i) const {
    return reinterpret_cast<const T*>(buffer(i).data);
  }
  bool IsNull(int64_t i) const { return buffer(0).data != nullptr && !arrow::bit_util::GetBit(buffer(0).data, i); }
  int32_t child(int i) const {
    int32_t at = index_ + 1;
    while (i-- > 0) at = plan_.nodes[static_cast<size_t>(at)].end;
    return at;
  }

  Status CheckNode() {
    if (view_->null_count > 0 && node_->has_validity) {
      ARROW_RETURN_NOT_OK(CheckNullCount());
    }
    if (node_->dictionary >= 0) return CheckKeys();
    switch (node_->layout) {
      case Layout::kBinary32:
        return CheckBinary<int32_t>();
      case Layout::kBinary64:
        return CheckBinary<int64_t>();
      case Layout::kList32:
        return CheckOffsets<int32_t>(layout_.node(child(0)).length);
      case Layout::kList64:
        return CheckOffsets<int64_t>(layout_.node(child(0)).length);
      case Layout::kListView32:
        return CheckListViews<int32_t>();
      case Layout::kListView64:
        return CheckListViews<int64_t>();
      case Layout::kView:
        return CheckViews();
      case Layout::kSparseUnion:
      case Layout::kDenseUnion:
        return CheckUnion();
      case Layout::kRunEndEncoded:
        return CheckRunEnds();
      default:
        return Status::OK();
    }
  }

  Status CheckNullCount() const {
    const int64_t nulls = view_->length - arrow::internal::CountSetBits(buffer(0).data, 0, view_->length);
    if (nulls == view_->null_count) return Status::OK();
    return Invalid("null count {}, its validity bitmap has {}", view_->null_count, nulls);
  }

  template <typename Offset>
  Status CheckOffsets(int64_t limit) const {
    const auto* offsets = values<Offset>(1);
    // Without values there need be no offset, and one that there is need not lie in what it points to.
    if (view_->length == 0 && (buffer(1).size == 0 || offsets[0] >= 0)) return Status::OK();
    const auto count = static_cast<size_t>(view_->length) + 1;
    if (simd::AreOffsets(offsets, count) && offsets[count - 1] <= limit) [[likely]]
      return Status::OK();
    if (offsets[0] < 0) return Invalid("first offset {} is negative", offsets[0]);
    for (size_t i = 0; i + 1 < count; ++i) {
      if (offsets[i + 1] < offsets[i]) {
        return Invalid("offsets are not monotonic: {} after {} at value {}", offsets[i + 1], offsets[i], i);
      }
    }
    return Invalid("offset {} leaves the {} values or bytes that there are", offsets[count - 1], limit);
  }

  template <typename Offset>
  Status CheckBinary() const {
    ARROW_RETURN_NOT_OK(CheckOffsets<Offset>(buffer(2).size));
    if (!node_->is_text || view_->length == 0) return Status::OK();
    const auto* offsets = values<Offset>(1);
    if (IsTextThroughout(buffer(2).data, offsets, view_->length)) [[likely]]
      return Status::OK();
    // What lies under nulls need not be text.
    for (int64_t i = 0; i < view_->length; ++i) {
      if (!IsNull(i) && !IsText(buffer(2).data + offsets[i], offsets[i + 1] - offsets[i])) {
        return Invalid("value {} is not UTF-8", i);
      }
    }
    return Status::OK();
  }

  template <typename Offset>
  Status CheckListViews() const {
    const auto *offsets = values<Offset>(1), *sizes = values<Offset>(2);
    const int64_t limit = layout_.node(child(0)).length;
    for (int64_t i = 0; i < view_->length; ++i) {
      if (offsets[i] < 0 || sizes[i] < 0 || offsets[i] > limit || sizes[i] > limit - offsets[i]) {
        return Invalid("list {} of {} values from {} on leaves the {} that there are", i, sizes[i], offsets[i], limit);
      }
    }
    return Status::OK();
  }

  Status CheckViews() const {
    for (int64_t i = 0; i < view_->length; ++i) {
      if (IsNull(i)) continue;
      if (Status status = CheckView(buffer(1).data + 16 * i); !status.ok()) [[unlikely]] {
        return WithContext(status, fmt::format("value {}", i));
      }
    }
    return Status::OK();
  }

  /// view = size(i32) and either 12 bytes, padded with zeros, or prefix(4 bytes) buffer(i32) offset(i32)
  Status CheckView(const uint8_t* view) const {
    constexpr int32_t kMostInline = 12;
    std::array<int32_t, 4> words;
    std::memcpy(words.data(), view, 16);
    const int32_t size = words[0];
    if (size < 0) return Invalid("view of {} bytes", size);
    const uint8_t* text = view + 4;
    if (size <= kMostInline) {
      for (int32_t i = size; i < kMostInline; ++i) {
        if (text[i] != 0) return Invalid("view of {} bytes is not padded with zeros", size);
      }
    } else {
      const int32_t number = words[2], offset = words[3];
      if (number < 0 || number >= view_->variadic_count) {
        return Invalid("view into buffer {} of {}", number, view_->variadic_count);
      }
      const BufferView& characters = buffer(2 + number);
      if (offset < 0 || offset > characters.size || size > characters.size - offset) {
        return Invalid("view of {} bytes from {} on leaves a buffer of {}", size, offset, characters.size);
      }
      text = characters.data + offset;
      if (std::memcmp(text, view + 4, 4) != 0) return Invalid("view begins unlike what it points to");
    }
    if (node_->is_text && !IsText(text, size)) return Invalid("not UTF-8");
    return Status::OK();
  }

  Status CheckUnion() const {
    const auto& type = checked_cast<const arrow::UnionType&>(StorageOf(*node_->type));
    const auto* codes = values<int8_t>(1);
    const auto* offsets = node_->layout == Layout::kDenseUnion ? values<int32_t>(2) : nullptr;
    std::array<int64_t, 128> last{};
    for (int64_t i = 0; i < view_->length; ++i) {
      const int which = codes[i] < 0 ? -1 : type.child_ids()[static_cast<size_t>(codes[i])];
      if (which < 0) return Invalid("value {} is of type id {}, which the union has not", i, codes[i]);
      if (offsets == nullptr) continue;
      const int64_t length = layout_.node(child(which)).length;
      auto& before = last[static_cast<size_t>(which)];
      if (offsets[i] < before || offsets[i] >= length) {
        return Invalid("value {} at {} of a child of {} values, after {}", i, offsets[i], length, before);
      }
      before = offsets[i];
    }
    return Status::OK();
  }

  Status CheckRunEnds() const {
    const int32_t ends = child(0);
    switch (plan_.nodes[static_cast<size_t>(ends)].byte_width) {
      case 2:
        return CheckRunEndsOf<int16_t>(ends);
      case 4:
        return CheckRunEndsOf<int32_t>(ends);
      default:
        return CheckRunEndsOf<int64_t>(ends);
    }
  }

  template <typename T>
  Status CheckRunEndsOf(int32_t ends) const {
    const auto* run_ends = reinterpret_cast<const T*>(layout_.BufferOf(ends, 1).data);
    int64_t before = 0;
    for (int64_t i = 0; i < layout_.node(ends).length; ++i) {
      if (run_ends[i] <= before) return Invalid("run {} ends at {}, the one before at {}", i, run_ends[i], before);
      before = run_ends[i];
    }
    if (before >= view_->length) return Status::OK();
    return Invalid("{} values, the last run ends at {}", view_->length, before);
  }

  Status CheckKeys() const {
    const int64_t entries = layout_.node(plan_.dictionaries[static_cast<size_t>(node_->dictionary)].root).length;
    switch (node_->byte_width) {
      case 1:
        return node_->is_signed ? CheckKeysOf<int8_t>(entries) : CheckKeysOf<uint8_t>(entries);
      case 2:
        return node_->is_signed ? CheckKeysOf<int16_t>(entries) : CheckKeysOf<uint16_t>(entries);
      case 4:
        return node_->is_signed ? CheckKeysOf<int32_t>(entries) : CheckKeysOf<uint32_t>(entries);
      default:
        return node_->is_signed ? CheckKeysOf<int64_t>(entries) : CheckKeysOf<uint64_t>(entries);
    }
  }

  /// Negative keys are large ones.
  template <typename Key>
  Status CheckKeysOf(int64_t entries) const {
    using Bits = std::make_unsigned_t<Key>;
    const auto* keys = values<Bits>(1);
    const auto limit = static_cast<uint64_t>(std::min<int64_t>(
        entries, std::is_signed_v<Key> && sizeof(Key) < 8 ? int64_t{1} << (8 * sizeof(Key) - 1) : INT64_MAX));
    if constexpr (sizeof(Key) < 8) {
      if (view_->length == 0 || simd::MaxOf(keys, static_cast<size_t>(view_->length)) < limit) [[likely]] {
        return Status::OK();
      }
    }
    for (int64_t i = 0; i < view_->length; ++i) {
      if (keys[i] >= limit && !IsNull(i)) {
        return Invalid("dictionary key {} of value {} is out of range (dictionary has {} values)",
                       static_cast<int64_t>(static_cast<Key>(keys[i])), i, entries);
      }
    }
    return Status::OK();
  }

  const BatchPlan& plan_;
  const BatchLayout& layout_;
  int32_t index_ = 0;
  const PlanNode* node_ = nullptr;
  const NodeView* view_ = nullptr;
};

}  // namespace

Status CheckLayout(const BatchPlan& plan, const BatchLayout& layout, int32_t nodes) {
  return Checker(plan, layout).Check(nodes);
}

}  // namespace calve::ipc
