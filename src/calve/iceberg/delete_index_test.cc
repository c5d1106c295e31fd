#include "calve/iceberg/delete_index.h"

#include "calve/iceberg/json_members.h"

#include <gtest/gtest.h>

namespace calve::iceberg {
namespace {

constexpr int kFilePathId = 2147483546;

class DeleteIndexTest : public ::testing::Test {
 protected:
  DeleteIndexTest() {
    schema_.fields = {Field{1, "id", true, Primitive(TypeId::kLong)}, Field{2, "s", false, Primitive(TypeId::kString)},
                      Field{3, "f", false, Primitive(TypeId::kFloat)}};
    PartitionSpec by_string;
    by_string.spec_id = 1;
    by_string.fields = {PartitionField{2, 1000, "s", {TransformKind::kIdentity, 0, "identity"}}};
    PartitionSpec dropped;
    dropped.spec_id = 2;
    dropped.fields = {PartitionField{2, 1000, "s", {TransformKind::kVoid, 0, "void"}}};
    metadata_.partition_specs = {PartitionSpec{}, by_string, dropped};
  }

  static DataFile File(const std::string& path, int spec_id = 0, std::vector<Value> partition = {}) {
    DataFile file;
    file.file_path = path;
    file.file_format = "PARQUET";
    file.spec_id = spec_id;
    file.partition = std::move(partition);
    return file;
  }

  static PlannedDelete Delete(FileContent content, DataFile file, int64_t sequence_number) {
    file.content = content;
    if (content == FileContent::kEqualityDeletes) file.equality_ids = {1};
    return {std::make_shared<const DataFile>(std::move(file)), sequence_number};
  }

  static PlannedDelete Vector(const std::string& data_file, int64_t sequence_number) {
    DataFile file = File("dv.puffin");
    file.file_format = "PUFFIN";
    file.referenced_data_file = data_file;
    return Delete(FileContent::kPositionDeletes, file, sequence_number);
  }

