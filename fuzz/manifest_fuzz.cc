// Any bytes as a manifest list and as a manifest of a small table.

#include "calve/iceberg/manifest.h"
#include "calve/io/file_io.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using calve::iceberg::Field;
using calve::iceberg::Primitive;
using calve::iceberg::TypeId;

calve::iceberg::TableMetadata SmallTable() {
  calve::iceberg::TableMetadata metadata;
  metadata.schemas.resize(1);
  metadata.schemas[0].fields = {Field{1, "id", false, Primitive(TypeId::kLong), "", nullptr, nullptr},
                                Field{2, "cat", false, Primitive(TypeId::kString), "", nullptr, nullptr}};
  metadata.partition_specs.resize(1);
  metadata.partition_specs[0].fields = {
      {1, 1000, "id_bucket", calve::iceberg::ParseTransform("bucket[4]").ValueOrDie()}};
  return metadata;
}

std::string ScratchFile() {
  return std::filesystem::temp_directory_path() / ("calve-manifest-fuzz-" + std::to_string(::getpid()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto metadata = SmallTable();
  static const auto location = ScratchFile();
  std::ofstream(location, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const calve::FileIO io;
  (void)calve::iceberg::ReadManifestList(io, location);
  calve::iceberg::ManifestFile manifest;
  manifest.manifest_path = location;
  manifest.manifest_length = static_cast<int64_t>(size);
  (void)calve::iceberg::ReadManifest(io, metadata, manifest);
  return 0;
}
