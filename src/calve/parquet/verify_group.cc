#include "calve/parquet/verify_group.h"

#include "calve/parquet/value_order.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/parquet_reader.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>

namespace calve::parquet {
namespace {

int64_t StartOf(const ColumnMetadata& column) {
  const int64_t dictionary = column.dictionary_page_offset.value_or(0);
  return dictionary > 0 && dictionary < column.data_page_offset ? dictionary : column.data_page_offset;
}

/// A sorting column as Arrow has it, and how its values compare.
struct SortKey {
  const SortingColumn* said = nullptr;
  const ValueOrder* order = nullptr;
};

/// The bytes of a value as PLAIN has them, apart from the byte order of decimals; none: a null.
std::optional<std::string_view> ValueOf(const arrow::Array& array, int64_t row, uint8_t* scratch) {
  if (array.IsNull(row)) return std::nullopt;
  const arrow::ArrayData& data = *array.data();
  const int64_t at = data.offset + row;
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      *scratch = static_cast<const arrow::BooleanArray&>(array).Value(row) ? 1 : 0;
      return std::string_view(reinterpret_cast<const char*>(scratch), 1);
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return static_cast<const arrow::BinaryArray&>(array).GetView(row);
    default: {
      const auto width = static_cast<const arrow::FixedWidthType&>(*array.type()).bit_width() / 8;
      return std::string_view(reinterpret_cast<const char*>(data.buffers[1]->data()) + at * width,
                              static_cast<size_t>(width));
    }
  }
}

/// Whether the Arrow type that a column is read as has the bytes of the file's.
bool KeepsBytes(const LeafColumn& leaf, const arrow::DataType& type) {
  using arrow::Type;
  switch (type.id()) {
    case Type::BOOL:
    case Type::STRING:
    case Type::BINARY:
      return true;
    case Type::INT32:
    case Type::UINT32:
    case Type::INT64:
    case Type::UINT64:
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::DATE32:
    case Type::TIMESTAMP:
    case Type::TIME32:
    case Type::TIME64:
      return static_cast<const arrow::FixedWidthType&>(type).bit_width() ==
             (*leaf.element.type == PhysicalType::kInt32 || *leaf.element.type == PhysicalType::kFloat ? 32 : 64);
    case Type::FIXED_SIZE_BINARY:
      return true;
    default:
      return false;
  }
}

/// Below 0 when `a` comes before `b`. NaNs are beyond all numbers.
int CompareSlots(const SortKey& key, const arrow::Array& a, int64_t i, const arrow::Array& b, int64_t j) {
  uint8_t scratch_a = 0, scratch_b = 0;
  const auto x = ValueOf(a, i, &scratch_a), y = ValueOf(b, j, &scratch_b);
  if (!x || !y) {
    if (!x && !y) return 0;
    const int null_first = key.said->nulls_first ? -1 : 1;
    return !x ? null_first : -null_first;
  }
  const bool nan_x = key.order->IsNan(*x), nan_y = key.order->IsNan(*y);
  const int comparison =
      nan_x || nan_y ? static_cast<int>(nan_x) - static_cast<int>(nan_y) : key.order->Compare(*x, *y);
  return key.said->descending ? -comparison : comparison;
}

int CompareRows(const std::vector<SortKey>& keys, const arrow::RecordBatch& a, int64_t i, const arrow::RecordBatch& b,
                int64_t j, const std::vector<int>& fields) {
  for (size_t k = 0; k < keys.size(); ++k) {
    const int comparison = CompareSlots(keys[k], *a.column(fields[k]), i, *b.column(fields[k]), j);
    if (comparison != 0) return comparison;
  }
  return 0;
}

}  // namespace

