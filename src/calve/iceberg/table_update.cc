#include "calve/base/status.h"
#include "calve/iceberg/commit.h"
#include "calve/iceberg/metadata_file.h"

#include <array>
#include <chrono>
#include <random>

namespace calve::iceberg {
namespace {

/// 16 bytes from the operating system. Never a seeded generator: forked processes would draw the same ids.
std::array<uint8_t, 16> RandomBytes() {
  std::random_device device;
  std::array<uint8_t, 16> bytes;
  for (size_t i = 0; i < bytes.size(); i += 4) {
    const uint32_t word = device();
    std::memcpy(bytes.data() + i, &word, 4);
  }
  return bytes;
}

std::array<uint8_t, 16> RandomUuid() {
  std::array<uint8_t, 16> bytes = RandomBytes();
  bytes[6] = static_cast<uint8_t>((bytes[6] & 0x0F) | 0x40);  // version 4
  bytes[8] = static_cast<uint8_t>((bytes[8] & 0x3F) | 0x80);  // variant of RFC 4122
  return bytes;
}

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// `property` when it is set, else `folder` below the table's location; relative paths are below the location too.
std::string LocationOf(const TableMetadata& metadata, const std::string& property, const std::string& folder) {
  const std::string path = metadata.Property(property, folder);
  const bool absolute = path.starts_with('/') || path.find(":/") != std::string::npos;
  return absolute ? path : JoinLocation(metadata.location, path);
}

void SetBranch(const Snapshot& snapshot, const std::string& branch, TableMetadata* next) {
  // Old writers leave main out of the refs.
  if (next->current_snapshot_id && !next->refs.contains("main")) {
    next->refs["main"] = SnapshotRef{*next->current_snapshot_id};
  }
  next->refs[branch].snapshot_id = snapshot.snapshot_id;
  if (branch != "main") return;
  next->current_snapshot_id = snapshot.snapshot_id;
  next->snapshot_log.push_back(LogEntry{snapshot.timestamp_ms, snapshot.snapshot_id, ""});
}

Status LogPrevious(const TableVersion& base, TableMetadata* next) {
  if (base.metadata_location.empty()) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(int64_t limit, next->IntProperty("write.metadata.previous-versions-max", 100));
  const size_t keep = static_cast<size_t>(std::max<int64_t>(limit, 1));
  std::vector<LogEntry>& log = next->metadata_log;
  log.push_back(LogEntry{base.metadata.last_updated_ms, 0, base.metadata_location});
  if (log.size() > keep) log.erase(log.begin(), log.end() - static_cast<std::ptrdiff_t>(keep));
  return Status::OK();
}

}  // namespace

std::string NewUuid() {
  const auto bytes = RandomUuid();
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

int64_t NewSnapshotId(const TableMetadata& metadata) {
  int64_t id = 0;
  do {
    const auto bytes = RandomUuid();
    uint64_t halves[2];
    std::memcpy(halves, bytes.data(), sizeof(halves));
    id = static_cast<int64_t>((halves[0] ^ halves[1]) & static_cast<uint64_t>(INT64_MAX));
  } while (id == 0 || metadata.FindSnapshot(id) != nullptr);
  return id;
}

std::string DataLocation(const TableMetadata& metadata) {
  return LocationOf(metadata, "write.data.path", metadata.Property("write.folder-storage.path", "data"));
}

std::string MetadataLocation(const TableMetadata& metadata) {
  return LocationOf(metadata, "write.metadata.path", "metadata");
}

int64_t NextTimestampMs(const TableMetadata& metadata) { return std::max(NowMs(), metadata.last_updated_ms); }

Result<TableMetadata> WithSnapshot(const TableVersion& base, const Snapshot& snapshot, const std::string& branch,
                                   int64_t next_row_id) {
  TableMetadata next = base.metadata;
  auto ref = next.refs.find(branch);
  if (ref != next.refs.end() && !ref->second.is_branch) {
    return Invalid("'{}' is a tag: only branches can be committed to", branch);
  }
  if (next.table_uuid.empty()) next.table_uuid = NewUuid();
  if (next.format_version >= 2) {
    next.last_sequence_number = std::max(next.last_sequence_number, snapshot.sequence_number);
  }
  if (next.format_version >= 3) next.next_row_id = std::max(next.next_row_id, next_row_id);
  next.last_updated_ms = std::max(next.last_updated_ms, snapshot.timestamp_ms);
  next.snapshots.push_back(snapshot);
  SetBranch(snapshot, branch, &next);
  ARROW_RETURN_NOT_OK(LogPrevious(base, &next));
  return next;
}

}  // namespace calve::iceberg
