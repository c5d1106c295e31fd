#include "calve/shuffle/spill_file.h"

#include "calve/base/status.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <random>

namespace calve::shuffle {

namespace {

// Where the file system has no files without a name, it is given one and loses it at once.
FileDescriptor OpenNameless(const std::string& folder) {
#ifdef O_TMPFILE
  FileDescriptor file(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC | O_EXCL, 0600));
  if (file.is_open()) return file;
#endif
  std::random_device random;
  const std::string path = fmt::format("{}/.spill.{:08x}{:08x}.tmp", folder, random(), random());
  FileDescriptor named(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (named.is_open()) ::unlink(path.c_str());
  return named;
}

}  // namespace

Result<std::unique_ptr<SpillFile>> SpillFile::Make(const std::string& folder) {
  FileDescriptor file = OpenNameless(folder);
  const std::string location = "a spill file in " + folder;
  if (!file.is_open()) return SystemError(errno, "create", location);
  return std::unique_ptr<SpillFile>(new SpillFile(std::move(file), location));
}

Status SpillFile::Append(std::span<const uint8_t> bytes) {
  if (bytes.size() >= kLargeWrite || buffer_.size() + bytes.size() > kBufferSize) return WriteOut(bytes);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return Status::OK();
}

Status SpillFile::Flush() { return WriteOut({}); }

Status SpillFile::ReadAt(int64_t begin, int64_t size, uint8_t* out) const {
  ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadFully(file_, begin, size, out, location_));
  return got == size ? Status::OK() : IOError("cannot read {}: it was cut short", location_);
}

Status SpillFile::WriteOut(std::span<const uint8_t> more) {
  const auto text = [](std::span<const uint8_t> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  ARROW_RETURN_NOT_OK(WriteFully(file_, text(buffer_), text(more), location_));
  written_ += static_cast<int64_t>(buffer_.size() + more.size());
  buffer_.clear();
  return Status::OK();
}

}  // namespace calve::shuffle
