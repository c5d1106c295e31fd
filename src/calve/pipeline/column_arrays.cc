#include "calve/pipeline/column_projection.h"

#include "calve/base/status.h"
#include "calve/pipeline/constant_array.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/compute/cast.h>
#include <arrow/record_batch.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/checked_cast.h>

// The arrays of a batch, made as the projection says.

namespace calve::pipeline {

using arrow::internal::checked_cast;

/// Makes the arrays of one batch.
struct ColumnProjection::Maker {
  const FileValues& values;
  const ProjectionRules& rules;
  const std::vector<RowRange>& rows;
  arrow::MemoryPool* pool;

  using ArrayPtr = std::shared_ptr<arrow::Array>;

  /// `source`: the values read for the node, null when it reads none.
  Result<ArrayPtr> Make(const Node& node, const ArrayPtr& source, int64_t length) const {
    switch (node.action) {
      case Action::kRead:
        return Read(node, source);
      case Action::kConstant:
        return WithContext(ConstantArray(node.constant, node.target.field->type(), length, pool), Where(node));
      case Action::kFilePath:
        return ConstantArray(values.path, node.target.field->type(), length, pool);
      case Action::kRowPosition:
        return Positions(nullptr, 0, length);
      case Action::kRowId:
        if (!values.first_row_id) return StoredOrNull(source, length);
        return Positions(source, *values.first_row_id, length);
      case Action::kLastUpdatedSequenceNumber:
        if (!values.first_row_id) return StoredOrNull(source, length);
        return StoredOr(source, length, [this](int64_t) { return values.sequence_number; });
    }
    return Invalid("unknown action");
  }

  std::string Where(const Node& node) const { return fmt::format("file {}: column '{}'", values.path, node.path); }

  Result<ArrayPtr> StoredOrNull(const ArrayPtr& source, int64_t length) const {
    if (source == nullptr) return arrow::MakeArrayOfNull(arrow::int64(), length, pool);
    return CastExactly(source, arrow::int64(), pool);
  }

  /// The stored values, and the position of row i in the file, `offset` added, where row i has none.
  Result<ArrayPtr> Positions(const ArrayPtr& source, int64_t offset, int64_t length) const {
    auto range = rows.begin();
    int64_t passed = 0;  // rows of the ranges before
    return StoredOr(source, length, [&](int64_t i) {
      for (; i - passed >= range->count(); ++range) passed += range->count();
      return offset + range->begin + i - passed;
    });
  }

  /// The stored values, and `inherited(i)` where row i has none; asked in the order of rows.
  template <typename Inherited>
  Result<ArrayPtr> StoredOr(const ArrayPtr& source, int64_t length, Inherited&& inherited) const {
    ArrayPtr stored;
    if (source != nullptr) {
      ARROW_ASSIGN_OR_RAISE(stored, CastExactly(source, arrow::int64(), pool));
      if (stored->null_count() == 0) return stored;
    }
    arrow::Int64Builder builder(pool);
    ARROW_RETURN_NOT_OK(builder.Reserve(length));
    for (int64_t i = 0; i < length; ++i) {
      const bool has_value = stored != nullptr && stored->IsValid(i);
      builder.UnsafeAppend(has_value ? checked_cast<const arrow::Int64Array&>(*stored).Value(i) : inherited(i));
    }
    return builder.Finish();
  }

  Result<ArrayPtr> Read(const Node& node, const ArrayPtr& source) const {
    const auto& type = node.target.field->type();
    if (source->type_id() == arrow::Type::STRUCT) return ReadStruct(node, source);
    if (type->id() == arrow::Type::MAP) return ReadMap(node, source);
    if (type->num_fields() > 0 && type->id() != arrow::Type::EXTENSION) return ReadList(node, source);
    return WithContext(CastExactly(source, type, pool), Where(node));
  }

