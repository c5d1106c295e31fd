// The metadata folder of a filesystem table:
//
//     v<N>.metadata.json | v<N>.gz.metadata.json | v<N>.metadata.json.gz     version N, never changed once it is there
//     version-hint.text                                                      N in decimal; may be stale or missing
//
// Folders of tables that a catalog points to hold <N>-<uuid>.metadata.json and so on; some writers leave a hint with
// the name of the current one without its ending.

#include "calve/catalog/filesystem_table.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"

#include <charconv>
#include <filesystem>

namespace calve {
namespace {

using iceberg::JoinLocation;
using iceberg::MetadataCodec;
using iceberg::TableMetadata;
using iceberg::TableVersion;

constexpr char kHintName[] = "version-hint.text";
/// Times that a version found is gone before it is read (deleted by writers that keep few versions) until Load gives
/// up.
constexpr int kLoadTries = 5;

std::optional<int64_t> ParseVersion(std::string_view text) {
  int64_t version = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version < 0) return std::nullopt;
  return version;
}

/// The hint's text without white space around it; empty when there is none.
std::string ReadHint(const FileIO& io, const std::string& metadata_folder) {
  std::string text = io.ReadAll(JoinLocation(metadata_folder, kHintName)).ValueOr("");
  constexpr char kSpace[] = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

/// The name of the file of `version`, in whichever spelling it is there.
Result<std::optional<std::string>> FindVersion(const FileIO& io, const std::string& metadata_folder, int64_t version) {
  for (std::string_view ending : iceberg::kMetadataEndings) {
    std::string name = fmt::format("v{}{}", version, ending);
    ARROW_ASSIGN_OR_RAISE(bool exists, io.Exists(JoinLocation(metadata_folder, name)));
    if (exists) return name;
  }
  return std::nullopt;
}

/// The newest version reached from `version` step by step; nothing when `version` itself is not there.
Result<std::optional<CurrentMetadata>> ProbeForward(const FileIO& io, const std::string& metadata_folder,
                                                    int64_t version) {
  std::optional<CurrentMetadata> newest;
  for (std::optional<int64_t> next = version; next; next = CheckedAdd<int64_t>(*next, 1)) {
    ARROW_ASSIGN_OR_RAISE(std::optional<std::string> name, FindVersion(io, metadata_folder, *next));
    if (!name) return newest;
    newest = CurrentMetadata{{*next, false}, std::move(*name)};
  }
  return newest;
}

/// The newest of a catalog's metadata files among `names`.
Result<std::optional<CurrentMetadata>> NewestOfCatalog(const std::vector<CurrentMetadata>& files,
                                                       const std::string& hint, const std::string& metadata_folder) {
  const CurrentMetadata* newest = nullptr;
  const CurrentMetadata* rival = nullptr;
  auto hinted = [&](const CurrentMetadata& file) { return !hint.empty() && file.file_name.starts_with(hint + "."); };
  for (const CurrentMetadata& file : files) {
    if (newest == nullptr || file.name.version > newest->name.version) {
      newest = &file;
      rival = nullptr;
    } else if (file.name.version == newest->name.version) {
      rival = hinted(file) ? newest : &file;
      newest = hinted(file) ? &file : newest;
    }
  }
  if (newest == nullptr) return std::nullopt;
  if (rival != nullptr && !hinted(*newest)) {
    return Invalid(
        "{} holds two metadata files of version {} ({} and {}): open the table through its catalog, or name one of "
        "them",
        metadata_folder, newest->name.version, newest->file_name, rival->file_name);
  }
  return *newest;
}

Result<std::optional<CurrentMetadata>> NewestByListing(const FileIO& io, const std::string& metadata_folder,
                                                       const std::string& hint) {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> names, io.List(metadata_folder));
  std::optional<CurrentMetadata> newest;
  std::vector<CurrentMetadata> of_catalog;
  for (std::string& name : names) {
    std::optional<iceberg::MetadataFileName> parsed = iceberg::ParseMetadataFileName(name);
    if (!parsed) continue;
    if (parsed->of_catalog) {
      of_catalog.push_back({*parsed, std::move(name)});
    } else if (!newest || parsed->version > newest->name.version) {
      newest = CurrentMetadata{*parsed, std::move(name)};
    }
  }
  if (newest) return newest;
  return NewestOfCatalog(of_catalog, hint, metadata_folder);
}

std::filesystem::path Canonical(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path canonical = std::filesystem::weakly_canonical(path, ignored);
  return ignored ? std::filesystem::path(path) : canonical;
}

}  // namespace

