#pragma once

#include "calve/cli/value_writer.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace calve::cli {

/// The writer of values that are made of others: lists, maps, structs and dictionaries. What is inside of lists, maps
/// and structs is JSON in both styles.
arrow::Result<std::unique_ptr<ValueWriter>> MakeNestedWriter(const arrow::DataType& type, ValueWriter::Style style);

/// The writer of an extension type's values, which `storage` writes.
std::unique_ptr<ValueWriter> MakeExtensionWriter(std::unique_ptr<ValueWriter> storage, ValueWriter::Style style);

}  // namespace calve::cli
