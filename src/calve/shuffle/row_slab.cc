#include "calve/shuffle/row_slab.h"

#include "calve/base/status.h"
#include "calve/shuffle/row_scatter.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>
#include <sys/mman.h>

#include <algorithm>
#include <limits>

namespace calve::shuffle {

namespace {

using arrow::ArrayData;
using ipc::ColumnRows;
using ipc::Sources;

constexpr int64_t kBufferAlignment = 64;

int64_t Padded(int64_t size) { return (size + kBufferAlignment - 1) & ~(kBufferAlignment - 1); }

const arrow::DataType& StorageOf(const arrow::DataType& type) {
  if (type.id() != arrow::Type::EXTENSION) return type;
  return StorageOf(*static_cast<const arrow::ExtensionType&>(type).storage_type());
}

bool IsSmallText(arrow::Type::type id) { return id == arrow::Type::STRING || id == arrow::Type::BINARY; }
bool IsLargeText(arrow::Type::type id) { return id == arrow::Type::LARGE_STRING || id == arrow::Type::LARGE_BINARY; }

int64_t WidthOf(const arrow::DataType& storage) {
  if (storage.id() != arrow::Type::DICTIONARY) return storage.byte_width();
  return static_cast<const arrow::DictionaryType&>(storage).index_type()->byte_width();
}

template <typename Offset>
int64_t TextSize(const ArrayData& data, int64_t first, int64_t count) {
  const auto* offsets = data.GetValues<Offset>(1) + first;
  return Padded((count + 1) * static_cast<int64_t>(sizeof(Offset))) + Padded(offsets[count] - offsets[0]);
}

int64_t SizeOfColumn(const ArrayData& data, int64_t first, int64_t count) {
  if (count == 0) return 0;
  const arrow::DataType& storage = StorageOf(*data.type);
  int64_t size = Padded(arrow::bit_util::BytesForBits(count));  // of validity, which other slices may have
  if (storage.id() == arrow::Type::STRUCT) {
    for (const auto& child : data.child_data) size += SizeOfColumn(*child, data.offset + first, count);
  } else if (IsSmallText(storage.id())) {
    size += TextSize<int32_t>(data, first, count);
  } else if (IsLargeText(storage.id())) {
    size += TextSize<int64_t>(data, first, count);
  } else if (storage.id() == arrow::Type::BOOL) {
    size += Padded(arrow::bit_util::BytesForBits(count));
  } else {
    size += Padded(count * WidthOf(storage));
  }
  return size;
}

/// Arrays that are alive at the same time are equal where all of their memory is the same.
bool SameMemory(const ArrayData& left, const ArrayData& right) {
  if (left.length != right.length || left.offset != right.offset || left.buffers.size() != right.buffers.size()) {
    return false;
  }
  for (size_t i = 0; i < left.buffers.size(); ++i) {
    const auto &a = left.buffers[i], &b = right.buffers[i];
    if ((a == nullptr) != (b == nullptr)) return false;
    if (a != nullptr && (a->data() != b->data() || a->size() != b->size())) return false;
  }
  if ((left.dictionary == nullptr) != (right.dictionary == nullptr)) return false;
  if (left.dictionary != nullptr && !SameMemory(*left.dictionary, *right.dictionary)) return false;
  return std::ranges::equal(left.child_data, right.child_data,
                            [](const auto& a, const auto& b) { return SameMemory(*a, *b); });
}

bool SameDictionaries(const ArrayData& left, const ArrayData& right) {
  if (left.dictionary != right.dictionary && !SameMemory(*left.dictionary, *right.dictionary)) return false;
  for (size_t i = 0; i < left.child_data.size(); ++i) {
    if (!SameDictionaries(*left.child_data[i], *right.child_data[i])) return false;
  }
  return true;
}

/// Memory that will be written all over gets its pages at once, while they stay in the caches: one by one, at a fault
/// each, costs almost twice that. Where the system cannot, it does so.
void PopulatePages(uint8_t* memory, int64_t size) {
#ifdef MADV_POPULATE_WRITE
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = (address + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (address + static_cast<uintptr_t>(size)) & ~(kPage - 1);
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#endif
}

}  // namespace

bool SlabBuilder::Supports(const arrow::DataType& type) {
  const arrow::DataType& storage = StorageOf(type);
  const auto id = storage.id();
  if (id == arrow::Type::STRUCT) {
    return std::ranges::all_of(storage.fields(), [](const auto& field) { return Supports(*field->type()); });
  }
  return arrow::is_fixed_width(id) || id == arrow::Type::DICTIONARY || IsSmallText(id) || IsLargeText(id);
}

bool SlabBuilder::Supports(const arrow::Schema& schema) {
  return schema.num_fields() > 0 &&
         std::ranges::all_of(schema.fields(), [](const auto& field) { return Supports(*field->type()); });
}

int64_t SlabBuilder::SizeOf(const arrow::RecordBatch& batch, int64_t first, int64_t count) {
  int64_t size = 0;
  for (const auto& column : batch.column_data()) size += SizeOfColumn(*column, first, count);
  return size;
}

bool SlabBuilder::FitTogether(const arrow::RecordBatch& left, const arrow::RecordBatch& right) {
  for (size_t i = 0; i < left.column_data().size(); ++i) {
    if (!SameDictionaries(*left.column_data()[i], *right.column_data()[i])) return false;
  }
  return true;
}

Result<std::shared_ptr<arrow::Buffer>> SlabBuilder::Take(int64_t size) {
  if (used_ + size + kSlackBytes > memory_.bytes->size()) return Invalid("a slab of rows is larger than its memory");
  auto buffer = arrow::SliceMutableBuffer(memory_.bytes, used_, size);
  if (memory_.is_fresh) PopulatePages(buffer->mutable_data(), size);
  used_ += Padded(size);
  return buffer;
}

// The bits of all sources are put one after another, and then taken in order. Null: all of them are set.
Result<std::shared_ptr<arrow::Buffer>> SlabBuilder::Bits(Sources sources, size_t buffer, int64_t* set) {
  bits_.assign(static_cast<size_t>(arrow::bit_util::BytesForBits(rows_)), 0xff);
  int64_t at = 0;
  bool any = false;
  for (const ColumnRows& source : sources) {
    const uint8_t* bits = buffer == 0 ? source.Validity() : source.Buffer<uint8_t>(buffer);
    if (bits != nullptr) arrow::internal::CopyBitmap(bits, source.base, source.count, bits_.data(), at);
    any = any || bits != nullptr;
    at += source.count;
  }
  *set = rows_;
  if (!any) return std::shared_ptr<arrow::Buffer>();
  ARROW_ASSIGN_OR_RAISE(auto out, Take(arrow::bit_util::BytesForBits(rows_)));
  *set = TakeBits(bits_.data(), order_.rows, out->mutable_data());
  return out;
}

template <typename Offset>
Status SlabBuilder::AddText(Sources sources, ArrayData* out) {
  ARROW_ASSIGN_OR_RAISE(out->buffers[1], Take((rows_ + 1) * static_cast<int64_t>(sizeof(Offset))));
  auto* offsets = out->buffers[1]->mutable_data_as<Offset>();
  const TextExtent extent = ScatterLengths(sources, order_.positions, offsets);
  if (extent.bytes > std::numeric_limits<Offset>::max()) {
    return Status::CapacityError(fmt::format("{} bytes of one column do not fit a batch", extent.bytes));
  }
  ARROW_ASSIGN_OR_RAISE(out->buffers[2], Take(extent.bytes));
  GatherText<Offset>(sources, order_.rows, extent, out->buffers[2]->mutable_data());
  return Status::OK();
}

Status SlabBuilder::AddChildren(Sources sources, ArrayData* out) {
  const auto& fields = StorageOf(*out->type).fields();
  for (size_t child = 0; child < fields.size(); ++child) {
    std::vector<ColumnRows> children;
    for (const ColumnRows& source : sources) {
      const ArrayData& data = *source.data->child_data[child];
      children.push_back({&data, nullptr, source.count, data.offset + source.base});
    }
    ARROW_ASSIGN_OR_RAISE(auto column, Column(fields[child]->type(), children));
    out->child_data.push_back(std::move(column));
  }
  return Status::OK();
}

Status SlabBuilder::AddValues(const arrow::DataType& storage, Sources sources, ArrayData* out) {
  if (storage.id() == arrow::Type::STRUCT) return AddChildren(sources, out);
  out->buffers.resize(IsSmallText(storage.id()) || IsLargeText(storage.id()) ? 3 : 2);
  if (IsSmallText(storage.id())) return AddText<int32_t>(sources, out);
  if (IsLargeText(storage.id())) return AddText<int64_t>(sources, out);
  if (storage.id() == arrow::Type::BOOL) {
    int64_t set = 0;
    ARROW_ASSIGN_OR_RAISE(out->buffers[1], Bits(sources, 1, &set));
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(out->buffers[1], Take(rows_ * WidthOf(storage)));
  ScatterValues(sources, static_cast<size_t>(WidthOf(storage)), order_.positions, out->buffers[1]->mutable_data());
  if (storage.id() == arrow::Type::DICTIONARY) out->dictionary = sources.front().data->dictionary;
  return Status::OK();
}

Result<std::shared_ptr<ArrayData>> SlabBuilder::Column(const std::shared_ptr<arrow::DataType>& type, Sources sources) {
  auto out = std::make_shared<ArrayData>(type, rows_);
  out->buffers.resize(1);
  int64_t valid = rows_;
  ARROW_ASSIGN_OR_RAISE(out->buffers[0], Bits(sources, 0, &valid));
  out->null_count = rows_ - valid;
  ARROW_RETURN_NOT_OK(AddValues(StorageOf(*type), sources, out.get()));
  return out;
}

Result<std::shared_ptr<arrow::RecordBatch>> SlabBuilder::Build(std::span<const BatchSlice> slices,
                                                               const RowOrder& order, SlabMemory memory) {
  SlabBuilder builder(order, std::move(memory));
  const auto& schema = slices.front().batch->schema();
  std::vector<std::shared_ptr<ArrayData>> columns;
  std::vector<ColumnRows> sources;
  for (int i = 0; i < schema->num_fields(); ++i) {
    sources.clear();
    for (const BatchSlice& slice : slices) {
      const ArrayData& data = *slice.batch->column_data()[static_cast<size_t>(i)];
      sources.push_back({&data, nullptr, slice.count, data.offset + slice.first});
    }
    ARROW_ASSIGN_OR_RAISE(auto column, builder.Column(schema->field(i)->type(), sources));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema, builder.rows_, std::move(columns));
}

}  // namespace calve::shuffle
