#include "calve/parquet/geometry_type.h"

#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string_view>

namespace calve::parquet {
namespace {

constexpr char kName[] = "geoarrow.wkb";

/// Stands in where the program has not registered a type of that name.
class WkbType : public arrow::ExtensionType {
 public:
  explicit WkbType(std::string metadata) : ExtensionType(arrow::binary()), metadata_(std::move(metadata)) {}

  std::string extension_name() const override { return kName; }
  bool ExtensionEquals(const ExtensionType& other) const override {
    return other.extension_name() == kName && other.storage_type()->Equals(*storage_type()) &&
           other.Serialize() == metadata_;
  }
  arrow::Result<std::shared_ptr<arrow::DataType>> Deserialize(std::shared_ptr<arrow::DataType> storage,
                                                              const std::string& metadata) const override {
    if (storage->id() != arrow::Type::BINARY) return Invalid("{} over {}", kName, storage->ToString());
    return std::make_shared<WkbType>(metadata);
  }
  std::string Serialize() const override { return metadata_; }
  std::shared_ptr<arrow::Array> MakeArray(std::shared_ptr<arrow::ArrayData> data) const override {
    return std::make_shared<arrow::ExtensionArray>(std::move(data));
  }

 private:
  std::string metadata_;
};

std::string Quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool IsJsonObject(std::string_view text) { return text.starts_with('{') && nlohmann::json::accept(text); }

/// "crs": ..., "crs_type": ...
std::string CrsMembers(std::string_view crs, const arrow::KeyValueMetadata* metadata) {
  constexpr std::string_view kSrid = "srid:", kProjJson = "projjson:";
  if (crs.empty()) return R"("crs": "OGC:CRS84", "crs_type": "authority_code")";
  if (crs.starts_with(kSrid)) {
    return fmt::format(R"("crs": {}, "crs_type": "srid")", Quoted(crs.substr(kSrid.size())));
  }
  if (crs.starts_with(kProjJson)) {
    const int found = metadata == nullptr ? -1 : metadata->FindKey(crs.substr(kProjJson.size()));
    if (found >= 0 && IsJsonObject(metadata->value(found))) {
      return fmt::format(R"("crs": {}, "crs_type": "projjson")", metadata->value(found));
    }
  }
  return fmt::format(R"("crs": {})", IsJsonObject(crs) ? std::string(crs) : Quoted(crs));
}

std::string_view EdgesOf(int algorithm) {
  constexpr std::array<std::string_view, 5> kNames = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
  const auto i = static_cast<size_t>(algorithm);
  return i < kNames.size() ? kNames[i] : "spherical";
}

}  // namespace

std::shared_ptr<arrow::DataType> GeometryType(const LogicalType& type, const arrow::KeyValueMetadata* metadata) {
  std::string json = "{" + CrsMembers(type.crs, metadata);
  if (type.kind == LogicalType::Kind::kGeography) {
    json += fmt::format(R"(, "edges": "{}")", EdgesOf(type.algorithm));
  }
  json += "}";
  if (const auto registered = arrow::GetExtensionType(kName)) {
    auto made = registered->Deserialize(arrow::binary(), json);
    if (made.ok()) return *made;
  }
  return std::make_shared<WkbType>(std::move(json));
}

}  // namespace calve::parquet
