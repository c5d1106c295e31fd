#pragma once

#include "calve/shuffle.h"
#include "comet_data.h"

#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace calve::testing {

inline std::shared_ptr<arrow::Table> ReadAll(const arrow::Result<std::shared_ptr<arrow::RecordBatchReader>>& reader) {
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return nullptr;
  auto table = (*reader)->ToTable();
  EXPECT_TRUE(table.ok()) << table.status();
  if (!table.ok()) return nullptr;
  EXPECT_TRUE((*table)->ValidateFull().ok()) << (*table)->ValidateFull();
  return *table;
}

inline std::vector<int64_t> Ids(const arrow::Table& table) {
  std::vector<int64_t> ids;
  for (const auto& chunk : table.GetColumnByName("id")->chunks()) {
    const auto& values = static_cast<const arrow::Int64Array&>(*chunk);
    ids.insert(ids.end(), values.raw_values(), values.raw_values() + values.length());
  }
  return ids;
}

inline arrow::Result<ShuffleTaskResult> WriteTask(const std::string& folder, int64_t task,
                                                  const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                                                  PartitionerResult partitioner,
                                                  const ShuffleWriteOptions& options = {}) {
  ARROW_ASSIGN_OR_RAISE(auto routes, std::move(partitioner));
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        ShuffleTaskWriter::Make(folder, task, batches[0]->schema(), std::move(routes), options));
  for (const auto& batch : batches) ARROW_RETURN_NOT_OK(writer->Write(batch));
  return writer->Commit();
}

/// `batch` in parts of `rows` rows, each with buffers of its own.
inline std::vector<std::shared_ptr<arrow::RecordBatch>> Cut(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                            int64_t rows) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> parts;
  for (int64_t at = 0; at < batch->num_rows(); at += rows) {
    arrow::ArrayVector columns;
    for (const auto& column : batch->columns()) {
      columns.push_back(arrow::Concatenate({column->Slice(at, rows)}).ValueOrDie());
    }
    parts.push_back(arrow::RecordBatch::Make(batch->schema(), columns[0]->length(), columns));
  }
  return parts;
}

/// Rows whose columns all follow from their id.
inline std::shared_ptr<arrow::RecordBatch> Numbered(int64_t first, int64_t count) {
  arrow::Int64Builder ids, keys;
  arrow::StringBuilder texts;
  arrow::DoubleBuilder numbers;
  for (int64_t id = first; id < first + count; ++id) {
    EXPECT_TRUE(ids.Append(id).ok() && keys.Append(id * 7919 % 100003).ok());
    EXPECT_TRUE((id % 11 == 0 ? texts.AppendNull() : texts.Append("row " + std::to_string(id * id))).ok());
    EXPECT_TRUE(numbers.Append(static_cast<double>(id) / 8).ok());
  }
  const auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("key", arrow::int64()),
                                     arrow::field("text", arrow::utf8()), arrow::field("number", arrow::float64())});
  return arrow::RecordBatch::Make(schema, count,
                                  {ids.Finish().ValueOrDie(), keys.Finish().ValueOrDie(), texts.Finish().ValueOrDie(),
                                   numbers.Finish().ValueOrDie()});
}

/// Checks that every row of every partition belongs there, is what Numbered made, and that rows of a task are in order.
/// Returns the number of rows.
inline int64_t CheckNumbered(const ShuffleReader& reader, int64_t rows_a_task, const std::vector<int32_t>& partitions) {
  int64_t rows = 0;
  auto partitioner = MakeHashPartitioner(reader.schema(), {"key"}, reader.partitions()).ValueOrDie();
  for (const int32_t partition : partitions) {
    auto batches = reader.ReadPartition(partition).ValueOrDie();
    int64_t before = -1;
    while (true) {
      auto batch = batches->Next();
      EXPECT_TRUE(batch.ok()) << batch.status();
      if (!batch.ok() || *batch == nullptr) break;
      std::vector<uint32_t> assigned(static_cast<size_t>((*batch)->num_rows()));
      EXPECT_TRUE(partitioner->Assign(**batch, assigned).ok());
      EXPECT_TRUE(std::all_of(assigned.begin(), assigned.end(),
                              [&](uint32_t p) { return p == static_cast<uint32_t>(partition); }));
      const auto& ids = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
      for (int64_t i = 0; i < ids.length(); ++i) {
        const int64_t id = ids.Value(i);
        const bool in_order = id > before;
        const auto expected = static_cast<const arrow::StringArray&>(*(*batch)->column(2)).GetView(i);
        if (!in_order || static_cast<const arrow::Int64Array&>(*(*batch)->column(1)).Value(i) != id * 7919 % 100003 ||
            (*batch)->column(2)->IsNull(i) != (id % 11 == 0) ||
            (id % 11 != 0 && expected != "row " + std::to_string(id * id))) {
          ADD_FAILURE() << "partition " << partition << ": row " << id << " after " << before;
          return rows;
        }
        before = id;
      }
      rows += ids.length();
    }
  }
  return rows;
}

inline std::vector<int32_t> Every(int32_t partitions) {
  std::vector<int32_t> all;
  for (int32_t p = 0; p < partitions; ++p) all.push_back(p);
  return all;
}

inline size_t OpenFiles() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

}  // namespace calve::testing
