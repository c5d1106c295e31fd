#include "calve/shuffle.h"

#include "json_arrays.h"
#include "shuffle_files_testing.h"

#include <arrow/array/concatenate.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace calve {
namespace {

using testing::Batch;
using testing::CheckNumbered;
using testing::Cut;
using testing::Every;
using testing::Numbered;
using testing::ReadAll;
using testing::TempFolder;
using testing::WriteTask;
namespace fs = std::filesystem;

TEST(Shuffle, NothingLooksCommittedBeforeTheEnd) {
  TempFolder folder;
  const auto batches = Cut(Numbered(0, 20000), 1000);
  const auto partitioner = [&] { return MakeHashPartitioner(batches[0]->schema(), {"key"}, 10).ValueOrDie(); };
  const ShuffleWriteOptions options{.memory_budget_bytes = 600 << 10};
  {
    auto writer = ShuffleTaskWriter::Make(folder.path(), 0, batches[0]->schema(), partitioner(), options).ValueOrDie();
    for (const auto& batch : batches) ASSERT_TRUE(writer->Write(batch).ok());
    for (const auto& name : testing::FileNames(folder.path())) {
      EXPECT_TRUE(name.ends_with(".tmp") || name == "shuffle_0.schema") << name;
    }
    EXPECT_TRUE(ShuffleReader::Open(folder.path()).ValueOrDie()->tasks().empty());
  }
  EXPECT_EQ(testing::FileNames(folder.path()), std::vector<std::string>{"shuffle_0.schema"});
  // What an attempt left that was killed between its last two steps is written over; what was committed is not.
  testing::WriteText(folder / "shuffle_0_0_0.data", "of an earlier attempt");
  testing::WriteText(folder / "shuffle_0_0_0.checksum.CRC32C", "of an earlier attempt");
  ASSERT_TRUE(WriteTask(folder.path(), 0, batches, partitioner(), options).ok());
  const auto reader = ShuffleReader::Open(folder.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(CheckNumbered(**reader, 20000, Every(10)), 20000);
  EXPECT_TRUE(WriteTask(folder.path(), 0, batches, partitioner(), options).status().IsAlreadyExists());
}

TEST(Shuffle, TasksHaveOneSchemaAndOneNumberOfPartitions) {
  TempFolder folder;
  const auto batch = Numbered(0, 10);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeSinglePartitioner()).ok());
  const auto other = Batch(arrow::schema({arrow::field("x", arrow::int32())}), "[[1]]");
  EXPECT_TRUE(WriteTask(folder.path(), 1, {other}, MakeSinglePartitioner()).status().IsInvalid());
  ASSERT_TRUE(WriteTask(folder.path(), 2, {batch}, MakeRoundRobinPartitioner(batch->schema(), 2)).ok());
  const auto status = ShuffleReader::Open(folder.path()).status();
  EXPECT_NE(status.message().find("1 partitions"), std::string::npos) << status;
  auto writer =
      ShuffleTaskWriter::Make(folder.path(), 3, batch->schema(), MakeSinglePartitioner().ValueOrDie()).ValueOrDie();
  EXPECT_TRUE(writer->Write(other).IsInvalid());
}

TEST(Shuffle, ChecksumsAreVerifiedBeforeARowIsReturned) {
  TempFolder folder;
  const auto batch = Numbered(0, 5000);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeHashPartitioner(batch->schema(), {"key"}, 3),
                        {.blocks = {.codec = ShuffleCodec::kNone}, .checksums = true})
                  .ok());
  auto bytes = testing::ReadText(folder / "shuffle_0_0_0.data");
  const auto index = ShuffleReader::Open(folder.path()).ValueOrDie()->tasks()[0].index;
  const auto flipped = static_cast<size_t>(index.offsets[2] - 200);  // a value near the end of partition 1
  bytes[flipped] = static_cast<char>(bytes[flipped] ^ 1);
  testing::WriteText(folder / "shuffle_0_0_0.data", bytes);
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_NE(ReadAll(reader->ReadPartition(0)), nullptr);
  EXPECT_NE(ReadAll(reader->ReadPartition(2)), nullptr);
  const auto status = (*reader->ReadPartition(1))->Next().status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_NE(status.message().find("partition 1 at byte " + std::to_string(index.offsets[1])), std::string::npos)
      << status;
  const auto trusting = ShuffleReader::Open(folder.path(), {.verify_checksums = false}).ValueOrDie();
  EXPECT_TRUE((*trusting->ReadPartition(1))->Next().ok());
}

