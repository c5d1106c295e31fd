// Every block that Comet wrote, against the rows that went in.
#include "shuffle_testing.h"

#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>

#include <map>

namespace calve {
namespace {

using testing::CanonicalText;

/// The rows of both input files, by id: the text of each column.
using Rows = std::vector<std::map<std::string, std::string>>;

void AddRows(const std::string& path, Rows* rows, std::vector<std::string>* names) {
  auto reader = *::parquet::arrow::OpenFile(*arrow::io::ReadableFile::Open(path), arrow::default_memory_pool());
  const auto table = *(*reader->ReadTable())->CombineChunks();
  const auto id = std::static_pointer_cast<arrow::Int64Array>(table->GetColumnByName("id")->chunk(0));
  *names = table->ColumnNames();
  for (int64_t i = 0; i < table->num_rows(); ++i) {
    const auto at = static_cast<size_t>(id->Value(i));
    if (rows->size() <= at) rows->resize(at + 1);
    for (int c = 0; c < table->num_columns(); ++c) {
      (*rows)[at][table->field(c)->name()] = CanonicalText(*table->column(c)->chunk(0), i);
    }
  }
}

struct Input {
  Rows rows;
  std::vector<std::string> names;
};

Input ReadInput(const std::string& shared, const nlohmann::json& variant) {
  Input input;
  for (const auto& file : variant["input"]) {
    AddRows(shared + "/comet/" + file.get<std::string>(), &input.rows, &input.names);
  }
  return input;
}

/// Comet's JVM path calls the columns c0, c1 and so on.
std::string NameIn(const Input& input, const std::string& name, int position) {
  return std::find(input.names.begin(), input.names.end(), name) != input.names.end()
             ? name
             : input.names[static_cast<size_t>(position)];
}

/// Checks a batch of partition `partition`, and counts its ids.
void CheckBatch(const arrow::RecordBatch& batch, const Input& input, const nlohmann::json& partitions, size_t partition,
                std::map<int64_t, int>* seen) {
  ASSERT_TRUE(batch.ValidateFull().ok()) << batch.ValidateFull();
  const auto id = std::static_pointer_cast<arrow::Int64Array>(batch.column(0));
  for (int64_t i = 0; i < batch.num_rows(); ++i) {
    ++(*seen)[id->Value(i)];
    ASSERT_EQ(partitions[static_cast<size_t>(id->Value(i))].get<size_t>(), partition);
  }
  for (int c = 0; c < batch.num_columns(); ++c) {
    const std::string name = NameIn(input, batch.schema()->field(c)->name(), c);
    const auto column = batch.column(c);
    for (int64_t i = 0; i < batch.num_rows(); ++i) {
      ASSERT_EQ(CanonicalText(*column, i), input.rows[static_cast<size_t>(id->Value(i))].at(name))
          << name << " of id " << id->Value(i);
    }
  }
}

void CheckVariant(const std::string& shared, const nlohmann::json& variant, const Input& input) {
  const std::string folder = shared + "/comet/" + variant["variant"].get<std::string>() + "/";
  SCOPED_TRACE(folder);
  const auto partitions = nlohmann::json::parse(testing::FileBytes(folder + "partition_by_id.json"));
  std::map<int64_t, int> seen;
  for (const auto& file : variant["files"]) {
    const auto index = testing::SparkIndex(folder + file["index"].get<std::string>());
    ASSERT_EQ(index.size(), variant["num_partitions"].get<size_t>() + 1);
    for (size_t p = 0; p + 1 < index.size(); ++p) {
      auto reader =
          ShuffleBlockReader::Open(folder + file["data"].get<std::string>(), index[p], index[p + 1] - index[p]);
      ASSERT_TRUE(reader.ok()) << reader.status();
      while (true) {
        const auto batch = (*reader)->Next();
        ASSERT_TRUE(batch.ok()) << batch.status();
        if (*batch == nullptr) break;
        CheckBatch(**batch, input, partitions, p, &seen);
      }
      const auto& told = file["blocks_and_rows_per_partition"][p];
      EXPECT_EQ((*reader)->metrics().blocks, told[0].get<int64_t>());
      EXPECT_EQ((*reader)->metrics().rows, told[1].get<int64_t>());
    }
  }
  for (size_t id = 0; id < partitions.size(); ++id) {
    ASSERT_EQ(seen[static_cast<int64_t>(id)], partitions[id].get<int>() < 0 ? 0 : 1) << "id " << id;
  }
}

TEST(CometBlocks, EveryBlockDecodesToTheInputsRows) {
  CALVE_SHARED_DATA(shared);
  std::map<std::string, Input> inputs;
  for (const auto& variant : testing::CometVariants(shared)) {
    const std::string name = variant["input"][0];
    if (!inputs.contains(name)) inputs[name] = ReadInput(shared, variant);
    CheckVariant(shared, variant, inputs[name]);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace calve