Result<std::optional<CurrentMetadata>> FindCurrentMetadata(const FileIO& io, const std::string& folder) {
  const std::string metadata_folder = JoinLocation(folder, "metadata");
  ARROW_ASSIGN_OR_RAISE(bool exists, io.Exists(metadata_folder));
  if (!exists) return std::nullopt;
  const std::string hint = ReadHint(io, metadata_folder);
  if (std::optional<int64_t> version = ParseVersion(hint)) {
    ARROW_ASSIGN_OR_RAISE(std::optional<CurrentMetadata> newest, ProbeForward(io, metadata_folder, *version));
    if (newest) return newest;
  }
  return NewestByListing(io, metadata_folder, hint);
}

FilesystemTable::FilesystemTable(FileIO io, std::string folder, std::string name)
    : io_(std::move(io)), folder_(std::move(folder)), name_(std::move(name)) {}

Status FilesystemTable::NoTable() const {
  return Invalid("no such table: {} ({} has no metadata files)", name_, JoinLocation(folder_, "metadata"));
}

Result<TableVersion> FilesystemTable::Load() {
  Status failure;
  for (int i = 0; i < kLoadTries; ++i) {
    ARROW_ASSIGN_OR_RAISE(std::optional<CurrentMetadata> current, FindCurrentMetadata(io_, folder_));
    if (!current) return NoTable();
    const std::string location = JoinLocation(JoinLocation(folder_, "metadata"), current->file_name);
    Result<TableMetadata> metadata = iceberg::ReadMetadataFile(io_, location);
    if (metadata.ok()) {
      std::string folder = MetadataFolder(*metadata);
      return TableVersion{std::move(*metadata), JoinLocation(folder, current->file_name)};
    }
    failure = metadata.status();
    if (!failure.IsIOError() || io_.Exists(location).ValueOr(true)) break;
  }
  return failure;
}

bool FilesystemTable::LiesHere(const TableMetadata& metadata) const {
  Result<std::string> theirs = io_.LocalPath(metadata.location);
  Result<std::string> ours = io_.LocalPath(folder_);
  return theirs.ok() && ours.ok() && Canonical(*theirs) == Canonical(*ours);
}

std::string FilesystemTable::MetadataFolder(const TableMetadata& metadata) const {
  return JoinLocation(LiesHere(metadata) ? metadata.location : folder_, "metadata");
}

Status FilesystemTable::CheckWritable(const TableVersion& version) const {
  auto name = iceberg::ParseMetadataFileName(iceberg::FileNameOf(version.metadata_location));
  if (!name || name->of_catalog) {
    return Invalid(
        "{} belongs to a catalog ({}): committing to its folder would fork it; name the table in its catalog", name_,
        iceberg::FileNameOf(version.metadata_location));
  }
  if (LiesHere(version.metadata)) return Status::OK();
  return Invalid("{} was copied: its metadata says it lies at {}; to write to it say that {} moved to {}", name_,
                 version.metadata.location, version.metadata.location, folder_);
}

Status FilesystemTable::CheckUnpublished(int64_t version) const {
  ARROW_ASSIGN_OR_RAISE(std::optional<CurrentMetadata> current, FindCurrentMetadata(io_, folder_));
  const int64_t newest = current ? current->name.version : 0;
  if (newest == version - 1) return Status::OK();
  return CommitError(CommitFailure::kConflict,
                     fmt::format("{}: version {} was committed meanwhile, expected {}", name_, newest, version - 1));
}

