#pragma once

#include "calve/io/file_io.h"
#include "calve/io/local_file.h"

namespace calve {

/// How a finished temporary file gets its name.
enum class Publication {
  kNew,      ///< AlreadyExists when the name is taken
  kReplace,  ///< what had the name is gone
};

/// A file under a temporary name (".NAME.RANDOM.tmp" in the folder of `path`) until it is published.
///
/// Destroyed before that it removes the temporary file, and the folders that it made when nothing else came into them.
class LocalOutput : public FileIO::Output {
 public:
  static Result<std::unique_ptr<LocalOutput>> Make(const std::string& path, std::string_view location);
  ~LocalOutput() override;

  arrow::io::OutputStream* stream() override;
  Result<int64_t> Commit() override { return Publish(Publication::kNew); }

  /// Writes out what is buffered, syncs, names the file and syncs its folder. When only the last step fails the file
  /// has its name but may not survive a crash: CommitFailure::kStateUnknown.
  Result<int64_t> Publish(Publication publication);

 private:
  class Stream;

  LocalOutput(std::string path, std::string location);
  Status OpenTemporary();
  Status MakeFolders(const std::string& folder);
  Status Name(Publication publication);
  void Discard();

  std::string path_, location_, temporary_path_;
  std::vector<std::string> made_folders_;  ///< outermost first
  std::unique_ptr<Stream> stream_;
  bool published_ = false;
};

}  // namespace calve
