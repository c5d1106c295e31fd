#pragma once

#include "calve/shuffle.h"

#include <optional>
#include <string>
#include <string_view>

namespace calve::shuffle {

/// The files of one task, and of the whole shuffle.
struct TaskPaths {
  std::string data, index, checksums;
};

/// Of task `task` of shuffle 0: "shuffle_0_<task>_0.data" and so on.
TaskPaths PathsOf(const std::string& folder, int64_t task);
std::string SchemaPathOf(const std::string& folder, int64_t shuffle);

/// The shuffle and task of an index file's name; none for other names.
struct TaskName {
  int64_t shuffle = 0, task = 0;
};
std::optional<TaskName> ParseIndexName(std::string_view name);

std::string IndexBytes(const ShuffleIndex& index);
/// As Spark's checksum files: a big-endian 64-bit number a partition.
std::string ChecksumBytes(const std::vector<uint32_t>& checksums);
arrow::Result<std::vector<uint32_t>> ParseChecksums(std::string_view bytes, int32_t partitions);

/// An Arrow IPC schema message.
arrow::Result<std::string> SchemaBytes(const arrow::Schema& schema);
arrow::Result<std::shared_ptr<arrow::Schema>> ParseSchemaBytes(std::string bytes);

}  // namespace calve::shuffle
