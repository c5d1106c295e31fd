#include "calve/io/file_io.h"

#include "calve/base/status.h"
#include "calve/io/local_file.h"
#include "calve/io/local_output.h"
#include "calve/io/location.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace calve {
namespace {

Status WriteWhole(const std::string& path, std::string_view location, std::string_view bytes, Publication publication) {
  ARROW_ASSIGN_OR_RAISE(auto output, LocalOutput::Make(path, location));
  ARROW_RETURN_NOT_OK(output->stream()->Write(bytes.data(), static_cast<int64_t>(bytes.size())));
  return output->Publish(publication).status();
}

}  // namespace

Result<std::string> FileIO::LocalPath(std::string_view location) const {
  auto path = paths_.Map(location);
  auto scheme = SchemeOf(path);
  if (!scheme.empty()) return NotImplemented("scheme '{}' of {} (only local files can be reached)", scheme, path);
  if (path.empty()) return Invalid("an empty location names no file");
  if (path.find('\0') != std::string::npos) return Invalid("a location with a zero byte names no file");
  return path;
}

Result<bool> FileIO::Exists(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return SystemError(errno, "look for", location);
}

Result<int64_t> FileIO::Size(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return SystemError(errno, "look for", location);
  if (!S_ISREG(info.st_mode)) return IOError("not a regular file: {}", location);
  return static_cast<int64_t>(info.st_size);
}

Result<std::string> FileIO::ReadAll(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  int64_t size = 0;
  ARROW_ASSIGN_OR_RAISE(auto file, OpenForReading(path, location, &size));
  std::string bytes(static_cast<size_t>(size), '\0');
  ARROW_ASSIGN_OR_RAISE(int64_t got, ReadFully(file, 0, size, bytes.data(), location));
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

Result<std::shared_ptr<arrow::io::RandomAccessFile>> FileIO::Open(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  return OpenLocalFile(path, location);
}

Status FileIO::CreateNew(std::string_view location, std::string_view bytes) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  return WriteWhole(path, location, bytes, Publication::kNew);
}

Status FileIO::Replace(std::string_view location, std::string_view bytes) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  return WriteWhole(path, location, bytes, Publication::kReplace);
}

Status FileIO::Delete(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  return ::unlink(path.c_str()) == 0 ? Status::OK() : SystemError(errno, "delete", location);
}

Result<std::vector<std::string>> FileIO::List(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) {
    return errno == ENOENT ? IOError("no such folder: {}", location) : SystemError(errno, "list", location);
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
    errno = 0;
  }
  if (errno != 0) return SystemError(errno, "list", location);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::unique_ptr<FileIO::Output>> FileIO::Create(std::string_view location) const {
  ARROW_ASSIGN_OR_RAISE(auto path, LocalPath(location));
  ARROW_ASSIGN_OR_RAISE(auto output, LocalOutput::Make(path, location));
  return std::unique_ptr<Output>(std::move(output));
}

}  // namespace calve