TEST(Shuffle, DataThatIsNotTheIndexsIsRefused) {
  TempFolder folder;
  const auto batch = Numbered(0, 500);
  ASSERT_TRUE(WriteTask(folder.path(), 0, {batch}, MakeSinglePartitioner()).ok());
  const auto bytes = testing::ReadText(folder / "shuffle_0_0_0.data");
  testing::WriteText(folder / "shuffle_0_0_0.data", bytes.substr(0, bytes.size() - 1));
  const auto cut = ShuffleReader::Open(folder.path()).status();
  EXPECT_TRUE(cut.IsInvalid());
  EXPECT_NE(cut.message().find("shuffle_0_0_0.index"), std::string::npos) << cut;
  fs::remove(folder / "shuffle_0_0_0.data");
  EXPECT_TRUE(ShuffleReader::Open(folder.path()).status().IsInvalid());
}

/// Runs `body` in a child process; its exit code.
int InChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A file may not grow beyond a limit, as on a full disk: spilling, or the data file, fails and nothing is left.
TEST(Shuffle, AFullDiskLeavesNothing) {
  const auto batches = Cut(Numbered(0, 20000), 1000);
  for (const int64_t budget : {int64_t{600} << 10, int64_t{64} << 20}) {
    for (const rlim_t limit : {rlim_t{1000}, rlim_t{60000}}) {
      TempFolder folder;
      const int code = InChild([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit most{limit, limit};
        ::setrlimit(RLIMIT_FSIZE, &most);
        const auto status = WriteTask(folder.path(), 0, batches, MakeHashPartitioner(batches[0]->schema(), {"key"}, 10),
                                      {.memory_budget_bytes = budget})
                                .status();
        return status.IsIOError() && status.message().find(folder.path()) != std::string::npos ? 7 : 1;
      });
      EXPECT_EQ(code, 7);
      EXPECT_EQ(testing::FileNames(folder.path()), std::vector<std::string>{"shuffle_0.schema"});
    }
  }
}

// Readers see the tasks that are committed, whole, while others are being written.
TEST(Shuffle, TwoReadersAndAWriterAtOnce) {
  TempFolder folder;
  constexpr int64_t kRows = 5000;
  constexpr int kTasks = 8;
  const auto schema = Numbered(0, 1)->schema();
  const auto write = [&](int task) {
    return WriteTask(folder.path(), task, Cut(Numbered(task * kRows, kRows), 500),
                     MakeHashPartitioner(schema, {"key"}, 20), {.memory_budget_bytes = 600 << 10});
  };
  ASSERT_TRUE(write(0).ok());
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      bool last = false;
      while (!last) {
        last = done;
        const auto reader = ShuffleReader::Open(folder.path());
        ASSERT_TRUE(reader.ok()) << reader.status();
        const auto tasks = static_cast<int64_t>((*reader)->tasks().size());
        ASSERT_EQ(CheckNumbered(**reader, kRows, Every(20)), tasks * kRows);
      }
    });
  }
  for (int task = 1; task < kTasks; ++task) EXPECT_TRUE(write(task).ok());
  done = true;
  for (auto& reader : readers) reader.join();
}

TEST(Shuffle, TasksRunAtOnce) {
  TempFolder folder;
  const auto schema = Numbered(0, 1)->schema();
  std::vector<ShuffleInput> inputs;
  for (int64_t task = 0; task < 6; ++task) {
    inputs.push_back({task, [=] { return arrow::RecordBatchReader::Make(Cut(Numbered(task * 3000, 3000), 500)); }});
  }
  const auto partitioner = [&](int64_t) { return MakeHashPartitioner(schema, {"key"}, 5); };
  const auto results = WriteShuffle(folder.path(), schema, inputs, partitioner, {.memory_budget_bytes = 4 << 20});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(results->size(), 6u);
  EXPECT_EQ((*results)[4].task, 4);
  const auto reader = ShuffleReader::Open(folder.path()).ValueOrDie();
  EXPECT_EQ(CheckNumbered(*reader, 3000, Every(5)), 18000);
  const auto again = WriteShuffle(folder.path(), schema, inputs, partitioner).status();
  EXPECT_TRUE(again.IsAlreadyExists()) << again;
  EXPECT_NE(again.message().find("task 0"), std::string::npos) << again;
}

}  // namespace
}  // namespace calve
