#include "calve/iceberg/table_metadata.h"

#include "calve/compress/codec.h"
#include "calve/iceberg/json_members.h"
#include "test_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace calve::iceberg {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kV2[] = R"json({"format-version":2,"table-uuid":"4776f5ab-3595-4cad-ace2-c3c72de25ed2","location":"/w/t",
 "last-sequence-number":3,"last-updated-ms":4000,"last-column-id":2,"current-schema-id":1,
 "schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"a","required":true,"type":"int"}]},
  {"type":"struct","schema-id":1,"fields":[{"id":1,"name":"a","required":true,"type":"long"},
   {"id":2,"name":"b","required":false,"type":"decimal(9, 2)"}]}],
 "default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[
   {"name":"a_bucket","transform":"bucket[4]","source-id":1,"field-id":1000}]}],"last-partition-id":1000,
 "default-sort-order-id":1,"sort-orders":[{"order-id":0,"fields":[]},{"order-id":1,"fields":[
   {"transform":"identity","source-id":2,"direction":"desc","null-order":"nulls-last"}]}],
 "properties":{"owner":"me","commit.retry.num-retries":"7"},"current-snapshot-id":30,
 "refs":{"main":{"snapshot-id":30,"type":"branch","min-snapshots-to-keep":3},
  "old":{"snapshot-id":10,"type":"tag","max-ref-age-ms":99},"dev":{"snapshot-id":20,"type":"branch"}},
 "snapshots":[
  {"sequence-number":1,"snapshot-id":10,"timestamp-ms":1000,"summary":{"operation":"append"},"manifest-list":"/w/t/10.avro","schema-id":0},
  {"sequence-number":2,"snapshot-id":20,"parent-snapshot-id":10,"timestamp-ms":2000,"summary":{"operation":"append"},"manifest-list":"/w/t/20.avro","schema-id":0},
  {"sequence-number":3,"snapshot-id":30,"parent-snapshot-id":10,"timestamp-ms":3000,"summary":{"operation":"delete"},"manifest-list":"/w/t/30.avro","schema-id":1,"key-id":"k"}],
 "snapshot-log":[{"timestamp-ms":1000,"snapshot-id":10},{"timestamp-ms":3000,"snapshot-id":30}],
 "metadata-log":[{"timestamp-ms":1000,"metadata-file":"/w/t/v1.json"}],
 "statistics":[{"snapshot-id":30,"blob-metadata":[]}],"x-vendor":{"n":1.5}})json";

constexpr char kV1[] = R"json({"format-version":1,"location":"/w/t","last-updated-ms":4000,"last-column-id":1,
 "schema":{"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"int"}]},
 "partition-spec":[{"name":"a","transform":"identity","source-id":1}],"properties":{},"current-snapshot-id":10,
 "snapshots":[{"snapshot-id":10,"timestamp-ms":1000,"manifests":["/w/t/m1.avro","/w/t/m2.avro"]}]})json";

TableMetadata Parsed(std::string_view text) {
  auto metadata = ParseTableMetadata(text);
  EXPECT_TRUE(metadata.ok()) << metadata.status().ToString();
  return metadata.ok() ? *metadata : TableMetadata{};
}

// The message for kV2 with one member set (or, with null, taken away).
std::string ErrorWith(const char* member, const json& value) {
  json root = *ParseJson(kV2);
  if (value.is_null()) {
    root.erase(member);
  } else {
    root[member] = value;
  }
  auto metadata = ParseTableMetadata(root.dump());
  return metadata.ok() ? "" : metadata.status().message();
}

