#pragma once

#include "calve/parquet/thrift_skimmer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace calve::parquet {

/// Passes over the structures of a footer, within what they may take in memory.
class FooterSkimmer : public ThriftSkimmer {
 public:
  explicit FooterSkimmer(std::span<const uint8_t> bytes);

  /// As metadata_reader.cc has it: what the structures would take in memory, were they all made.
  void Charge(size_t bytes) {
    if (budget_ < bytes) return Fail();
    budget_ -= bytes;
  }

  /// Passes over a ColumnChunk, if it is a usual one.
  bool PassUsualChunk();

 private:
  size_t budget_;
};

/// Whether all bits of `required` are in what ThriftSkimmer::Struct returned.
inline bool HasMembers(uint32_t seen, std::initializer_list<int> required) {
  for (const int id : required) {
    if ((seen & uint32_t{1} << id) == 0) return false;
  }
  return true;
}

/// Passes over a KeyValue of this depth; returns where its parts are.
std::pair<ThriftSkimmer::Text, ThriftSkimmer::Text> SkimKeyValue(FooterSkimmer& in, int depth);
/// Passes over any ColumnChunk.
void SkimColumnChunk(FooterSkimmer& in);

}  // namespace calve::parquet
