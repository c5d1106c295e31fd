#include "calve/iceberg/metadata_file.h"

#include "calve/base/checked.h"
#include "calve/base/status.h"
#include "calve/compress/codec.h"
#include "calve/iceberg/commit.h"
#include "calve/io/file_io.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace calve::iceberg {
namespace {

/// The digits at the start of `text` as a number, and how many there are; nothing when there are none or too many.
std::optional<std::pair<int64_t, size_t>> LeadingNumber(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-') return std::nullopt;
  return std::pair(number, static_cast<size_t>(end - text.data()));
}

std::optional<std::string_view> WithoutEnding(std::string_view name) {
  // The longest ending first: ".gz.metadata.json" also ends in ".metadata.json".
  for (std::string_view ending : {kMetadataEndings[1], kMetadataEndings[2], kMetadataEndings[0]}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return std::nullopt;
}

}  // namespace

std::optional<MetadataFileName> ParseMetadataFileName(std::string_view name) {
  std::optional<std::string_view> stem = WithoutEnding(name);
  if (!stem || stem->empty()) return std::nullopt;
  const bool of_folder = stem->front() == 'v';
  std::string_view rest = of_folder ? stem->substr(1) : *stem;
  if (rest.empty()) return std::nullopt;
  auto number = LeadingNumber(rest);
  if (!number) return std::nullopt;
  rest.remove_prefix(number->second);
  if (of_folder) return rest.empty() ? std::optional(MetadataFileName{number->first, false}) : std::nullopt;
  if (rest.size() < 2 || rest.front() != '-') return std::nullopt;
  return MetadataFileName{number->first, true};
}

std::string_view FileNameOf(std::string_view location) {
  const size_t slash = location.rfind('/');
  return slash == std::string_view::npos ? location : location.substr(slash + 1);
}

std::string JoinLocation(std::string_view base, std::string_view name) {
  while (base.size() > 1 && base.ends_with('/')) base.remove_suffix(1);
  while (name.starts_with('/')) name.remove_prefix(1);
  return fmt::format("{}{}{}", base, base.ends_with('/') ? "" : "/", name);
}

Result<MetadataCodec> MetadataCodec::Of(const TableMetadata& metadata) {
  std::string name = metadata.Property("write.metadata.compression-codec", "none");
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "none" || name == "uncompressed") return MetadataCodec{false};
  if (name == "gzip") return MetadataCodec{true};
  return NotImplemented("metadata compression '{}' (write.metadata.compression-codec)", name);
}

Result<std::string> MetadataCodec::Encode(const TableMetadata& metadata) const {
  ARROW_ASSIGN_OR_RAISE(std::string text, ToJsonText(metadata));
  if (!gzip) return text;
  return CompressToString(Codec::kGzip, std::nullopt, text);
}

std::string NextCatalogFileName(std::string_view previous, MetadataCodec codec) {
  std::optional<MetadataFileName> name = ParseMetadataFileName(FileNameOf(previous));
  const int64_t version = name ? CheckedAdd<int64_t>(name->version, 1).value_or(name->version) : 0;
  return fmt::format("{:05}-{}{}", version, NewUuid(), codec.ending());
}

Result<TableMetadata> ReadMetadataFile(const FileIO& io, const std::string& location) {
  ARROW_ASSIGN_OR_RAISE(std::string bytes, io.ReadAll(location));
  return WithContext(ParseTableMetadata(bytes), fmt::format("table metadata {}", location));
}

}  // namespace calve::iceberg
