#include "calve/parquet/geometry_type.h"

#include "calve/parquet_reader.h"
#include "test_data.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// The expected metadata is what pyarrow 26 makes of the same columns where "geoarrow.wkb" is registered.

namespace calve::parquet {
namespace {

using Kind = LogicalType::Kind;

std::string MetadataOf(const arrow::DataType& type) {
  const auto& extension = static_cast<const arrow::ExtensionType&>(type);
  EXPECT_EQ(extension.extension_name(), "geoarrow.wkb");
  EXPECT_EQ(extension.storage_type()->id(), arrow::Type::BINARY);
  return extension.Serialize();
}

std::string Geometry(std::string crs, Kind kind = Kind::kGeometry, int algorithm = 0) {
  LogicalType type;
  type.kind = kind;
  type.crs = std::move(crs);
  type.algorithm = algorithm;
  const auto file = arrow::key_value_metadata({"known", "text"}, {R"({"type": "ProjectedCRS"})", "no json"});
  return MetadataOf(*GeometryType(type, file.get()));
}

TEST(GeometryType, FormsOfTheCrs) {
  EXPECT_EQ(Geometry(""), R"({"crs": "OGC:CRS84", "crs_type": "authority_code"})");
  EXPECT_EQ(Geometry("srid:5070"), R"({"crs": "5070", "crs_type": "srid"})");
  EXPECT_EQ(Geometry("EPSG:3857"), R"({"crs": "EPSG:3857"})");
  EXPECT_EQ(Geometry("a \" b"), R"({"crs": "a \" b"})");
  EXPECT_EQ(Geometry(R"({"id": 1})"), R"({"crs": {"id": 1}})");
  EXPECT_EQ(Geometry(R"({"cut)"), R"({"crs": "{\"cut"})");
  EXPECT_EQ(Geometry("projjson:known"), R"({"crs": {"type": "ProjectedCRS"}, "crs_type": "projjson"})");
  EXPECT_EQ(Geometry("projjson:text"), R"({"crs": "projjson:text"})");
  EXPECT_EQ(Geometry("projjson:absent"), R"({"crs": "projjson:absent"})");
}

TEST(GeometryType, EdgesOfGeographies) {
  EXPECT_EQ(Geometry("", Kind::kGeography),
            R"({"crs": "OGC:CRS84", "crs_type": "authority_code", "edges": "spherical"})");
  EXPECT_EQ(Geometry("EPSG:1", Kind::kGeography, 1), R"({"crs": "EPSG:1", "edges": "vincenty"})");
  EXPECT_EQ(Geometry("EPSG:1", Kind::kGeography, 4), R"({"crs": "EPSG:1", "edges": "karney"})");
}

TEST(GeometryType, MetadataIsJsonWhateverTheCrs) {
  for (const char* crs : {"\xff\xfe", "\n", "\\", "{", "{}}", "[1]"}) {
    EXPECT_TRUE(nlohmann::json::accept(Geometry(crs))) << crs;
  }
}

TEST(GeometryType, FilesOfParquetTesting) {
  CALVE_SHARED_DATA(data);
  const auto metadata = [&](const std::string& name, const std::string& column) {
    const auto file = ParquetReader::Open(data + "/parquet-testing/data/geospatial/" + name + ".parquet");
    EXPECT_TRUE(file.ok()) << file.status();
    return MetadataOf(*(*file)->schema()->GetFieldByName(column)->type());
  };
  EXPECT_EQ(metadata("crs-default", "geometry"), R"({"crs": "OGC:CRS84", "crs_type": "authority_code"})");
  EXPECT_EQ(metadata("crs-srid", "geometry"), R"({"crs": "5070", "crs_type": "srid"})");
  EXPECT_EQ(metadata("crs-geography", "geography"),
            R"({"crs": "OGC:CRS84", "crs_type": "authority_code", "edges": "spherical"})");
  const auto projjson = nlohmann::json::parse(metadata("crs-projjson", "geometry"));
  EXPECT_EQ(projjson["crs"]["id"]["code"], 5070);
  EXPECT_EQ(projjson["crs_type"], "projjson");
  const auto embedded = nlohmann::json::parse(metadata("crs-arbitrary-value", "geometry"));
  EXPECT_EQ(embedded["crs"], projjson["crs"]);
}

TEST(GeometryType, GeoParquetStaysAsItIs) {
  CALVE_SHARED_DATA(data);
  const auto file = ParquetReader::Open(data + "/hyparquet/geoparquet.parquet");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->schema()->GetFieldByName("geometry")->type()->id(), arrow::Type::BINARY);
  EXPECT_NE((*file)->schema()->metadata()->FindKey("geo"), -1);
}

}  // namespace
}  // namespace calve::parquet
