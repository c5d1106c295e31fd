#pragma once

#include "calve/parquet_reader.h"

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

namespace arrow {
class KeyValueMetadata;
}

namespace calve::parquet {

/// What decides the Arrow types of a file's columns, beside their Parquet types.
struct TypeOptions {
  arrow::TimeUnit::type int96_unit = arrow::TimeUnit::MICRO;
  bool text_as_binary = false;  ///< STRING, ENUM and JSON as binary
  StringOutput strings = StringOutput::kStored;
  std::vector<std::string> dictionary_columns;
  bool whole_variants = false;    ///< shredded VARIANT values are put together
  bool use_arrow_schema = false;  ///< honour "ARROW:schema"
  /// The file's key-value metadata, but "ARROW:schema"; becomes the Arrow schema's. May be null.
  std::shared_ptr<const arrow::KeyValueMetadata> metadata = nullptr;
};

}  // namespace calve::parquet
