#include "calve/cli/output.h"

#include "calve/cli/interrupt.h"

#include <arrow/status.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

class BrokenPipe : public arrow::StatusDetail {
 public:
  static constexpr const char* kId = "calve::cli::BrokenPipe";
  const char* type_id() const override { return kId; }
  std::string ToString() const override { return "the reader has gone"; }
};

Status Failure(std::string_view what, const std::string& name, int error) {
  return Status::IOError(fmt::format("{} '{}': {}", what, name, std::strerror(error)));
}

Status WriteFully(int descriptor, const char* data, int64_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t written = write(descriptor, data, static_cast<size_t>(size));
    if (written >= 0) {
      data += written;
      size -= written;
    } else if (errno == EINTR) {
      ARROW_RETURN_NOT_OK(InterruptToken().Poll());
    } else if (errno == EPIPE) {
      return Status::IOError(fmt::format("cannot write '{}': the reader has gone", name))
          .WithDetail(std::make_shared<BrokenPipe>());
    } else {
      return Failure("cannot write", name, errno);
    }
  }
  return Status::OK();
}

// Does not close the descriptor.
class DescriptorStream : public arrow::io::OutputStream {
 public:
  DescriptorStream(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  using arrow::io::OutputStream::Write;
  Status Write(const void* data, int64_t size) override {
    ARROW_RETURN_NOT_OK(WriteFully(descriptor_, static_cast<const char*>(data), size, name_));
    position_ += size;
    return Status::OK();
  }
  Status Close() override {
    closed_ = true;
    return Status::OK();
  }
  Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return closed_; }

 private:
  int descriptor_;
  std::string name_;
  int64_t position_ = 0;
  bool closed_ = false;
};

class DirectOutput : public Output {
 public:
  DirectOutput(int descriptor, const std::string& name, bool owned)
      : descriptor_(descriptor), owned_(owned), stream_(descriptor, name) {}
  ~DirectOutput() override {
    if (owned_) close(descriptor_);
  }
  arrow::io::OutputStream* stream() override { return &stream_; }
  Status Commit() override { return Status::OK(); }

 private:
  int descriptor_;
  bool owned_;
  DescriptorStream stream_;
};

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status SyncFolder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return Failure("cannot open folder", folder, errno);
  const int result = fsync(descriptor);
  const int error = errno;
  close(descriptor);
  // Some file systems have no way to sync a folder, and say so.
  return result != 0 && error != EINVAL ? Failure("cannot sync folder", folder, error) : Status::OK();
}

Status TakenError(const std::string& path) {
  return Status::AlreadyExists(fmt::format("'{}' already exists (--force replaces it)", path));
}

// A name as long as names may be leaves no room for what a temporary one adds. Cut between characters of UTF-8, since
// some file systems refuse anything else.
std::string Shortened(const std::string& name) {
  size_t length = std::min<size_t>(name.size(), 100);
  while (length > 0 && length < name.size() && (static_cast<unsigned char>(name[length]) & 0xC0) == 0x80) --length;
  return name.substr(0, length);
}

class FileOutput : public Output {
 public:
  static Result<std::unique_ptr<Output>> Create(const std::string& path, bool force) {
    const size_t slash = path.rfind('/');
    const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
    std::string temporary = fmt::format("{}/.{}.{}.tmp", FolderOf(path), Shortened(base), getpid());
    const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return Failure("cannot create", path, errno);
    return std::unique_ptr<Output>(new FileOutput(path, std::move(temporary), descriptor, force));
  }
  ~FileOutput() override {
    if (descriptor_ >= 0) close(descriptor_);
    if (!committed_) unlink(temporary_.c_str());
    SetFileToRemove("");
  }

  arrow::io::OutputStream* stream() override { return &stream_; }
  Status Commit() override {
    if (fsync(descriptor_) != 0) return Failure("cannot sync", path_, errno);
    const int closed = close(std::exchange(descriptor_, -1));
    if (closed != 0) return Failure("cannot close", path_, errno);
    ARROW_RETURN_NOT_OK(Rename());
    committed_ = true;
    return SyncFolder(FolderOf(path_));
  }

 private:
  FileOutput(const std::string& path, std::string temporary, int descriptor, bool force)
      : path_(path),
        temporary_(std::move(temporary)),
        descriptor_(descriptor),
        force_(force),
        stream_(descriptor, path) {
    SetFileToRemove(temporary_);
  }

  // Without force the name must still be free, which link() checks and claims in one step.
  Status Rename() {
    if (!force_) {
      if (link(temporary_.c_str(), path_.c_str()) == 0) {
        unlink(temporary_.c_str());
        return Status::OK();
      }
      if (errno == EEXIST) return TakenError(path_);
      // The file system has no hard links.
    }
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return Failure("cannot rename to", path_, errno);
    return Status::OK();
  }

  std::string path_, temporary_;
  int descriptor_;
  bool force_;
  bool committed_ = false;
  DescriptorStream stream_;
};

}  // namespace

bool IsBrokenPipe(const Status& status) {
  return status.detail() != nullptr && std::string_view(status.detail()->type_id()) == BrokenPipe::kId;
}

Status Print(std::string_view text) {
  return WriteFully(STDOUT_FILENO, text.data(), static_cast<int64_t>(text.size()), "standard output");
}

void PrintToStderr(std::string_view text) noexcept { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void ReopenClosedDescriptors() noexcept {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() takes the lowest free number, which is this one. Read-only, so that writing to it fails.
    (void)open("/dev/null", O_RDONLY);
  }
}

Result<std::unique_ptr<Output>> Output::Open(const std::string& path, bool force) {
  if (path.empty() || path == "-") {
    return std::make_unique<DirectOutput>(STDOUT_FILENO, "standard output", false);
  }
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return FileOutput::Create(path, force);
  if (S_ISDIR(info.st_mode)) return Status::IOError(fmt::format("'{}' is a folder", path));
  if (S_ISREG(info.st_mode)) {
    if (!force) return TakenError(path);
    return FileOutput::Create(path, force);
  }
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return Failure("cannot open", path, errno);
  return std::make_unique<DirectOutput>(descriptor, path, true);
}

}  // namespace calve::cli