Result<TableVersion> FilesystemTable::Swap(const TableVersion& base, const TableMetadata& next) {
  ARROW_RETURN_NOT_OK(CheckWritable(base));
  const int64_t previous = iceberg::ParseMetadataFileName(iceberg::FileNameOf(base.metadata_location))->version;
  const std::optional<int64_t> after = CheckedAdd<int64_t>(previous, 1);
  if (!after) return Invalid("{}: the version after {} overflows", name_, previous);
  const int64_t version = *after;
  ARROW_RETURN_NOT_OK(CheckUnpublished(version));
  ARROW_ASSIGN_OR_RAISE(MetadataCodec codec, MetadataCodec::Of(base.metadata));
  ARROW_ASSIGN_OR_RAISE(TableVersion published, Publish(next, version, codec));
  ARROW_RETURN_NOT_OK(CheckPublished(version));
  AdvanceHint(version);
  return published;
}

Result<TableVersion> FilesystemTable::Publish(const TableMetadata& metadata, int64_t version, MetadataCodec codec) {
  ARROW_ASSIGN_OR_RAISE(std::string bytes, codec.Encode(metadata));
  const std::string file_name = fmt::format("v{}{}", version, codec.ending());
  const std::string location = JoinLocation(MetadataFolder(metadata), file_name);
  Status created = io_.CreateNew(location, bytes);
  if (created.IsAlreadyExists()) {
    return CommitError(CommitFailure::kConflict, fmt::format("{}: version {} was committed meanwhile", name_, version));
  }
  if (!created.ok()) {
    // It may have got its name before the failure (of syncing the folder, say).
    const bool absent = !io_.Exists(location).ValueOr(true);
    if (absent) return created;
    return CommitError(CommitFailure::kStateUnknown, created.message());
  }
  return TableVersion{metadata, location};
}

Status FilesystemTable::CheckPublished(int64_t version) const {
  const std::string metadata_folder = JoinLocation(folder_, "metadata");
  const std::optional<int64_t> hint = ParseVersion(ReadHint(io_, metadata_folder));
  if (!hint || *hint <= version) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(std::optional<std::string> newer, FindVersion(io_, metadata_folder, *hint));
  if (!newer) return Status::OK();
  return CommitError(CommitFailure::kStateUnknown,
                     fmt::format("{}: version {} is there already, after {}", name_, *hint, version));
}

void FilesystemTable::AdvanceHint(int64_t version) const {
  const std::string metadata_folder = JoinLocation(folder_, "metadata");
  const std::optional<int64_t> hint = ParseVersion(ReadHint(io_, metadata_folder));
  if (hint && *hint >= version) return;
  // Hadoop writers keep a checksum beside the hint, which would not fit the new one.
  ARROW_UNUSED(io_.Delete(JoinLocation(metadata_folder, fmt::format(".{}.crc", kHintName))));
  // The commit stands without it: readers probe forward from the old one.
  ARROW_UNUSED(io_.Replace(JoinLocation(metadata_folder, kHintName), fmt::format("{}", version)));
}

Result<TableVersion> FilesystemTable::Create(const TableMetadata& metadata) {
  const Status exists = Status::AlreadyExists(fmt::format("table {} exists already, at {}", name_, folder_));
  ARROW_ASSIGN_OR_RAISE(std::optional<CurrentMetadata> current, FindCurrentMetadata(io_, folder_));
  if (current) return exists;
  ARROW_ASSIGN_OR_RAISE(MetadataCodec codec, MetadataCodec::Of(metadata));
  Result<TableVersion> version = Publish(metadata, 1, codec);
  if (CommitFailureOf(version.status()) == CommitFailure::kConflict) return exists;
  if (version.ok()) AdvanceHint(1);
  return version;
}

}  // namespace calve