TEST(TableMetadata, ReadsEveryMember) {
  const TableMetadata metadata = Parsed(kV2);
  EXPECT_EQ(metadata.format_version, 2);
  EXPECT_EQ(metadata.location, "/w/t");
  EXPECT_EQ(metadata.schema().schema_id, 1);
  EXPECT_EQ(metadata.schema().FindById(1)->type->id, TypeId::kLong);
  EXPECT_EQ(metadata.spec().fields[0].transform.parameter, 4);
  EXPECT_EQ(metadata.sort_orders[1].fields[0].source_id, 2);
  EXPECT_FALSE(metadata.sort_orders[1].fields[0].ascending);
  EXPECT_EQ(metadata.current_snapshot()->operation(), "delete");
  EXPECT_EQ(metadata.refs.at("main").min_snapshots_to_keep, 3);
  EXPECT_FALSE(metadata.refs.at("old").is_branch);
  EXPECT_EQ(metadata.metadata_log[0].metadata_file, "/w/t/v1.json");
  EXPECT_EQ(metadata.snapshots[2].parent_snapshot_id, 10);
  ASSERT_NE(metadata.unknown, nullptr);
  EXPECT_TRUE(metadata.unknown->contains("statistics"));
  EXPECT_EQ(*metadata.IntProperty("commit.retry.num-retries", 4), 7);
  EXPECT_EQ(*metadata.IntProperty("commit.retry.min-wait-ms", 100), 100);
  EXPECT_EQ(metadata.IntProperty("owner", 1).status().message(),
            "table property 'owner': expected an integer, got 'me'");
  EXPECT_TRUE(metadata.BoolProperty("owner", true).status().IsInvalid());
}

TEST(TableMetadata, WritesWhatItRead) {
  auto text = ToJsonText(Parsed(kV2));
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*ParseJson(*text), *ParseJson(kV2));
}

TEST(TableMetadata, Version1WithoutWhatCameLater) {
  const TableMetadata metadata = Parsed(kV1);
  EXPECT_EQ(metadata.schema().fields[0].name, "a");
  EXPECT_EQ(metadata.spec().fields[0].field_id, 1000);
  EXPECT_EQ(metadata.last_partition_id, 1000);
  EXPECT_EQ(metadata.sort_orders.size(), 1u);
  EXPECT_EQ(metadata.refs.at("main").snapshot_id, 10);
  EXPECT_EQ(metadata.current_snapshot()->manifests.size(), 2u);
  EXPECT_EQ(metadata.current_snapshot()->sequence_number, 0);
  const json written = *ParseJson(*ToJsonText(metadata));
  EXPECT_EQ(written["schema"]["fields"], written["schemas"][0]["fields"]);
  EXPECT_EQ(written["partition-spec"], written["partition-specs"][0]["fields"]);
  EXPECT_FALSE(written.contains("last-sequence-number"));
  EXPECT_FALSE(written["snapshots"][0].contains("sequence-number"));
  EXPECT_EQ(written["snapshots"][0]["manifests"], json({"/w/t/m1.avro", "/w/t/m2.avro"}));
}

