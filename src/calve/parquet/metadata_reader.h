#pragma once

#include "calve/parquet/metadata.h"

namespace calve::parquet {

class ThriftReader;

/// What the structures of a footer of `footer_bytes` bytes may take in memory. An empty structure is one byte in the
/// footer and hundreds in memory; those of real footers, whose required members are there, stay below it.
size_t StructureBudget(size_t footer_bytes);

/// Parse the structure that `bytes` begin with.
Result<SchemaElement> ParseSchemaElement(std::span<const uint8_t> bytes);
Result<ColumnChunk> ParseColumnChunk(std::span<const uint8_t> bytes);

/// Reads a Statistics structure that `in` stands at.
void ReadStatistics(ThriftReader& in, Statistics* out);

/// As ParsePageHeader of metadata.h; `*cut_short` says whether a failure is that the bytes ended, so that a caller with
/// more of them may try again.
Result<PageHeader> ParsePageHeader(std::span<const uint8_t> bytes, size_t* header_size, bool* cut_short);

}  // namespace calve::parquet
