#include "calve/io/mapped_file.h"

#include "calve/base/status.h"
#include "calve/io/local_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace calve {
namespace {

/// The bytes of a mapped file, unmapped with their last holder.
class Mapping : public arrow::Buffer {
 public:
  Mapping(const uint8_t* data, int64_t size_bytes) : arrow::Buffer(data, size_bytes) {}
  ~Mapping() override {
    if (size() > 0) ::munmap(const_cast<uint8_t*>(data()), static_cast<size_t>(size()));
  }
};

Result<std::shared_ptr<arrow::Buffer>> Map(const FileDescriptor& file, int64_t size_bytes, std::string_view location) {
  // Nothing cannot be mapped.
  if (size_bytes == 0) return std::make_shared<Mapping>(nullptr, 0);
  void* data = ::mmap(nullptr, static_cast<size_t>(size_bytes), PROT_READ, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) return SystemError(errno, "map", location);
  return std::make_shared<Mapping>(static_cast<const uint8_t*>(data), size_bytes);
}

class MappedFile : public arrow::io::RandomAccessFile {
 public:
  MappedFile(FileDescriptor file, std::shared_ptr<arrow::Buffer> bytes, std::string location)
      : file_(std::move(file)), bytes_(std::move(bytes)), location_(std::move(location)) {
    set_mode(arrow::io::FileMode::READ);
  }

  Status Close() override {
    file_.Close();
    return Status::OK();
  }
  bool closed() const override { return !file_.is_open(); }
  bool supports_zero_copy() const override { return true; }
  Result<int64_t> Tell() const override { return position_; }
  Result<int64_t> GetSize() override { return bytes_->size(); }

  Status Seek(int64_t position) override {
    if (position < 0) return Invalid("cannot seek to {} in {}", position, location_);
    position_ = position;
    return Status::OK();
  }

  Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t size) override {
    if (!file_.is_open()) return Invalid("read of a closed file: {}", location_);
    if (position < 0 || size < 0) return Invalid("cannot read {} bytes at {} of {}", size, position, location_);
    const int64_t begin = std::min(position, bytes_->size());
    const int64_t there = std::min(size, bytes_->size() - begin);
    ARROW_RETURN_NOT_OK(CheckStillThere(begin + there));
    return arrow::SliceBuffer(bytes_, begin, there);
  }

  Result<int64_t> ReadAt(int64_t position, int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadAt(position, size));
    if (bytes->size() > 0) std::memcpy(out, bytes->data(), static_cast<size_t>(bytes->size()));
    return bytes->size();
  }

  Result<std::shared_ptr<arrow::Buffer>> Read(int64_t size) override {
    ARROW_ASSIGN_OR_RAISE(auto bytes, ReadAt(position_, size));
    position_ += bytes->size();
    return bytes;
  }

  Result<int64_t> Read(int64_t size, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position_, size, out));
    position_ += got;
    return got;
  }

 private:
  Status CheckStillThere(int64_t end) const {
    struct stat info{};
    if (::fstat(file_.number(), &info) != 0) return SystemError(errno, "read", location_);
    if (info.st_size >= end) return Status::OK();
    return IOError("{} was cut short to {} bytes while it is mapped", location_, static_cast<int64_t>(info.st_size));
  }

  FileDescriptor file_;
  std::shared_ptr<arrow::Buffer> bytes_;
  int64_t position_ = 0;
  std::string location_;
};

}  // namespace

Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenMappedFile(const std::string& path,
                                                                    std::string_view location) {
  int64_t size_bytes = 0;
  ARROW_ASSIGN_OR_RAISE(auto file, OpenForReading(path, location, &size_bytes));
  ARROW_ASSIGN_OR_RAISE(auto bytes, Map(file, size_bytes, location));
  return std::make_shared<MappedFile>(std::move(file), std::move(bytes), std::string(location));
}

}  // namespace calve
