#include "calve/io/local_output.h"

#include "calve/base/status.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

namespace calve {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
constexpr size_t kLargeWrite = 64 << 10;
constexpr size_t kLongestBaseName = 200;  // names have at most 255 bytes; the rest is for the random part
constexpr int kAttempts = 16;

std::string FolderOf(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string TemporaryName(const std::string& path) {
  auto base = path.substr(path.rfind('/') + 1).substr(0, kLongestBaseName);
  std::random_device random;
  return fmt::format("{}/.{}.{:08x}{:08x}.tmp", FolderOf(path), base, random(), random());
}

/// Some file systems cannot sync a folder; they say so by EINVAL and its like, and need it not.
Status SyncFolder(const std::string& folder, std::string_view location) {
  FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return SystemError(errno, "sync the folder of", location);
  if (::fsync(descriptor.number()) == 0) return Status::OK();
  if (errno == EINVAL || errno == ENOTSUP || errno == EBADF) return Status::OK();
  return SystemError(errno, "sync the folder of", location);
}

}  // namespace

class LocalOutput::Stream : public arrow::io::OutputStream {
 public:
  Stream(FileDescriptor file, std::string location) : file_(std::move(file)), location_(std::move(location)) {
    set_mode(arrow::io::FileMode::WRITE);
    buffer_.reserve(kBufferBytes);
  }

  using arrow::io::OutputStream::Write;
  Status Write(const void* data, int64_t size) override {
    if (closed_) return Invalid("write to a closed file: {}", location_);
    ARROW_RETURN_NOT_OK(failure_);
    position_ += size;
    const std::string_view bytes(static_cast<const char*>(data), static_cast<size_t>(size));
    // What is large goes out together with what came before, without a copy.
    if (bytes.size() >= kLargeWrite || buffer_.size() + bytes.size() > kBufferBytes) return WriteOut(bytes);
    buffer_.append(bytes);
    return Status::OK();
  }

  Status Flush() override {
    ARROW_RETURN_NOT_OK(failure_);
    return WriteOut({});
  }

  Status Close() override {
    closed_ = true;
    return Flush();
  }
  Status Abort() override {
    closed_ = true;
    return Status::OK();
  }
  bool closed() const override { return closed_; }
  Result<int64_t> Tell() const override { return position_; }

  /// Flushes, syncs and gives the descriptor back. An error of an earlier write is returned again.
  Status Finish() {
    closed_ = true;
    ARROW_RETURN_NOT_OK(Flush());
    if (::fsync(file_.number()) != 0) return SystemError(errno, "sync", location_);
    if (::close(file_.Release()) != 0) return SystemError(errno, "close", location_);
    return Status::OK();
  }

 private:
  /// Writes what is buffered, and then `more`.
  Status WriteOut(std::string_view more) {
    failure_ = WriteFully(file_, buffer_, more, location_);
    buffer_.clear();
    return failure_;
  }

  FileDescriptor file_;
  std::string location_, buffer_;
  int64_t position_ = 0;
  bool closed_ = false;
  Status failure_;
};

LocalOutput::LocalOutput(std::string path, std::string location)
    : path_(std::move(path)), location_(std::move(location)) {}

LocalOutput::~LocalOutput() {
  if (!published_) Discard();
}

arrow::io::OutputStream* LocalOutput::stream() { return stream_.get(); }

Result<std::unique_ptr<LocalOutput>> LocalOutput::Make(const std::string& path, std::string_view location) {
  if (path.empty() || path.back() == '/') return Invalid("cannot create '{}': it names no file", location);
  std::unique_ptr<LocalOutput> output(new LocalOutput(path, std::string(location)));
  ARROW_RETURN_NOT_OK(output->OpenTemporary());
  return output;
}

Status LocalOutput::OpenTemporary() {
  int error_number = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto name = TemporaryName(path_);
    FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.is_open()) {
      temporary_path_ = std::move(name);
      stream_ = std::make_unique<Stream>(std::move(file), location_);
      return Status::OK();
    }
    error_number = errno;
    // The folder is missing, or a writer beside us gave up and took it away again: hence the loop.
    if (error_number == ENOENT) {
      ARROW_RETURN_NOT_OK(MakeFolders(FolderOf(path_)));
    } else if (error_number != EEXIST) {
      break;
    }
  }
  return SystemError(error_number, "create", location_);
}

Status LocalOutput::MakeFolders(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) {
    made_folders_.push_back(folder);
    return SyncFolder(FolderOf(folder), location_);
  }
  if (errno == EEXIST) return Status::OK();
  if (errno != ENOENT || folder == "." || folder == "/") return SystemError(errno, "create the folder of", location_);
  ARROW_RETURN_NOT_OK(MakeFolders(FolderOf(folder)));
  if (::mkdir(folder.c_str(), 0777) == 0) {
    made_folders_.push_back(folder);
    return SyncFolder(FolderOf(folder), location_);
  }
  return errno == EEXIST || errno == ENOENT ? Status::OK() : SystemError(errno, "create the folder of", location_);
}

Result<int64_t> LocalOutput::Publish(Publication publication) {
  if (published_ || !stream_) return Invalid("committed already: {}", location_);
  ARROW_ASSIGN_OR_RAISE(int64_t size, stream_->Tell());
  auto status = stream_->Finish();
  if (status.ok()) status = Name(publication);
  if (!status.ok()) {
    Discard();
    return status;
  }
  published_ = true;
  status = SyncFolder(FolderOf(path_), location_);
  if (!status.ok()) return CommitError(CommitFailure::kStateUnknown, status.message());
  return size;
}

Status LocalOutput::Name(Publication publication) {
  const char *from = temporary_path_.c_str(), *to = path_.c_str();
  if (publication == Publication::kReplace) {
    return ::rename(from, to) == 0 ? Status::OK() : SystemError(errno, "name", location_);
  }
  int error_number = ENOSYS;
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return Status::OK();
  error_number = errno;
#endif
  if (error_number == ENOSYS || error_number == EINVAL || error_number == ENOTSUP) {
    // Not every file system has the flag; a hard link never replaces either.
    error_number = ::link(from, to) == 0 ? 0 : errno;
    if (error_number == 0) ::unlink(from);
  }
  if (error_number == 0) return Status::OK();
  if (error_number == EEXIST) return Status::AlreadyExists("file already exists: ", location_);
  return SystemError(error_number, "name", location_);
}

void LocalOutput::Discard() {
  stream_.reset();
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  temporary_path_.clear();
  for (auto folder = made_folders_.rbegin(); folder != made_folders_.rend(); ++folder) ::rmdir(folder->c_str());
  made_folders_.clear();
}

}  // namespace calve
