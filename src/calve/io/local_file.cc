#include "calve/io/local_file.h"

#include "calve/base/status.h"

#include <arrow/util/key_value_metadata.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace calve {
namespace {

class LocalFile : public arrow::io::RandomAccessFile {
 public:
  LocalFile(FileDescriptor file, int64_t size_bytes, std::string location, arrow::MemoryPool* pool)
      : file_(std::move(file)), size_bytes_(size_bytes), location_(std::move(location)), pool_(pool) {
    set_mode(arrow::io::FileMode::READ);
  }

  Status Close() override {
    file_.Close();
    return Status::OK();
  }
  bool closed() const override { return !file_.is_open(); }
  Result<int64_t> Tell() const override { return position_; }
  Result<int64_t> GetSize() override { return size_bytes_; }

  /// The version, as object stores have it.
  Result<std::shared_ptr<const arrow::KeyValueMetadata>> ReadMetadata() override {
    const std::string version = FileVersion(file_.number());
    if (version.empty()) return nullptr;
    return arrow::key_value_metadata({"ETag"}, {version});
  }

  Status Seek(int64_t position) override {
    if (position < 0) return Invalid("cannot seek to {} in {}", position, location_);
    position_ = position;
    return Status::OK();
  }

  Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    if (!file_.is_open()) return Invalid("read of a closed file: {}", location_);
    if (position < 0 || size < 0) return Invalid("cannot read {} bytes at {} of {}", size, position, location_);
    return ReadFully(file_, position, size, out, location_);
  }

  Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    // What the file cannot hold is not allocated.
    int64_t there = std::max<int64_t>(size_bytes_ - std::max<int64_t>(position, 0), 0);
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(std::clamp<int64_t>(size, 0, there), pool_));
    ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(position, std::min(size, there), buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got, /*shrink_to_fit=*/false));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }

  Result<int64_t> Read(int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(position_, size, out));
    position_ += got;
    return got;
  }

  Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, size));
    position_ += buffer->size();
    return buffer;
  }

 private:
  FileDescriptor file_;
  int64_t size_bytes_;
  int64_t position_ = 0;
  std::string location_;
  arrow::MemoryPool* pool_;
};

}  // namespace

Status SystemError(int error_number, std::string_view action, std::string_view location) {
  if (error_number == ENOENT) return IOError("no such file: {}", location);
  return IOError("cannot {} {}: {}", action, location, std::system_category().message(error_number));
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    Close();
    number_ = other.Release();
  }
  return *this;
}

void FileDescriptor::Close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Result<FileDescriptor> OpenForReading(const std::string& path, std::string_view location, int64_t* size_bytes) {
  // Without O_NONBLOCK a named pipe would hang here instead of failing below.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return SystemError(errno, "open", location);
  struct stat info{};
  if (::fstat(file.number(), &info) != 0) return SystemError(errno, "open", location);
  if (S_ISDIR(info.st_mode)) return IOError("cannot open {}: it is a folder", location);
  if (!S_ISREG(info.st_mode)) return IOError("cannot open {}: it is not a regular file", location);
  *size_bytes = info.st_size;
  return file;
}

Result<int64_t> ReadFully(const FileDescriptor& file, int64_t offset, int64_t size, void* out,
                          std::string_view location) {
  int64_t done = 0;
  while (done < size) {
    ssize_t got =
        ::pread(file.number(), static_cast<char*>(out) + done, static_cast<size_t>(size - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError(errno, "read", location);
    if (got == 0) break;
    done += got;
  }
  return done;
}

Status WriteFully(const FileDescriptor& file, std::string_view first, std::string_view second,
                  std::string_view location) {
  while (!first.empty() || !second.empty()) {
    const iovec pieces[2] = {{const_cast<char*>(first.data()), first.size()},
                             {const_cast<char*>(second.data()), second.size()}};
    const ssize_t count = ::writev(file.number(), pieces, 2);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(errno, "write", location);
    const auto of_first = std::min(static_cast<size_t>(count), first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(static_cast<size_t>(count) - of_first);
  }
  return Status::OK();
}

std::string FileVersion(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return "";
  return fmt::format("{}-{}-{}-{}.{:09}", status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenLocalFile(const std::string& path, std::string_view location,
                                                                   arrow::MemoryPool* pool) {
  int64_t size_bytes = 0;
  ARROW_ASSIGN_OR_RAISE(auto file, OpenForReading(path, location, &size_bytes));
  return std::make_shared<LocalFile>(std::move(file), size_bytes, std::string(location),
                                     pool != nullptr ? pool : arrow::default_memory_pool());
}

}  // namespace calve