TEST(TableMetadata, ErrorsNameTheMember) {
  EXPECT_EQ(ErrorWith("location", nullptr), "metadata: missing member 'location'");
  EXPECT_EQ(ErrorWith("table-uuid", nullptr), "metadata: missing member 'table-uuid'");
  EXPECT_EQ(ErrorWith("schemas", nullptr), "metadata: missing member 'schemas'");
  EXPECT_EQ(ErrorWith("partition-specs", nullptr), "metadata: missing member 'partition-specs'");
  EXPECT_EQ(ErrorWith("sort-orders", nullptr), "metadata: missing member 'sort-orders'");
  EXPECT_EQ(ErrorWith("last-sequence-number", nullptr), "metadata: missing member 'last-sequence-number'");
  EXPECT_EQ(ErrorWith("last-column-id", "2"), "metadata: member 'last-column-id': expected an integer, got \"2\"");
  EXPECT_EQ(ErrorWith("last-column-id", 3'000'000'000),
            "metadata: member 'last-column-id': 3000000000 is out of the range of 32-bit integers");
  EXPECT_EQ(ErrorWith("last-updated-ms", 18446744073709551615u),
            "metadata: member 'last-updated-ms': 18446744073709551615 is out of the range of 64-bit integers");
  EXPECT_EQ(ErrorWith("last-updated-ms", 1.5), "metadata: member 'last-updated-ms': expected an integer, got 1.5");
  EXPECT_EQ(ErrorWith("current-schema-id", 5), "metadata: current-schema-id 5 is not among the schemas");
  EXPECT_EQ(ErrorWith("default-spec-id", 5), "metadata: default-spec-id 5 is not among the partition-specs");
  EXPECT_EQ(ErrorWith("current-snapshot-id", 20),
            "metadata: ref 'main' is at snapshot 30, but current-snapshot-id is 20");
  EXPECT_EQ(ErrorWith("current-snapshot-id", 5), "metadata: current-snapshot-id 5 is not among the snapshots");
  EXPECT_EQ(ErrorWith("snapshots", json::array({{{"snapshot-id", 30}}})),
            "metadata: snapshots[0]: missing member 'timestamp-ms'");
  EXPECT_EQ(ErrorWith("refs", {{"x", {{"snapshot-id", 30}, {"type", "fork"}}}}),
            "metadata: ref 'x': member 'type': expected \"branch\" or \"tag\", got \"fork\"");
  EXPECT_THAT(ErrorWith("schemas", json::array({1})), HasSubstr("schemas[0]: expected an object, got 1"));
  json twice = (*ParseJson(kV2))["snapshots"];
  twice[1]["snapshot-id"] = 10;
  EXPECT_EQ(ErrorWith("snapshots", twice), "metadata: snapshots: snapshot-id 10 stands twice");
}

TEST(TableMetadata, SnapshotsWithoutTheirManifestsAreErrors) {
  const json snapshots = (*ParseJson(kV2))["snapshots"];
  auto with = [&](const char* member, const json& value) {
    json changed = snapshots;
    changed[0].erase("manifest-list");
    changed[0][member] = value;
    return ErrorWith("snapshots", changed);
  };
  const auto id = snapshots[0]["snapshot-id"].get<int64_t>();
  EXPECT_EQ(with("manifest-list", ""), "metadata: snapshots[0]: member 'manifest-list' is empty");
  EXPECT_EQ(with("manifests", json::array()), fmt::format("metadata: snapshot {} has no manifest list", id));
  EXPECT_EQ(with("other", 1), "metadata: snapshots[0]: missing member 'manifest-list'");
}

TEST(TableMetadata, SequenceNumbersAreWithinTheLast) {
  EXPECT_EQ(ErrorWith("last-sequence-number", -1), "metadata: member 'last-sequence-number': -1 is negative");
  EXPECT_THAT(ErrorWith("last-sequence-number", 0), HasSubstr("but last-sequence-number is 0"));
}

TEST(TableMetadata, NewerFormatsAreRefusedByName) {
  json root = *ParseJson(kV2);
  root["format-version"] = 4;
  auto status = ParseTableMetadata(root.dump()).status();
  EXPECT_TRUE(status.IsNotImplemented());
  EXPECT_EQ(status.message(), "metadata: format version 4 is not supported (the newest supported is 3)");
  root["format-version"] = 3;
  EXPECT_EQ(ParseTableMetadata(root.dump()).status().message(), "metadata: missing member 'next-row-id'");
}

TEST(TableMetadata, TruncatedAtEveryByte) {
  const std::string text = kV2;
  for (size_t size = 0; size < text.size(); ++size) {
    auto status = ParseTableMetadata(text.substr(0, size)).status();
    ASSERT_TRUE(status.IsInvalid()) << size;
    ASSERT_THAT(status.message(), HasSubstr("not JSON at byte")) << size;
  }
}

TEST(TableMetadata, GzipTruncatedAtEveryByte) {
  auto packed = CompressToString(Codec::kGzip, std::nullopt, kV2);
  ASSERT_TRUE(packed.ok()) << packed.status().ToString();
  EXPECT_EQ(Parsed(*packed).current_snapshot_id, 30);
  for (size_t size = 0; size < packed->size(); ++size) {
    ASSERT_FALSE(ParseTableMetadata(std::string_view(*packed).substr(0, size)).ok()) << size;
  }
}

TEST(TableMetadata, NotUtf8IsInvalid) {
  std::string text = kV2;
  text[text.find("/w/t")] = '\xff';
  EXPECT_THAT(ParseTableMetadata(text).status().message(), HasSubstr("not JSON at byte"));
  TableMetadata metadata = Parsed(kV2);
  metadata.properties["x"] = "\xff";
  EXPECT_TRUE(ToJsonText(metadata).status().IsInvalid());
}

TEST(TableMetadata, NewTablesHaveFreshIds) {
  Schema schema = *SchemaFromJson(*ParseJson(R"json({"type":"struct","identifier-field-ids":[9],"fields":[
      {"id":7,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":3,"name":"x","required":true,"type":"int"}]}},
      {"id":9,"name":"ts","required":true,"type":"timestamp"}]})json"));
  PartitionSpec spec;
  spec.fields = {{9, 55, "ts_day", *ParseTransform("day")}, {3, 66, "x", *ParseTransform("identity")}};
  auto metadata = NewTableMetadata("/w/t/", schema, spec, 2, {{"a", "b"}});
  ASSERT_TRUE(metadata.ok()) << metadata.status().ToString();
  EXPECT_EQ(metadata->location, "/w/t");
  EXPECT_EQ(metadata->schema().NameOf(1), "s");
  EXPECT_EQ(metadata->schema().NameOf(2), "ts");
  EXPECT_EQ(metadata->schema().NameOf(3), "s.x");
  EXPECT_EQ(metadata->schema().identifier_field_ids, std::vector<int>{2});
  EXPECT_EQ(metadata->spec().fields[0].source_id, 2);
  EXPECT_EQ(metadata->spec().fields[0].field_id, 1000);
  EXPECT_EQ(metadata->spec().fields[1].source_id, 3);
  EXPECT_EQ(metadata->last_partition_id, 1001);
  EXPECT_EQ(metadata->last_column_id, 3);
  const TableMetadata again = Parsed(*ToJsonText(*metadata));
  EXPECT_TRUE(SameSchema(again.schema(), metadata->schema()));
  EXPECT_EQ(again.current_snapshot(), nullptr);
  spec.fields[0].transform = *ParseTransform("truncate[3]");
  EXPECT_TRUE(NewTableMetadata("/w/t", schema, spec, 2, {}).status().IsInvalid());
  Schema nanos;
  nanos.fields = {Field{1, "n", false, Primitive(TypeId::kTimestampNs)}};
  EXPECT_EQ(NewTableMetadata("/w/t", nanos, {}, 2, {}).status().message(),
            "column 'n': type timestamp_ns needs format version 3, the table has 2");
  EXPECT_TRUE(NewTableMetadata("/w/t", nanos, {}, 3, {}).ok());
}

int64_t IdOf(const Result<const Snapshot*>& selected) {
  EXPECT_TRUE(selected.ok()) << selected.status().ToString();
  return selected.ok() && *selected != nullptr ? (*selected)->snapshot_id : -1;
}

TEST(SnapshotSelection, ByIdRefAndTime) {
  const TableMetadata metadata = Parsed(kV2);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {})), 30);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.snapshot_id = 20})), 20);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.ref = "old"})), 10);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.ref = "dev"})), 20);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.as_of_ms = 1000})), 10);
  // Snapshot 20 was never current: at its time 10 was.
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.as_of_ms = 2999})), 10);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.as_of_ms = 3000})), 30);
}

