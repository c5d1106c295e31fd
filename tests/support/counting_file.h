#pragma once

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <memory>

namespace calve::testing {

/// A file in memory that is read into memory of the reader's, and counts what is read of it. Not thread-safe.
class CountingFile : public arrow::io::RandomAccessFile {
 public:
  explicit CountingFile(const std::shared_ptr<arrow::Buffer>& bytes) : file_(bytes) {}
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    bytes_read += size;
    return file_.ReadAt(position, size);
  }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    bytes_read += size;
    return file_.ReadAt(position, size, out);
  }
  arrow::Result<int64_t> GetSize() override { return file_.GetSize(); }
  arrow::Status Close() override { return file_.Close(); }
  bool closed() const override { return file_.closed(); }
  arrow::Result<int64_t> Tell() const override { return file_.Tell(); }
  arrow::Status Seek(int64_t position) override { return file_.Seek(position); }
  arrow::Result<int64_t> Read(int64_t size, void* out) override { return file_.Read(size, out); }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override { return file_.Read(size); }

  int64_t bytes_read = 0;

 private:
  arrow::io::BufferReader file_;
};

}  // namespace calve::testing