void VerifyGroup(const Footer& footer, const RowGroup& group, int row_group, VerifyReport* report) {
  int64_t compressed = 0, uncompressed = 0, first = -1;
  bool known = true;
  for (int leaf = 0; leaf < footer.num_columns(); ++leaf) {
    const auto chunk = footer.Chunk(row_group, leaf);
    known = known && chunk.ok() && chunk->metadata.has_value();
    if (!known) break;
    compressed += chunk->metadata->total_compressed_size;
    uncompressed += chunk->metadata->total_uncompressed_size;
    if (leaf == 0) first = StartOf(*chunk->metadata);
  }
  if (known) {
    report->Compare("row_group.total_byte_size", group.total_byte_size, uncompressed);
    if (group.total_compressed_size) {
      report->Compare("row_group.total_compressed_size", *group.total_compressed_size, compressed);
    }
    if (group.file_offset && *group.file_offset != 0 && first >= 0) {
      report->Compare("row_group.file_offset", *group.file_offset, first);
    }
  }
  if (group.ordinal) report->Compare("row_group.ordinal", int64_t{*group.ordinal}, int64_t{row_group});
  for (const SortingColumn& column : group.sorting_columns) {
    if (column.column_idx >= 0 && column.column_idx < footer.num_columns()) continue;
    report->Add("row_group.sorting_columns", fmt::format("column {}", column.column_idx),
                fmt::format("{} columns", footer.num_columns()));
  }
}

Status VerifySorting(const std::shared_ptr<arrow::io::RandomAccessFile>& file, const Footer& footer,
                     const RowGroup& group, int row_group, const ParquetVerifyOptions& options, const Context& context,
                     VerifyReport* report) {
  if (group.sorting_columns.empty()) return Status::OK();
  ParquetReadOptions read;
  read.decryption = options.decryption;
  read.use_arrow_schema = false;
  read.strings = StringOutput::kUtf8;
  const auto reader = ParquetReader::Open(file, "the file", read, context);
  if (!reader.ok()) return Status::OK();
  std::vector<ValueOrder> orders;
  std::vector<int> leaves;
  std::vector<SortKey> keys;
  const FileSchema& schema = (*reader)->file_schema();
  for (const SortingColumn& column : group.sorting_columns) {
    if (column.column_idx < 0 || column.column_idx >= footer.num_columns()) return Status::OK();
    const LeafColumn& leaf = schema.leaves[static_cast<size_t>(column.column_idx)];
    orders.emplace_back(leaf.element);
    leaves.push_back(column.column_idx);
    if (leaf.path.size() != 1 || leaf.max_repetition_level > 0 || !orders.back().is_defined() ||
        leaf.decoded_type == nullptr || !KeepsBytes(leaf, *leaf.decoded_type)) {
      report->NotChecked(
          fmt::format("the sorting by '{}', a column of a kind that is not compared", leaf.dotted_path()));
      return Status::OK();
    }
  }
  for (size_t i = 0; i < orders.size(); ++i) keys.push_back({&group.sorting_columns[i], &orders[i]});
  std::vector<int> sorted = leaves, fields;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const int leaf : leaves) {
    fields.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), leaf) - sorted.begin()));
  }
  const auto batches = (*reader)->Read(sorted, {row_group});
  std::shared_ptr<arrow::RecordBatch> last;
  for (int64_t row = 0; batches.ok();) {
    ARROW_RETURN_NOT_OK(CheckStop(context));
    const auto batch = (*batches)->Next();
    if (!batch.ok() || *batch == nullptr) break;
    const auto& rows = **batch;
    for (int64_t i = 0; i < rows.num_rows(); ++i, ++row) {
      if (row == 0) continue;
      const auto& before = i == 0 ? *last : rows;
      if (CompareRows(keys, before, i == 0 ? before.num_rows() - 1 : i - 1, rows, i, fields) <= 0) continue;
      report->Add("row_group.sorting_columns", "sorted rows",
                  fmt::format("row {} belongs before row {}", row, row - 1));
      return Status::OK();
    }
    if (rows.num_rows() > 0) last = *batch;
  }
  return Status::OK();
}

}  // namespace calve::parquet