  void Add(PlannedDelete deletes) {
    const Status status = index_.Add(std::move(deletes));
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  std::vector<std::string> Find(const DataFile& file, int64_t sequence_number) const {
    std::vector<std::string> paths;
    for (const PlannedDelete& deletes : index_.Find(file, sequence_number)) paths.push_back(deletes.file->file_path);
    return paths;
  }

  using Paths = std::vector<std::string>;
  Schema schema_;
  TableMetadata metadata_;
  DeleteIndex index_{metadata_, schema_};
};

// Fault 1 of the list: equality on both sides of the boundary.
TEST_F(DeleteIndexTest, SequenceNumbersAtTheBoundary) {
  Add(Delete(FileContent::kPositionDeletes, File("p"), 5));
  Add(Delete(FileContent::kEqualityDeletes, File("e"), 5));
  EXPECT_EQ(Find(File("a"), 4), (Paths{"p", "e"}));
  EXPECT_EQ(Find(File("a"), 5), (Paths{"p"}));
  EXPECT_EQ(Find(File("a"), 6), (Paths{}));
}

TEST_F(DeleteIndexTest, PartitionsAreComparedBySpecAndValues) {
  Add(Delete(FileContent::kPositionDeletes, File("p", 1, {std::string("x")}), 9));
  Add(Delete(FileContent::kEqualityDeletes, File("e", 1, {std::string("x")}), 9));
  EXPECT_EQ(Find(File("a", 1, {std::string("x")}), 1), (Paths{"p", "e"}));
  EXPECT_EQ(Find(File("a", 1, {std::string("y")}), 1), (Paths{}));
  EXPECT_EQ(Find(File("a", 1, {Value()}), 1), (Paths{}));
  EXPECT_EQ(Find(File("a", 0), 1), (Paths{}));
}

TEST_F(DeleteIndexTest, EqualityDeletesOfAnUnpartitionedSpecAreGlobal) {
  Add(Delete(FileContent::kEqualityDeletes, File("e"), 9));
  Add(Delete(FileContent::kEqualityDeletes, File("void", 2, {Value()}), 9));
  Add(Delete(FileContent::kPositionDeletes, File("p"), 9));
  EXPECT_EQ(Find(File("a", 1, {std::string("x")}), 1), (Paths{"e", "void"}));
}

TEST_F(DeleteIndexTest, NullAndNaNPartitionsEqualThemselves) {
  Add(Delete(FileContent::kPositionDeletes, File("null", 1, {Value()}), 9));
  Add(Delete(FileContent::kPositionDeletes, File("nan", 1, {std::nanf("")}), 9));
  EXPECT_EQ(Find(File("a", 1, {Value()}), 1), (Paths{"null"}));
  EXPECT_EQ(Find(File("a", 1, {std::nanf("1")}), 1), (Paths{"nan"}));
}

TEST_F(DeleteIndexTest, VectorsReplacePositionDeletesOfTheirFile) {
  Add(Vector("a", 5));
  Add(Delete(FileContent::kPositionDeletes, File("p"), 9));
  Add(Delete(FileContent::kEqualityDeletes, File("e"), 9));
  EXPECT_EQ(Find(File("a"), 5), (Paths{"dv.puffin", "e"}));
  EXPECT_EQ(Find(File("b"), 5), (Paths{"p", "e"}));
  // A vector older than the file is not its own.
  EXPECT_EQ(Find(File("a"), 6), (Paths{"p", "e"}));
}

TEST_F(DeleteIndexTest, VectorsMustBeOneAFile) {
  Add(Vector("a", 5));
  EXPECT_EQ(index_.Add(Vector("a", 6)).message(), "data file a has two deletion vectors");
  DataFile nobodys = File("dv.puffin");
  nobodys.file_format = "PUFFIN";
  EXPECT_TRUE(index_.Add(Delete(FileContent::kPositionDeletes, nobodys, 6)).IsInvalid());
}

TEST_F(DeleteIndexTest, PathsNarrowPositionDeletes) {
  DataFile bounded = File("bounded");
  bounded.lower_bounds[kFilePathId] = "/t/b";
  bounded.upper_bounds[kFilePathId] = "/t/d";
  Add(Delete(FileContent::kPositionDeletes, bounded, 9));
  DataFile of_one = File("of_one");
  of_one.referenced_data_file = "/t/z";
  Add(Delete(FileContent::kPositionDeletes, of_one, 9));
  EXPECT_EQ(Find(File("/t/a"), 1), (Paths{}));
  EXPECT_EQ(Find(File("/t/b"), 1), (Paths{"bounded"}));
  EXPECT_EQ(Find(File("/t/c.parquet"), 1), (Paths{"bounded"}));
  EXPECT_EQ(Find(File("/t/d"), 1), (Paths{"bounded"}));
  EXPECT_EQ(Find(File("/t/d.parquet"), 1), (Paths{}));
  EXPECT_EQ(Find(File("/t/z"), 1), (Paths{"of_one"}));
}

std::string Long(int64_t value) { return ValueToBytes(*Primitive(TypeId::kLong), value).ValueOrDie(); }

TEST_F(DeleteIndexTest, BoundsNarrowEqualityDeletes) {
  DataFile deletes = File("e");
  deletes.lower_bounds[1] = Long(10);
  deletes.upper_bounds[1] = Long(20);
  deletes.null_value_counts[1] = 0;
  Add(Delete(FileContent::kEqualityDeletes, deletes, 9));
  DataFile file = File("a");
  EXPECT_EQ(Find(file, 1), (Paths{"e"}));
  file.lower_bounds[1] = Long(21);
  file.upper_bounds[1] = Long(30);
  EXPECT_EQ(Find(file, 1), (Paths{}));
  file.lower_bounds[1] = Long(20);
  EXPECT_EQ(Find(file, 1), (Paths{"e"}));
  file.lower_bounds[1] = "bad";
  EXPECT_EQ(Find(file, 1), (Paths{"e"}));
}

TEST_F(DeleteIndexTest, NullsMayMeetOutsideTheBounds) {
  DataFile deletes = File("e");
  deletes.lower_bounds[1] = deletes.upper_bounds[1] = Long(10);
  Add(Delete(FileContent::kEqualityDeletes, deletes, 9));
  DataFile file = File("a");
  file.lower_bounds[1] = file.upper_bounds[1] = Long(30);
  EXPECT_EQ(Find(file, 1), (Paths{"e"}));
  file.null_value_counts[1] = 0;
  EXPECT_EQ(Find(file, 1), (Paths{}));
}

TEST(CheckSupported, NamesWhatAndHowMany) {
  ScanPlan plan;
  plan.tasks.resize(3);
  for (auto& task : plan.tasks) task.file.file_format = "PARQUET";
  EXPECT_TRUE(CheckSupported(plan).ok());
  auto deletes = [](FileContent content, const char* format) {
    DataFile file;
    file.content = content;
    file.file_path = "/t/p";
    file.file_format = format;
    return std::vector<PlannedDelete>{{std::make_shared<const DataFile>(file), 1}};
  };
  plan.tasks[1].deletes = plan.tasks[2].deletes = deletes(FileContent::kPositionDeletes, "PARQUET");
  EXPECT_TRUE(CheckSupported(plan).IsNotImplemented());
  EXPECT_EQ(CheckSupported(plan).message(), "position deletes are not supported yet (file /t/p, 2 of 3 data files)");
  plan.tasks[1].deletes = deletes(FileContent::kEqualityDeletes, "PARQUET");
  EXPECT_EQ(CheckSupported(plan).message(), "equality deletes are not supported yet (file /t/p, 1 of 3 data files)");
  plan.tasks[1].deletes = deletes(FileContent::kPositionDeletes, "PUFFIN");
  EXPECT_EQ(CheckSupported(plan).message(), "deletion vectors are not supported yet (file /t/p, 1 of 3 data files)");
  plan.tasks[0].file.file_path = "/t/a";
  plan.tasks[0].file.key_metadata = "k";
  EXPECT_EQ(CheckSupported(plan).message(),
            "encrypted data files are not supported yet (file /t/a, 1 of 3 data files)");
  plan.tasks[0].file.file_format = "AVRO";
  plan.tasks[2].file.file_format = "ORC";
  EXPECT_EQ(CheckSupported(plan).message(), "data files in Avro are not supported yet (file /t/a, 1 of 3 data files)");
  plan.tasks[0].file.file_format = "ORC";
  EXPECT_EQ(CheckSupported(plan).message(), "data files in ORC are not supported yet (file /t/a, 2 of 3 data files)");
}

}  // namespace
}  // namespace calve::iceberg
