// An object store that fails in the middle of a write: what it took before is no Parquet file to anyone.

#include "calve/parquet_writer.h"

#include "random_array.h"
#include "written_parquet.h"

#include <arrow/filesystem/mockfs.h>
#include <arrow/io/memory.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

namespace calve {
namespace {

/// Hands bytes on. One call fails: the `fail_at`-th write, or the close behind all writes.
class FailingStream : public arrow::io::OutputStream {
 public:
  FailingStream(std::shared_ptr<arrow::io::OutputStream> behind, std::string path, int64_t fail_at)
      : behind_(std::move(behind)), path_(std::move(path)), fail_at_(fail_at) {}

  arrow::Status Write(const void* data, int64_t size) override {
    ARROW_RETURN_NOT_OK(Call());
    sent_.append(static_cast<const char*>(data), static_cast<size_t>(size));
    return behind_->Write(data, size);
  }
  arrow::Status Close() override {
    ARROW_RETURN_NOT_OK(Call());
    return behind_->Close();
  }
  arrow::Status Abort() override { return behind_->Abort(); }
  arrow::Result<int64_t> Tell() const override { return behind_->Tell(); }
  bool closed() const override { return behind_->closed(); }
  int64_t calls() const { return calls_; }
  const std::string& sent() const { return sent_; }

 private:
  arrow::Status Call() {
    if (calls_++ != fail_at_) return arrow::Status::OK();
    return arrow::Status::IOError("503 Slow Down while uploading ", path_);
  }

  std::shared_ptr<arrow::io::OutputStream> behind_;
  const std::string path_;
  const int64_t fail_at_;
  int64_t calls_ = 0;
  std::string sent_;
};

/// A store whose uploads fail.
class FailingStore : public arrow::fs::internal::MockFileSystem {
 public:
  FailingStore() : MockFileSystem(arrow::fs::TimePoint()) {}

  arrow::Result<std::shared_ptr<arrow::io::OutputStream>> OpenOutputStream(
      const std::string& path, const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) override {
    ARROW_ASSIGN_OR_RAISE(auto behind, MockFileSystem::OpenOutputStream(path, metadata));
    last_ = std::make_shared<FailingStream>(std::move(behind), path, fail_at_);
    return last_;
  }
  using MockFileSystem::OpenOutputStream;

  void FailAt(int64_t call) { fail_at_ = call; }
  /// The stream that was opened last.
  const FailingStream& last() const { return *last_; }

 private:
  int64_t fail_at_ = std::numeric_limits<int64_t>::max();
  std::shared_ptr<FailingStream> last_;
};

const char kPath[] = "bucket/part.parquet";

std::shared_ptr<arrow::RecordBatch> Rows() {
  testing::RandomArrays arrays(3, {.null_probability = 0.2});
  const auto number = arrow::field("n", arrow::int64()), text = arrow::field("s", arrow::utf8());
  return arrow::RecordBatch::Make(arrow::schema({number, text}), 300,
                                  {arrays.Make(*number, 300), arrays.Make(*text, 300)});
}

/// Writes row groups of 100 rows and gives the file its name. `writer` stays, with `stream` open, when that fails.
arrow::Status Upload(FailingStore* store, std::shared_ptr<arrow::io::OutputStream>* stream,
                     std::unique_ptr<ParquetWriter>* writer) {
  const auto rows = Rows();
  ParquetWriteOptions options;
  options.row_group_rows = 100;
  options.page_rows = 50;
  options.bloom_filter.emplace();
  ARROW_ASSIGN_OR_RAISE(*stream, store->OpenOutputStream(kPath));
  ARROW_ASSIGN_OR_RAISE(*writer, ParquetWriter::Make(stream->get(), rows->schema(), options));
  ARROW_RETURN_NOT_OK((*writer)->Write(*rows));
  ARROW_RETURN_NOT_OK((*writer)->Close());
  return (*stream)->Close();
}

bool IsParquet(const std::string& bytes) {
  const auto source = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  try {
    return ::parquet::ParquetFileReader::Open(source)->metadata()->num_rows() == 300;
  } catch (const ::parquet::ParquetException&) {
    return false;
  }
}

/// What lies under the name.
std::string Stored(FailingStore* store) {
  const auto files = store->AllFiles();
  return files.empty() ? "" : std::string(files.at(0).data);
}

TEST(FailingStore, EveryCallThatMayFail) {
  FailingStore store;
  ASSERT_TRUE(store.CreateDir("bucket").ok());
  std::shared_ptr<arrow::io::OutputStream> stream;
  std::unique_ptr<ParquetWriter> writer;
  ASSERT_TRUE(Upload(&store, &stream, &writer).ok());
  EXPECT_TRUE(IsParquet(Stored(&store)));
  const int64_t calls = store.last().calls();
  ASSERT_GT(calls, 30);
  for (int64_t call = 0; call < calls; ++call) {
    SCOPED_TRACE(call);
    ASSERT_TRUE(store.DeleteFile(kPath).ok());
    store.FailAt(call);
    writer.reset();
    const arrow::Status status = Upload(&store, &stream, &writer);
    ASSERT_TRUE(status.IsIOError()) << status;
    EXPECT_NE(status.message().find(kPath), std::string::npos) << status;
    // The writer does not go on behind a gap, and a footer comes after nothing that is missing.
    if (writer != nullptr) {
      EXPECT_FALSE(writer->Write(*Rows()).ok());
      EXPECT_FALSE(writer->Close().ok());
    }
    ASSERT_TRUE(stream->Abort().ok());
    EXPECT_FALSE(IsParquet(Stored(&store)));
    // Not even what was sent is, unless all of it was and only the name is missing.
    EXPECT_EQ(IsParquet(store.last().sent()), call + 1 == calls);
  }
}

}  // namespace
}  // namespace calve