TEST(SnapshotSelection, ErrorsListWhatThereIs) {
  const TableMetadata metadata = Parsed(kV2);
  EXPECT_EQ(SelectSnapshot(metadata, {.snapshot_id = 5}).status().message(), "no snapshot 5 (there are 10, 20, 30)");
  EXPECT_EQ(SelectSnapshot(metadata, {.ref = "x"}).status().message(),
            "no branch or tag 'x' (there are branch dev, branch main, tag old)");
  EXPECT_EQ(SelectSnapshot(metadata, {.as_of_ms = 999}).status().message(),
            "no snapshot is as old as 1970-01-01T00:00:00.999Z (the first known is of 1970-01-01T00:00:01Z)");
  EXPECT_TRUE(SelectSnapshot(metadata, {.snapshot_id = 10, .ref = "main"}).status().IsInvalid());
}

TEST(SnapshotSelection, WithoutALogAncestorsCount) {
  TableMetadata metadata = Parsed(kV2);
  metadata.snapshot_log.clear();
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.as_of_ms = 2999})), 10);
  EXPECT_EQ(IdOf(SelectSnapshot(metadata, {.as_of_ms = 5000})), 30);
  EXPECT_TRUE(SelectSnapshot(metadata, {.as_of_ms = 1}).status().IsInvalid());
  metadata.snapshots[0].parent_snapshot_id = 30;
  EXPECT_TRUE(SelectSnapshot(metadata, {.as_of_ms = 1}).status().IsInvalid());
}

TEST(SnapshotSelection, EmptyTable) {
  TableMetadata metadata = Parsed(kV2);
  metadata.snapshots.clear();
  metadata.refs.clear();
  metadata.snapshot_log.clear();
  metadata.current_snapshot_id.reset();
  EXPECT_EQ(*SelectSnapshot(metadata, {}), nullptr);
  EXPECT_EQ(*SelectSnapshot(metadata, {.ref = "main"}), nullptr);
  EXPECT_EQ(SelectSnapshot(metadata, {.snapshot_id = 5}).status().message(),
            "no snapshot 5 (the table has no snapshots)");
}

