#include "calve/iceberg/table_files.h"

#include "calve/base/status.h"
#include "calve/iceberg/metadata_file.h"
#include "calve/io/file_io.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

namespace calve::iceberg {
namespace {

void CollectManifests(const FileIO& io, const TableMetadata& metadata, const Snapshot& snapshot,
                      std::set<std::string>* seen, std::set<std::string>* files) {
  if (!snapshot.manifest_list.empty()) files->insert(snapshot.manifest_list);
  Result<std::vector<ManifestFile>> manifests = ManifestsOf(io, metadata, snapshot);
  if (!manifests.ok()) return;
  for (const ManifestFile& manifest : *manifests) {
    if (!seen->insert(manifest.manifest_path).second) continue;
    files->insert(manifest.manifest_path);
    Result<std::vector<ManifestEntry>> entries = ReadManifest(io, metadata, manifest);
    if (!entries.ok()) continue;
    for (const ManifestEntry& entry : *entries) files->insert(entry.file.file_path);
  }
}

/// `statistics-path` of every statistics file.
void CollectStatistics(const TableMetadata& metadata, std::set<std::string>* files) {
  if (!metadata.unknown || !metadata.unknown->is_object()) return;
  for (const char* member : {"statistics", "partition-statistics"}) {
    auto found = metadata.unknown->find(member);
    if (found == metadata.unknown->end() || !found->is_array()) continue;
    for (const nlohmann::json& entry : *found) {
      if (!entry.is_object()) continue;
      auto path = entry.find("statistics-path");
      if (path != entry.end() && path->is_string()) files->insert(path->get<std::string>());
    }
  }
}

/// Deletes `location`, and the checksum file that Hadoop writers put beside it.
Status DeleteFile(const FileIO& io, const std::string& location) {
  const std::string_view name = FileNameOf(location);
  const std::string folder = location.substr(0, location.size() - name.size());
  const std::string checksum = fmt::format("{}.{}.crc", folder, name);
  if (io.Exists(checksum).ValueOr(false)) ARROW_UNUSED(io.Delete(checksum));
  return io.Delete(location);
}

void RemoveEmptyFolders(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> children;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (std::filesystem::is_directory(entry->symlink_status(ignored))) children.push_back(entry->path());
  }
  for (const std::filesystem::path& child : children) RemoveEmptyFolders(child);
  // Removes nothing but an empty folder.
  std::filesystem::remove(folder, ignored);
}

}  // namespace

Result<std::vector<std::string>> FilesOfTable(const FileIO& io, const TableVersion& version) {
  const TableMetadata& metadata = version.metadata;
  ARROW_ASSIGN_OR_RAISE(bool collectable, metadata.BoolProperty("gc.enabled", true));
  if (!collectable) return NotImplemented("deleting the files of a table with gc.enabled=false");
  std::set<std::string> files, seen;
  for (const Snapshot& snapshot : metadata.snapshots) CollectManifests(io, metadata, snapshot, &seen, &files);
  CollectStatistics(metadata, &files);
  for (const LogEntry& entry : metadata.metadata_log) files.insert(entry.metadata_file);
  files.insert(version.metadata_location);

  std::vector<std::string> own;
  const std::string location = NormalizeLocation(metadata.location) + "/";
  for (const std::string& file : files) {
    const std::string normal = NormalizeLocation(file);
    if (normal.starts_with(location) && normal.find("/../") == std::string::npos) own.push_back(file);
  }
  return own;
}

Status DeleteTableFiles(const FileIO& io, const std::string& folder, const std::vector<std::string>& files) {
  const std::string metadata_folder = JoinLocation(folder, "metadata");
  Result<std::vector<std::string>> names = io.List(metadata_folder);
  if (names.ok()) {
    for (const std::string& name : *names) {
      if (name != "version-hint.text" && !ParseMetadataFileName(name)) continue;
      ARROW_RETURN_NOT_OK(DeleteFile(io, JoinLocation(metadata_folder, name)));
    }
  }
  Status failure;
  for (const std::string& file : files) {
    if (!io.Exists(file).ValueOr(true)) continue;
    Status deleted = DeleteFile(io, file);
    if (failure.ok()) failure = deleted;
  }
  ARROW_ASSIGN_OR_RAISE(std::string path, io.LocalPath(folder));
  RemoveEmptyFolders(path);
  return failure;
}

}  // namespace calve::iceberg
