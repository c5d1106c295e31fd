#include "calve/pipeline/data_location.h"

#include "calve/base/status.h"
#include "calve/hash/hash.h"

namespace calve::pipeline {
namespace {

/// Twenty bits of the name's hash as folders of four, four, four and eight binary digits.
std::string HashFolders(const std::string& name) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(name.data());
  const uint32_t hash = Murmur3({bytes, name.size()}, 0);
  std::string digits;
  for (int bit = 19; bit >= 0; --bit) {
    digits += (hash >> bit & 1) != 0 ? '1' : '0';
    if (bit == 16 || bit == 12 || bit == 8) digits += '/';
  }
  return digits;
}

}  // namespace

Result<DataLocations> DataLocations::Make(const iceberg::TableMetadata& metadata) {
  DataLocations result;
  result.folder_ = iceberg::DataLocation(metadata);
  while (result.folder_.ends_with('/')) result.folder_.pop_back();
  result.uuid_ = iceberg::NewUuid();
  ARROW_ASSIGN_OR_RAISE(result.spread_, metadata.BoolProperty("write.object-storage.enabled", false));
  ARROW_ASSIGN_OR_RAISE(result.partition_folders_,
                        metadata.BoolProperty("write.object-storage.partitioned-paths", true));
  return result;
}

std::string DataLocations::New(const std::string& partition_path, int64_t task, int64_t count) const {
  const std::string name = fmt::format("{:05}-{}-{}.parquet", task, count, uuid_);
  std::string folder = folder_ + "/";
  if (spread_) {
    folder += HashFolders(name);
    if (!partition_folders_) return folder + "-" + name;
    folder += "/";
  }
  if (!partition_path.empty()) folder += partition_path + "/";
  return folder + name;
}

}  // namespace calve::pipeline
