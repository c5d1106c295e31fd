#pragma once

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_nested.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table_builder.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace calve::iceberg {

/// Builds a record batch row by row, each row from left to right. Errors are kept and come out of Finish().
class RowBuilder {
 public:
  static arrow::Result<RowBuilder> Make(std::shared_ptr<arrow::Schema> schema) {
    ARROW_ASSIGN_OR_RAISE(auto builder, arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool()));
    return RowBuilder(std::move(builder));
  }

  RowBuilder& Text(const std::string& value) { return Keep(Next<arrow::StringBuilder>()->Append(value)); }
  RowBuilder& Int(int32_t value) { return Keep(Next<arrow::Int32Builder>()->Append(value)); }
  RowBuilder& Long(int64_t value) { return Keep(Next<arrow::Int64Builder>()->Append(value)); }
  RowBuilder& Time(int64_t value) { return Keep(Next<arrow::TimestampBuilder>()->Append(value)); }
  RowBuilder& TextOrNull(const std::string& value) { return value.empty() ? Null() : Text(value); }
  RowBuilder& Null() { return Keep(Next<arrow::ArrayBuilder>()->AppendNull()); }
  RowBuilder& Long(const std::optional<int64_t>& value) { return value ? Long(*value) : Null(); }

  /// A map of text to text or long; an empty one is null.
  template <typename Item>
  RowBuilder& Map(const std::map<std::string, Item>& values) {
    if (values.empty()) return Null();
    auto* builder = Next<arrow::MapBuilder>();
    Keep(builder->Append());
    for (const auto& [key, item] : values) {
      Keep(static_cast<arrow::StringBuilder*>(builder->key_builder())->Append(key));
      if constexpr (std::is_same_v<Item, std::string>) {
        Keep(static_cast<arrow::StringBuilder*>(builder->item_builder())->Append(item));
      } else {
        Keep(static_cast<arrow::Int64Builder*>(builder->item_builder())->Append(item));
      }
    }
    return *this;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish() {
    ARROW_RETURN_NOT_OK(status_);
    return builder_->Flush();
  }

 private:
  explicit RowBuilder(std::unique_ptr<arrow::RecordBatchBuilder> builder) : builder_(std::move(builder)) {}

  template <typename T>
  T* Next() {
    auto* field = static_cast<T*>(builder_->GetField(column_));
    column_ = (column_ + 1) % builder_->num_fields();
    return field;
  }

  RowBuilder& Keep(arrow::Status status) {
    if (status_.ok()) status_ = std::move(status);
    return *this;
  }

  std::unique_ptr<arrow::RecordBatchBuilder> builder_;
  int column_ = 0;
  arrow::Status status_;
};

}  // namespace calve::iceberg
