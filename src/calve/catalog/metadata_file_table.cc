#include "calve/catalog/metadata_file_table.h"

#include "calve/base/status.h"
#include "calve/iceberg/metadata_file.h"

namespace calve {

using iceberg::TableMetadata;
using iceberg::TableVersion;

MetadataFileTable::MetadataFileTable(FileIO io, std::string location)
    : io_(std::move(io)), location_(std::move(location)) {}

Result<TableVersion> MetadataFileTable::Load() {
  ARROW_ASSIGN_OR_RAISE(TableMetadata metadata, iceberg::ReadMetadataFile(io_, location_));
  return TableVersion{std::move(metadata), location_};
}

Result<TableVersion> MetadataFileTable::Swap(const TableVersion& base, const TableMetadata& next) {
  ARROW_RETURN_NOT_OK(CheckWritable(base));
  return Status::UnknownError("unreachable");
}

Status MetadataFileTable::CheckWritable(const TableVersion& version) const {
  return Invalid(
      "{} is a metadata file, which can be read only: to write, open the table by its folder or in its catalog",
      location_);
}

}  // namespace calve
