#pragma once

#include "calve/io/file_io.h"

namespace calve {

/// An IOError "cannot <action> <location>: <reason>" for `error_number`; a missing file is "no such file: <location>".
Status SystemError(int error_number, std::string_view action, std::string_view location);

/// A file descriptor, closed with its owner.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { Close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void Close();
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Opens the regular file at `path` for reading.
Result<FileDescriptor> OpenForReading(const std::string& path, std::string_view location, int64_t* size_bytes);

/// What tells the content of an open file from others of its name: it changes when the file is replaced, or written to
/// later than the resolution of time stamps. "" when the system does not say.
std::string FileVersion(int descriptor);

/// Reads up to `size` bytes at `offset`; fewer only at the end of the file.
Result<int64_t> ReadFully(const FileDescriptor& file, int64_t offset, int64_t size, void* out,
                          std::string_view location);

/// Writes `first` and then `second` where the file's position is.
Status WriteFully(const FileDescriptor& file, std::string_view first, std::string_view second,
                  std::string_view location);

/// The file at `path` as Arrow sees it. ReadAt is thread-safe; errors name `location`. Buffers that are read into come
/// from `pool` (null: Arrow's default pool), which outlives them.
Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenLocalFile(const std::string& path, std::string_view location,
                                                                   arrow::MemoryPool* pool = nullptr);

}  // namespace calve
