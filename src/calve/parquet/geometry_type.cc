#include "calve/parquet/geometry_type.h"

#include "calve/base/status.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

constexpr std::array<std::string_view, 5> kEdges = {"spherical", "vincenty", "thomas", "andoyer", "karney"};

std::string_view EdgesOf(int algorithm) {
  const auto i = static_cast<size_t>(algorithm);
  return i < kEdges.size() ? kEdges[i] : "spherical";
}

std::string CrsOf(const nlohmann::json& metadata) {
  constexpr char kUnknown[] = "srid:0";
  const auto crs = metadata.find("crs");
  if (crs == metadata.end() || crs->is_null()) return kUnknown;
  if (!crs->is_string()) return crs->dump();
  const auto text = crs->get<std::string>();
  if (text == "OGC:CRS84") return "";  // Parquet's default
  const auto type = metadata.find("crs_type");
  return type != metadata.end() && *type == "srid" ? "srid:" + text : text;
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

Result<LogicalType> GeometryLogicalType(const arrow::ExtensionType& type) {
  const std::string text = type.Serialize();
  const auto metadata = text.empty() ? nlohmann::json::object() : nlohmann::json::parse(text, nullptr, false);
  if (!metadata.is_object()) return Invalid("the metadata of {} is no JSON object: {}", kName, text);
  LogicalType result;
  result.kind = LogicalType::Kind::kGeometry;
  result.crs = CrsOf(metadata);
  const auto edges = metadata.find("edges");
  if (edges == metadata.end() || edges->is_null() || *edges == "planar") return result;
  const auto found = std::find(kEdges.begin(), kEdges.end(), edges->is_string() ? edges->get<std::string>() : "");
  if (found == kEdges.end()) return Invalid("{} with unknown edges: {}", kName, edges->dump());
  result.kind = LogicalType::Kind::kGeography;
  result.algorithm = static_cast<int>(found - kEdges.begin());
  return result;
}

}  // namespace calve::parquet