  Result<ArrayPtr> ReadStruct(const Node& node, const ArrayPtr& source) const {
    const auto& array = checked_cast<const arrow::StructArray&>(*source);
    arrow::ArrayDataVector children;
    for (const Node& child_node : node.children) {
      ArrayPtr child = child_node.child >= 0 ? array.field(child_node.child) : nullptr;
      ARROW_ASSIGN_OR_RAISE(child, Make(child_node, child, array.length()));
      ARROW_RETURN_NOT_OK(CheckRequired(child_node, *child, source.get()));
      children.push_back(child->data());
    }
    std::shared_ptr<arrow::Buffer> validity = array.null_bitmap();
    if (validity != nullptr && array.offset() != 0) {
      ARROW_ASSIGN_OR_RAISE(validity,
                            arrow::internal::CopyBitmap(pool, validity->data(), array.offset(), array.length()));
    }
    return arrow::MakeArray(arrow::ArrayData::Make(node.target.field->type(), array.length(), {validity},
                                                   std::move(children), array.null_count(), 0));
  }

  Result<ArrayPtr> ReadList(const Node& node, ArrayPtr source) const {
    const auto& type = node.target.field->type();
    if (source->type_id() != type->id()) {
      arrow::compute::ExecContext context(pool);
      const auto& element = source->type()->field(0);
      const auto plain = type->id() == arrow::Type::LARGE_LIST ? arrow::large_list(element) : arrow::list(element);
      ARROW_ASSIGN_OR_RAISE(source,
                            arrow::compute::Cast(*source, plain, arrow::compute::CastOptions::Safe(), &context));
    }
    auto data = source->data()->Copy();
    ArrayPtr elements = arrow::MakeArray(data->child_data[0]);
    ARROW_ASSIGN_OR_RAISE(elements, Make(node.children[0], elements, elements->length()));
    ARROW_RETURN_NOT_OK(CheckRequired(node.children[0], *elements, nullptr));
    data->type = type;
    data->child_data = {elements->data()};
    return arrow::MakeArray(std::move(data));
  }

  Result<ArrayPtr> ReadMap(const Node& node, const ArrayPtr& source) const {
    const auto& type = node.target.field->type();
    auto data = source->data()->Copy();
    const ArrayPtr entries = arrow::MakeArray(data->child_data[0]);
    const auto& structs = checked_cast<const arrow::StructArray&>(*entries);
    arrow::ArrayDataVector children;
    for (const Node& child_node : node.children) {
      ArrayPtr child = child_node.child >= 0 ? structs.field(child_node.child) : nullptr;
      ARROW_ASSIGN_OR_RAISE(child, Make(child_node, child, structs.length()));
      ARROW_RETURN_NOT_OK(CheckRequired(child_node, *child, nullptr));
      children.push_back(child->data());
    }
    data->type = type;
    data->child_data = {
        arrow::ArrayData::Make(type->field(0)->type(), structs.length(), {nullptr}, std::move(children), 0, 0)};
    return arrow::MakeArray(std::move(data));
  }

  /// A null in a required field is allowed only where `parent` is null itself.
  Status CheckRequired(const Node& node, const arrow::Array& array, const arrow::Array* parent) const {
    if (!rules.check_required || node.target.field->nullable() || array.null_count() == 0) return Status::OK();
    for (int64_t i = 0; i < array.length(); ++i) {
      if (array.IsValid(i) || (parent != nullptr && parent->IsNull(i))) continue;
      return Invalid("file {}: required column '{}' holds a null", values.path, node.path);
    }
    return Status::OK();
  }
};

Result<std::shared_ptr<arrow::RecordBatch>> ColumnProjection::Apply(const arrow::RecordBatch& batch, int64_t first_row,
                                                                    arrow::MemoryPool* pool) const {
  return Apply(batch, std::vector<RowRange>{{first_row, first_row + batch.num_rows()}}, pool);
}

Result<std::shared_ptr<arrow::RecordBatch>> ColumnProjection::Apply(const arrow::RecordBatch& batch,
                                                                    const std::vector<RowRange>& rows,
                                                                    arrow::MemoryPool* pool) const {
  Maker maker{values_, rules_, rows, pool};
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const Node& node : nodes_) {
    std::shared_ptr<arrow::Array> source;
    if (node.child >= 0) {
      if (node.child >= batch.num_columns()) {
        return Invalid("file {}: {} columns were read where column '{}' stands at {}", values_.path,
                       batch.num_columns(), node.path, node.child);
      }
      source = batch.column(node.child);
    }
    ARROW_ASSIGN_OR_RAISE(auto column, maker.Make(node, source, batch.num_rows()));
    ARROW_RETURN_NOT_OK(maker.CheckRequired(node, *column, nullptr));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(columns));
}

}  // namespace calve::pipeline