TEST(SnapshotSelection, SchemaOfTheScan) {
  const TableMetadata metadata = Parsed(kV2);
  auto schema_of = [&](const SnapshotSelector& selector) {
    return ScanSchema(metadata, *SelectSnapshot(metadata, selector), selector).schema_id;
  };
  EXPECT_EQ(schema_of({}), 1);
  EXPECT_EQ(schema_of({.snapshot_id = 10}), 0);
  EXPECT_EQ(schema_of({.as_of_ms = 1000}), 0);
  EXPECT_EQ(schema_of({.ref = "old"}), 0);
  EXPECT_EQ(schema_of({.ref = "dev"}), 1);
  EXPECT_EQ(schema_of({.ref = "main"}), 1);
}

std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a rewrite of metadata may change: members that have a default are written out, empty ones are left out.
void Normalize(json* root) {
  const int version = (*root)["format-version"];
  if (!root->contains("schemas")) {
    (*root)["schemas"] = json::array({(*root)["schema"]});
    (*root)["current-schema-id"] = (*root)["schema"].value("schema-id", 0);
  }
  if (!root->contains("partition-specs")) {
    (*root)["partition-specs"] = json::array({{{"spec-id", 0}, {"fields", (*root)["partition-spec"]}}});
    (*root)["default-spec-id"] = 0;
  }
  if (!root->contains("sort-orders")) {
    (*root)["sort-orders"] = json::array({{{"order-id", 0}, {"fields", json::array()}}});
    (*root)["default-sort-order-id"] = 0;
  }
  for (const char* name : {"snapshots", "snapshot-log", "metadata-log"}) root->emplace(name, json::array());
  for (const char* name : {"refs", "properties"}) root->emplace(name, json::object());
  json& current = (*root)["current-snapshot-id"];
  if (current.is_null() && version < 3) current = -1;
  if (current == -1 && version >= 3) current = nullptr;
  if (current.is_number() && current != -1 && !(*root)["refs"].contains("main")) {
    (*root)["refs"]["main"] = {{"snapshot-id", current}, {"type", "branch"}};
  }
  for (json& snapshot : (*root)["snapshots"]) {
    if (version > 1) snapshot.emplace("sequence-number", 0);
    if (snapshot.contains("parent-snapshot-id") && snapshot["parent-snapshot-id"] == nullptr) {
      snapshot.erase("parent-snapshot-id");
    }
  }
  for (json& schema : (*root)["schemas"]) {
    if (schema.value("identifier-field-ids", json()) == json::array()) schema.erase("identifier-field-ids");
  }
  if (root->contains("schema") && (*root)["schema"].value("identifier-field-ids", json()) == json::array()) {
    (*root)["schema"].erase("identifier-field-ids");
  }
}

std::string WithoutSpaceInDecimals(std::string text) {
  for (size_t at = text.find("decimal("); at != std::string::npos; at = text.find("decimal(", at + 1)) {
    const size_t end = text.find(')', at);
    text.erase(std::remove(text.begin() + at, text.begin() + end, ' '), text.begin() + end);
  }
  return text;
}

TEST(TableMetadata, RoundTripOfEveryOtherWritersFile) {
  CALVE_SHARED_DATA(folder);
  int files = 0;
  for (const char* set : {"spark-iceberg", "duckdb-iceberg"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/" + set)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.find(".metadata.json") == std::string::npos || path.ends_with(".crc"))
        continue;
      const std::string bytes = Contents(path);
      auto metadata = ParseTableMetadata(bytes);
      ASSERT_TRUE(metadata.ok()) << path << ": " << metadata.status().ToString();
      std::string text = bytes;
      if (bytes.starts_with("\x1f\x8b")) {
        text = *DecompressAll(Codec::kGzip, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, 1 << 26);
      }
      json expected = *ParseJson(text);
      Normalize(&expected);
      auto written = ToJsonText(*metadata);
      ASSERT_TRUE(written.ok()) << path;
      EXPECT_EQ(WithoutSpaceInDecimals(ParseJson(*written)->dump()), WithoutSpaceInDecimals(expected.dump())) << path;
      EXPECT_EQ(*ToJsonText(*ParseTableMetadata(*written)), *written) << path;
      ++files;
    }
  }
  EXPECT_EQ(files, 307);
}

}  // namespace
}  // namespace calve::iceberg
