#include "calve/parquet/footer_skimmer.h"

#include "calve/parquet/encryption_metadata.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/metadata_reader.h"
#include "calve/parquet/usual_chunk.h"

#include <string>

// The numbers are the members' ids in parquet.thrift. What is passed over is checked as metadata_reader.cc checks it,
// member by member: the two are kept alike.

namespace calve::parquet {

FooterSkimmer::FooterSkimmer(std::span<const uint8_t> bytes)
    : ThriftSkimmer(bytes), budget_(StructureBudget(bytes.size())) {}

bool FooterSkimmer::PassUsualChunk() {
  size_t structure_bytes = 0;
  const uint8_t* behind = parquet::PassUsualChunk(at(), end(), &structure_bytes);
  if (behind == nullptr || structure_bytes > budget_) return false;
  budget_ -= structure_bytes;
  MoveTo(behind);
  return true;
}

std::pair<ThriftSkimmer::Text, ThriftSkimmer::Text> SkimKeyValue(FooterSkimmer& in, int depth) {
  in.Charge(sizeof(KeyValue));
  std::pair<ThriftSkimmer::Text, ThriftSkimmer::Text> result;
  const uint32_t seen = in.Struct(depth, [&](int id, ThriftType type) {
    if (id == 1) return in.Binary(type, &result.first);
    return id == 2 && in.Binary(type, &result.second);
  });
  if (!HasMembers(seen, {1})) in.Fail();
  return result;
}

namespace {

/// Depths of the structures.
constexpr int kChunk = 3, kColumn = 4, kInColumn = 5;

void SkimStatistics(FooterSkimmer& in) {
  in.Struct(kInColumn, [&](int id, ThriftType type) {
    switch (id) {
      case 1:
      case 2:
      case 5:
      case 6:
        return in.Binary(type);
      case 3:
      case 4:
      case 9:
        return in.Integer<int64_t>(type);
      default:
        return false;
    }
  });
}

void SkimEncodingStats(FooterSkimmer& in) {
  in.Charge(sizeof(PageEncodingStats));
  in.Struct(kInColumn, [&](int id, ThriftType type) { return id >= 1 && id <= 3 && in.Integer<int32_t>(type); });
}

void SkimColumnMetadata(FooterSkimmer& in) {
  const uint32_t seen = in.Struct(kColumn, [&](int id, ThriftType type) {
    int32_t number = 0;
    switch (id) {
      case 1:
        return in.Enum(type, 7, &number);
      case 2:
        return in.List(type, [&](ThriftType element) {
          in.Charge(sizeof(Encoding));
          return in.Integer<int32_t>(element);
        });
      case 3:
        return in.List(type, [&](ThriftType element) {
          in.Charge(sizeof(std::string));
          return in.Binary(element);
        });
      case 4:
      case 15:
        return in.Integer<int32_t>(type);
      case 5:
      case 6:
      case 7:
      case 9:
      case 10:
      case 11:
      case 14:
        return in.Integer<int64_t>(type);
      case 8:
        return in.Structs(type, [&] { SkimKeyValue(in, kInColumn); });
      case 12:
        if (type != ThriftType::kStruct) return false;
        SkimStatistics(in);
        return true;
      case 13:
        return in.Structs(type, [&] { SkimEncodingStats(in); });
      default:
        return false;
    }
  });
  if (!HasMembers(seen, {1, 4, 5, 7, 9})) in.Fail();
}

}  // namespace

void SkimColumnChunk(FooterSkimmer& in) {
  in.Charge(sizeof(ColumnChunk));
  bool has_crypto = false;
  in.Struct(kChunk, [&](int id, ThriftType type) {
    switch (id) {
      case 1:
        return in.Binary(type);
      case 2:
      case 4:
      case 6:
        return in.Integer<int64_t>(type);
      case 3:
        if (type != ThriftType::kStruct) return false;
        SkimColumnMetadata(in);
        return true;
      case 5:
      case 7:
        return in.Integer<int32_t>(type);
      case 8:
      case 9:
        if (id == 9 || type == ThriftType::kStruct) {
          if (!has_crypto) in.Charge(sizeof(ColumnCryptoMetadata));
          has_crypto = true;
        }
        return false;
      default:
        return false;
    }
  });
}

}  // namespace calve::parquet
