#pragma once

#include "calve/iceberg/table_metadata.h"

#include <optional>
#include <string>
#include <string_view>

namespace calve {
class FileIO;
}

namespace calve::iceberg {

/// The name of a metadata file, taken apart. Two schemes are in use ("File System Tables", "Metastore Tables"):
///
///     v<version>.metadata.json            of a table that a folder with version files is the only record of
///     <version>-<uuid>.metadata.json      of a table that a catalog points to
///
/// Gzipped files are named .gz.metadata.json, or .metadata.json.gz by old writers.
struct MetadataFileName {
  int64_t version = 0;
  bool of_catalog = false;  ///< the second scheme; any text after the dash is taken
};

/// Nothing when `name` (without folder) follows neither scheme.
std::optional<MetadataFileName> ParseMetadataFileName(std::string_view name);

/// The part of `location` after its last slash.
std::string_view FileNameOf(std::string_view location);

/// `base` and `name` with one slash between.
std::string JoinLocation(std::string_view base, std::string_view name);

/// The endings that a metadata file of a version may have, the usual one first.
inline constexpr std::string_view kMetadataEndings[] = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};

/// How metadata files are compressed: `write.metadata.compression-codec`, "none" (default) or "gzip".
struct MetadataCodec {
  bool gzip = false;

  static Result<MetadataCodec> Of(const TableMetadata& metadata);
  /// ".metadata.json" or ".gz.metadata.json".
  std::string_view ending() const { return kMetadataEndings[gzip ? 1 : 0]; }
  /// The bytes of a metadata file.
  Result<std::string> Encode(const TableMetadata& metadata) const;
};

/// "00004-<uuid>.metadata.json" for the version after `previous`, the location of a metadata file of either scheme;
/// version 0 when it is empty or of neither.
std::string NextCatalogFileName(std::string_view previous, MetadataCodec codec);

/// Reads and parses the metadata file at `location`; errors name it.
Result<TableMetadata> ReadMetadataFile(const FileIO& io, const std::string& location);

}  // namespace calve::iceberg
