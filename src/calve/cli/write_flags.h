#pragma once

#include "calve/cli/session.h"
#include "calve/parquet_writer.h"

#include <arrow/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace calve::cli {

/// The flags that say how a Parquet file is encrypted.
struct EncryptionFlags {
  std::string footer_key, aad_prefix;
  std::vector<std::string> column_keys;  ///< COLUMN=KEY
  bool plaintext_footer = false, other_columns_plaintext = false, ctr_pages = false;
};

/// The flags that say how Parquet files are written. What is text is parsed by WriteOptionsOf.
struct WriteFlags {
  ParquetWriteOptions options;
  std::string compression = "zstd";
  std::optional<int64_t> row_group_bytes, page_bytes, dictionary_bytes;
  std::optional<int64_t> bloom_filter_max_bytes, chunk_min_bytes, chunk_max_bytes;
  std::optional<int> chunk_norm_level;
  int page_version = 1;
  bool no_dictionary = false, content_chunking = false;
  bool no_page_index = false, no_checksums = false, no_size_statistics = false, no_arrow_schema = false;
  std::vector<std::string> column_dictionaries, encodings, bloom_filters, sorted_by, metadata;
  EncryptionFlags encryption;
};

/// Adds the flags to `command`, in groups of their own but for the plainest.
void AddWriteFlags(CLI::App* command, WriteFlags* flags);

/// What the flags ask for. A usage error names the flag that is wrong; IOError a key file that cannot be read.
arrow::Result<ParquetWriteOptions> WriteOptionsOf(const WriteFlags& flags);

}  // namespace calve::cli
