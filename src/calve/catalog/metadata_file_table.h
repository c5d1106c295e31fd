#pragma once

#include "calve/iceberg/commit.h"
#include "calve/io/file_io.h"

#include <string>

namespace calve {

/// A table opened by one of its metadata files: always at that version, and read-only.
class MetadataFileTable : public iceberg::TableStore {
 public:
  MetadataFileTable(FileIO io, std::string location);

  const FileIO& io() const override { return io_; }
  const std::string& name() const override { return location_; }
  Result<iceberg::TableVersion> Load() override;
  Result<iceberg::TableVersion> Swap(const iceberg::TableVersion& base, const iceberg::TableMetadata& next) override;
  Status CheckWritable(const iceberg::TableVersion& version) const override;

 private:
  FileIO io_;
  std::string location_;
};

}  // namespace calve
