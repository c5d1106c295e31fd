#pragma once

#include "calve/cli/session.h"
#include "calve/table.h"

#include <arrow/result.h>

#include <nlohmann/json.hpp>

#include <string>

namespace calve::cli {

/// What a table is, as one object: name, location, format_version, current_snapshot_id, rows, files, schema,
/// partition_spec, properties and so on. Taken from the metadata alone.
arrow::Result<Json> SummaryOf(const Table& table);

/// That object for people.
std::string SummaryText(const Json& summary);

/// The current schema of table metadata, as its JSON has it.
arrow::Result<Json> CurrentSchema(const Json& metadata);

/// A schema's fields, one a line with id and type, those inside indented.
std::string SchemaText(const Json& schema);

/// The metadata of `table`, parsed.
arrow::Result<Json> ParsedMetadata(const Table& table);

}  // namespace calve::cli
