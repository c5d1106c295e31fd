#pragma once

#include "calve/parquet/metadata.h"
#include "calve/parquet/thrift_skimmer.h"

#include <arrow/buffer.h>

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace calve::parquet {

/// Where the structures of a footer stand in its bytes, found in one pass that makes nothing of them. Immutable.
///
/// A footer that is indexed is sound: the pass refuses what ParseFileMetadata, FileSchema::Make and CheckFileMetadata
/// refuse, so that every part of it can be parsed later.
class FooterIndex {
 public:
  using Text = ThriftSkimmer::Text;

  /// An element of the schema; the first is the root.
  struct Element {
    uint32_t begin = 0;  ///< of its SchemaElement
    Text name;
    uint32_t end = 0;         ///< the element behind its subtree
    uint32_t first_leaf = 0;  ///< how many leaves stand before it
    int32_t field_id = 0;
    bool has_field_id = false;
  };
  struct RowGroup {
    int64_t num_rows = 0;
    int64_t first_row = 0;  ///< rows of the row groups before it
  };

  /// Invalid names what is wrong with the bytes, and where. `begin`: where they begin in the file, for the message.
  static Result<std::shared_ptr<const FooterIndex>> Make(std::shared_ptr<arrow::Buffer> bytes, int64_t begin = 0);

  const std::shared_ptr<arrow::Buffer>& buffer() const { return bytes_; }
  std::span<const uint8_t> bytes() const { return {bytes_->data(), static_cast<size_t>(bytes_->size())}; }
  std::string_view text(Text text) const {
    return {reinterpret_cast<const char*>(bytes_->data()) + text.begin, text.size};
  }
  const std::vector<Element>& elements() const { return elements_; }
  /// The elements of the top-level fields.
  const std::vector<uint32_t>& fields() const { return fields_; }
  /// The number among fields() of the field that holds element `element`.
  size_t FieldOfElement(uint32_t element) const;
  size_t FieldOfLeaf(int leaf) const;
  const std::vector<RowGroup>& row_groups() const { return row_groups_; }
  int num_columns() const { return static_cast<int>(num_leaves_); }
  int64_t num_rows() const { return num_rows_; }
  std::string_view created_by() const { return text(created_by_); }
  bool type_defined_order(int leaf) const {
    return static_cast<size_t>(leaf) < type_defined_order_.size() && type_defined_order_[leaf];
  }
  bool has_column_orders() const { return !type_defined_order_.empty(); }
  bool encrypted() const { return encrypted_; }
  /// The bytes from the start of a ColumnChunk on.
  std::span<const uint8_t> column_chunk(int row_group, int leaf) const {
    return bytes().subspan(chunks_[static_cast<size_t>(row_group) * num_leaves_ + static_cast<size_t>(leaf)]);
  }
  /// The value of the first pair with this key in the file's key-value metadata, empty when there is none.
  std::string_view key_value(std::string_view key) const;
  const std::vector<std::pair<Text, Text>>& key_values() const { return key_values_; }
  /// What the index and the footer's bytes take in memory.
  int64_t memory_bytes() const;

 private:
  friend class FooterIndexer;
  FooterIndex() = default;

  std::shared_ptr<arrow::Buffer> bytes_;
  std::vector<Element> elements_;
  std::vector<uint32_t> fields_;
  std::vector<RowGroup> row_groups_;
  std::vector<uint32_t> chunks_;  ///< where each ColumnChunk begins, row group by row group
  std::vector<std::pair<Text, Text>> key_values_;
  std::vector<bool> type_defined_order_;
  Text created_by_;
  size_t num_leaves_ = 0;
  int64_t num_rows_ = 0;  ///< of all row groups
  bool encrypted_ = false;
};

}  // namespace calve::parquet
