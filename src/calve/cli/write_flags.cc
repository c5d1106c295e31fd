#include "calve/cli/write_flags.h"

#include "calve/cli/json_text.h"
#include "calve/cli/key_text.h"
#include "calve/parquet_encryption.h"

#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace calve::cli {

namespace {

using arrow::Result;
using arrow::Status;

/// In the place of a column's name: all columns that can have what is asked for.
constexpr std::string_view kAllColumns = "*";

const std::map<std::string, ParquetCompression, std::less<>> kCompressions = {
    {"none", ParquetCompression::kUncompressed}, {"snappy", ParquetCompression::kSnappy},
    {"gzip", ParquetCompression::kGzip},         {"zstd", ParquetCompression::kZstd},
    {"lz4_raw", ParquetCompression::kLz4Raw},    {"brotli", ParquetCompression::kBrotli}};

const std::map<std::string, ParquetEncoding, std::less<>> kEncodings = {
    {"AUTOMATIC", ParquetEncoding::kAutomatic},
    {"PLAIN", ParquetEncoding::kPlain},
    {"RLE", ParquetEncoding::kRle},
    {"DELTA_BINARY_PACKED", ParquetEncoding::kDeltaBinaryPacked},
    {"DELTA_LENGTH_BYTE_ARRAY", ParquetEncoding::kDeltaLengthByteArray},
    {"DELTA_BYTE_ARRAY", ParquetEncoding::kDeltaByteArray},
    {"BYTE_STREAM_SPLIT", ParquetEncoding::kByteStreamSplit}};

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// Splits "NAME=VALUE" at its last '='.
Result<std::pair<std::string, std::string>> SplitPair(std::string_view flag, const std::string& text,
                                                      std::string_view wanted) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) {
    return UsageError(fmt::format("{} wants {}, not '{}'", flag, wanted, OneLine(text)));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Status SetEncoding(const std::string& text, ParquetWriteOptions* options) {
  ARROW_ASSIGN_OR_RAISE(const auto pair, SplitPair("--encoding", text, "COLUMN=ENCODING"));
  const auto& [column, name] = pair;
  const auto encoding = kEncodings.find(Upper(name));
  if (encoding == kEncodings.end()) {
    std::string names;
    for (const auto& [known, unused] : kEncodings) names += (names.empty() ? "" : ", ") + known;
    return UsageError(fmt::format("--encoding: '{}' is not one of {}", OneLine(name), names));
  }
  if (column == kAllColumns) {
    options->encoding = encoding->second;
  } else {
    options->columns[column].encoding = encoding->second;
  }
  return Status::OK();
}

Status SetDictionary(const std::string& text, ParquetWriteOptions* options) {
  ARROW_ASSIGN_OR_RAISE(const auto pair, SplitPair("--column-dictionary", text, "COLUMN=on|off"));
  const auto& [column, value] = pair;
  if (value != "on" && value != "off") {
    return UsageError(fmt::format("--column-dictionary wants COLUMN=on|off, not '{}'", OneLine(text)));
  }
  options->columns[column].dictionary = value == "on";
  return Status::OK();
}

template <typename Number>
std::optional<Number> NumberOf(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes what stands behind the last ':' off the end of `text`, if that is a number.
template <typename Number>
std::optional<Number> TakeNumber(std::string* text) {
  const size_t colon = text->rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto number = NumberOf<Number>(std::string_view(*text).substr(colon + 1));
  if (number) text->resize(colon);
  return number;
}

/// "COLUMN[:FPP[:NDV]]". Columns may have colons in their names: what follows one is taken for a number where it is.
Status SetBloomFilter(const std::string& text, const std::optional<int64_t>& max_bytes, ParquetWriteOptions* options) {
  ParquetBloomFilterOptions filter;
  filter.max_bytes = max_bytes.value_or(filter.max_bytes);
  std::string column = text;
  auto ndv = TakeNumber<int64_t>(&column);
  auto fpp = TakeNumber<double>(&column);
  if (!fpp) {  // At most one number, which is the rate.
    column = text;
    ndv = std::nullopt;
    fpp = TakeNumber<double>(&column);
  }
  filter.fpp = fpp.value_or(filter.fpp);
  filter.ndv = ndv;
  const bool right = !column.empty() && filter.fpp > 0 && filter.fpp < 1 && ndv.value_or(1) > 0;
  if (!right || column.ends_with(":")) {
    return UsageError(fmt::format(
        "--bloom-filter wants COLUMN[:FPP[:NDV]], FPP between 0 and 1 and NDV positive, not '{}'", OneLine(text)));
  }
  if (column == kAllColumns) {
    options->bloom_filter = filter;
  } else {
    options->columns[column].bloom_filter = filter;
  }
  return Status::OK();
}

/// Takes `word` and the space in front of it off the end of `text`.
bool TakeWord(std::string_view word, std::string* text) {
  const std::string ending = fmt::format(" {}", word);
  if (text->size() <= ending.size() || !Upper(*text).ends_with(Upper(ending))) return false;
  text->resize(text->size() - ending.size());
  text->resize(text->find_last_not_of(' ') + 1);
  return true;
}

Result<ParquetSortingColumn> SortingColumnOf(const std::string& text) {
  ParquetSortingColumn result;
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return UsageError("--sorted-by names no column between commas");
  result.column = text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  result.nulls_first = TakeWord("nulls first", &result.column);
  if (!result.nulls_first) TakeWord("nulls last", &result.column);
  result.descending = TakeWord("desc", &result.column);
  if (!result.descending) TakeWord("asc", &result.column);
  return result;
}

Status SetChunking(const WriteFlags& flags, ParquetWriteOptions* options) {
  if (!flags.content_chunking && !flags.chunk_min_bytes && !flags.chunk_max_bytes && !flags.chunk_norm_level) {
    return Status::OK();
  }
  ParquetContentChunking chunking;
  chunking.min_bytes = flags.chunk_min_bytes.value_or(chunking.min_bytes);
  chunking.max_bytes = flags.chunk_max_bytes.value_or(std::max(chunking.max_bytes, 4 * chunking.min_bytes));
  chunking.norm_level = flags.chunk_norm_level.value_or(chunking.norm_level);
  if (chunking.min_bytes < 1 || chunking.max_bytes <= chunking.min_bytes) {
    return UsageError(fmt::format("--chunk-min-bytes must be positive and less than --chunk-max-bytes, not {} and {}",
                                  chunking.min_bytes, chunking.max_bytes));
  }
  options->content_chunking = chunking;
  return Status::OK();
}

/// Whether any of the flags was given.
bool IsGiven(const EncryptionFlags& flags) {
  return !flags.footer_key.empty() || !flags.column_keys.empty() || !flags.aad_prefix.empty() ||
         flags.plaintext_footer || flags.other_columns_plaintext || flags.ctr_pages;
}

Result<std::shared_ptr<const ParquetEncryption>> EncryptionOf(const EncryptionFlags& flags) {
  if (!IsGiven(flags)) return nullptr;
  if (flags.footer_key.empty()) return UsageError("encryption needs --footer-key");
  auto encryption = std::make_shared<ParquetEncryption>();
  ARROW_ASSIGN_OR_RAISE(encryption->footer_key.key, ParseKeyText(flags.footer_key));
  for (const std::string& text : flags.column_keys) {
    ARROW_ASSIGN_OR_RAISE(auto pair, ParseColumnKey("--column-key", text));
    encryption->column_keys[pair.first].key = std::move(pair.second);
  }
  encryption->plaintext_footer = flags.plaintext_footer;
  encryption->other_columns_plaintext = flags.other_columns_plaintext;
  encryption->ctr_pages = flags.ctr_pages;
  encryption->aad_prefix = flags.aad_prefix;
  return encryption;
}

CLI::Option* AddRepeatable(CLI::App* command, const std::string& name, std::vector<std::string>* values,
                           const std::string& description) {
  return command->add_option(name, *values, description + "; repeatable")->allow_extra_args(false);
}

void AddPlainFlags(CLI::App* command, WriteFlags* flags) {
  ParquetWriteOptions* parquet = &flags->options;
  command->add_option("--compression", flags->compression, "none, snappy, gzip, zstd (default), lz4_raw or brotli")
      ->check(CLI::IsMember({"none", "snappy", "gzip", "zstd", "lz4_raw", "brotli"}))
      ->type_name("CODEC");
  command->add_option("--level", parquet->compression_level, "Compression level (default: the codec's)")
      ->type_name("N");
  command->add_flag("--skip-poor-compression", parquet->skip_poor_compression,
                    "Leave column chunks uncompressed whose sample hardly shrinks");
  command->add_option("--row-group-rows", parquet->row_group_rows, "Most rows a row group (default: 1048576)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  AddSize(command, "--row-group-bytes", &flags->row_group_bytes, "End row groups at about this size (default: 128MiB)");
  AddSize(command, "--page-bytes", &flags->page_bytes, "End pages at this size (default: 1MiB)");
  command->add_option("--page-rows", parquet->page_rows, "Most rows a page (default: 20000)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_option("--data-page-version", flags->page_version, "1 (default) or 2")
      ->check(CLI::IsMember({1, 2}))
      ->type_name("N");
}

void AddEncodingFlags(CLI::App* command, WriteFlags* flags) {
  const std::string group = "Encodings (columns are dotted paths of leaves, such as tags.list.element)";
  AddRepeatable(command, "--encoding", &flags->encodings,
                "PLAIN, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, BYTE_STREAM_SPLIT or "
                "AUTOMATIC (default: by a sample); '*' for all columns that can have it")
      ->type_name("COLUMN=ENCODING")
      ->group(group);
  AddSize(command, "--dictionary-bytes", &flags->dictionary_bytes, "Largest dictionary (default: 2MiB)")->group(group);
  command->add_flag("--no-dictionary", flags->no_dictionary, "Write no dictionaries")->group(group);
  AddRepeatable(command, "--column-dictionary", &flags->column_dictionaries, "Dictionaries of one column")
      ->type_name("COLUMN=on|off")
      ->group(group);
  command->add_flag("--content-chunking", flags->content_chunking, "End pages where content says so")->group(group);
  AddSize(command, "--chunk-min-bytes", &flags->chunk_min_bytes, "Smallest such page (default: 256KiB)")->group(group);
  AddSize(command, "--chunk-max-bytes", &flags->chunk_max_bytes, "Largest such page (default: 1MiB)")->group(group);
  command->add_option("--chunk-norm-level", flags->chunk_norm_level, "Larger: sizes closer to the middle (default: 0)")
      ->check(CLI::Range(-3, 3))
      ->type_name("N")
      ->group(group);
}

void AddIndexFlags(CLI::App* command, WriteFlags* flags) {
  const std::string group = "Indexes and metadata";
  AddRepeatable(command, "--bloom-filter", &flags->bloom_filters,
                "A bloom filter of a column ('*': of all), with a rate of false positives (default: 0.01) and the "
                "distinct values expected")
      ->type_name("COLUMN[:FPP[:NDV]]")
      ->group(group);
  AddSize(command, "--bloom-filter-max-bytes", &flags->bloom_filter_max_bytes, "Largest filter (default: 1MiB)")
      ->group(group);
  AddRepeatable(command, "--sorted-by", &flags->sorted_by,
                "Say that rows are sorted, such as \"a,b desc nulls first\"; nothing is sorted or checked")
      ->delimiter(',')
      ->type_name("COLUMNS")
      ->group(group);
  AddRepeatable(command, "--metadata", &flags->metadata, "Key-value metadata of the file")
      ->type_name("KEY=VALUE")
      ->group(group);
  command->add_flag("--no-page-index", flags->no_page_index, "Write no column and offset indexes")->group(group);
  command->add_flag("--no-page-checksums", flags->no_checksums, "Write no CRC-32 of pages")->group(group);
  command->add_flag("--no-size-statistics", flags->no_size_statistics, "Write no level histograms")->group(group);
  command
      ->add_flag("--distinct-counts", flags->options.distinct_counts,
                 "Write how many distinct values each chunk has, where a dictionary holds them all")
      ->group(group);
  command->add_flag("--no-arrow-schema", flags->no_arrow_schema, "Write no ARROW:schema")->group(group);
}

void AddEncryptionFlags(CLI::App* command, EncryptionFlags* flags) {
  const std::string group = "Encryption (KEY: hexadecimal digits, or @FILE that holds them)";
  command->add_option("--footer-key", flags->footer_key, "Encrypt, the footer and columns without another with this")
      ->type_name("KEY")
      ->group(group);
  AddRepeatable(command, "--column-key", &flags->column_keys, "Key of a column")->type_name("COLUMN=KEY")->group(group);
  command->add_flag("--plaintext-footer", flags->plaintext_footer, "Sign the footer instead")->group(group);
  command
      ->add_flag("--other-columns-plaintext", flags->other_columns_plaintext,
                 "Leave columns without a key of their own in plaintext")
      ->group(group);
  command->add_flag("--ctr-pages", flags->ctr_pages, "Pages by AES_GCM_CTR_V1: faster, not authenticated")
      ->group(group);
  command->add_option("--aad-prefix", flags->aad_prefix, "Identity of the file; stored in it")
      ->type_name("TEXT")
      ->group(group);
}

}  // namespace

void AddWriteFlags(CLI::App* command, WriteFlags* flags) {
  AddPlainFlags(command, flags);
  AddEncodingFlags(command, flags);
  AddIndexFlags(command, flags);
  AddEncryptionFlags(command, &flags->encryption);
}

Result<ParquetWriteOptions> WriteOptionsOf(const WriteFlags& flags) {
  ParquetWriteOptions options = flags.options;
  options.compression = kCompressions.at(flags.compression);
  options.row_group_bytes = flags.row_group_bytes.value_or(options.row_group_bytes);
  options.page_bytes = flags.page_bytes.value_or(options.page_bytes);
  options.dictionary_bytes = flags.dictionary_bytes.value_or(options.dictionary_bytes);
  options.dictionary = !flags.no_dictionary;
  options.data_page_v2 = flags.page_version == 2;
  options.page_index = !flags.no_page_index;
  options.page_checksums = !flags.no_checksums;
  options.size_statistics = !flags.no_size_statistics;
  options.store_arrow_schema = !flags.no_arrow_schema;
  constexpr int64_t kMostFilterBytes = int64_t{128} << 20;
  if (const int64_t most = flags.bloom_filter_max_bytes.value_or(32); most < 32 || most > kMostFilterBytes) {
    return UsageError(
        fmt::format("--bloom-filter-max-bytes must be between 32 and {}, not {}", kMostFilterBytes, most));
  }
  for (const std::string& text : flags.encodings) ARROW_RETURN_NOT_OK(SetEncoding(text, &options));
  for (const std::string& text : flags.column_dictionaries) ARROW_RETURN_NOT_OK(SetDictionary(text, &options));
  for (const std::string& text : flags.bloom_filters) {
    ARROW_RETURN_NOT_OK(SetBloomFilter(text, flags.bloom_filter_max_bytes, &options));
  }
  for (const std::string& text : flags.sorted_by) {
    ARROW_ASSIGN_OR_RAISE(options.sorting_columns.emplace_back(), SortingColumnOf(text));
  }
  for (const std::string& text : flags.metadata) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return UsageError(fmt::format("--metadata wants KEY=VALUE, not '{}'", OneLine(text)));
    }
    options.key_value_metadata[text.substr(0, equals)] = text.substr(equals + 1);
  }
  ARROW_RETURN_NOT_OK(SetChunking(flags, &options));
  ARROW_ASSIGN_OR_RAISE(options.encryption, EncryptionOf(flags.encryption));
  return options;
}

}  // namespace calve::cli
