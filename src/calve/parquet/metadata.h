#pragma once

#include <arrow/result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace calve::parquet {

using arrow::Result;
using arrow::Status;

struct ColumnCryptoMetadata;
struct SizeStatistics;

// The structures of parquet.thrift that calve reads and writes, with its names and numbers. Members that the
// file did not have are empty optionals, or empty containers.

enum class PhysicalType {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7
};
enum class Repetition { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum class Encoding {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
  kAlp = 10  ///< a preview of the specification; not decoded
};
enum class CompressionCodec {
  kUncompressed = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4 = 5,
  kZstd = 6,
  kLz4Raw = 7
};
enum class PageType { kDataPage = 0, kIndexPage = 1, kDictionaryPage = 2, kDataPageV2 = 3 };
enum class ConvertedType {
  kUtf8 = 0,
  kMap = 1,
  kMapKeyValue = 2,
  kList = 3,
  kEnum = 4,
  kDecimal = 5,
  kDate = 6,
  kTimeMillis = 7,
  kTimeMicros = 8,
  kTimestampMillis = 9,
  kTimestampMicros = 10,
  kUint8 = 11,
  kUint16 = 12,
  kUint32 = 13,
  kUint64 = 14,
  kInt8 = 15,
  kInt16 = 16,
  kInt32 = 17,
  kInt64 = 18,
  kJson = 19,
  kBson = 20,
  kInterval = 21
};

std::string_view ToString(PhysicalType type);
std::string_view ToString(Encoding encoding);  ///< "UNKNOWN" for numbers outside the enumeration
std::string_view ToString(CompressionCodec codec);

enum class TimeUnit { kMillis, kMicros, kNanos };

/// LogicalType, flattened: `kind` and the members that the kind has.
struct LogicalType {
  enum class Kind {
    kNone = 0,
    kString = 1,
    kMap = 2,
    kList = 3,
    kEnum = 4,
    kDecimal = 5,
    kDate = 6,
    kTime = 7,
    kTimestamp = 8,
    kInteger = 10,
    kUnknown = 11,
    kJson = 12,
    kBson = 13,
    kUuid = 14,
    kFloat16 = 15,
    kVariant = 16,
    kGeometry = 17,
    kGeography = 18
  } kind = Kind::kNone;
  int scale = 0, precision = 0;       ///< decimal
  bool is_adjusted_to_utc = false;    ///< time, timestamp
  TimeUnit unit = TimeUnit::kMicros;  ///< time, timestamp
  int bit_width = 0;                  ///< integer
  bool is_signed = true;              ///< integer
  std::string crs;                    ///< geometry, geography
  int algorithm = 0;                  ///< geography
};

struct SchemaElement {
  std::optional<PhysicalType> type;  ///< none: a group
  int32_t type_length = 0;
  std::optional<Repetition> repetition;  ///< none: the root
  std::string name;
  int32_t num_children = 0;
  std::optional<ConvertedType> converted_type;
  int32_t scale = 0, precision = 0;  ///< of a converted decimal
  std::optional<int32_t> field_id;
  LogicalType logical_type;
};

struct Statistics {
  std::optional<std::string> min, max;  ///< deprecated members: signed comparison
  std::optional<int64_t> null_count, distinct_count;
  std::optional<std::string> min_value, max_value;
  std::optional<bool> is_min_value_exact, is_max_value_exact;
  std::optional<int64_t> nan_count;
};

struct PageEncodingStats {
  PageType page_type;
  Encoding encoding;
  int32_t count = 0;
};

struct KeyValue {
  std::string key;
  std::optional<std::string> value;
};

struct ColumnMetadata {
  PhysicalType type = PhysicalType::kInt32;
  std::vector<Encoding> encodings;
  std::vector<std::string> path_in_schema;
  CompressionCodec codec = CompressionCodec::kUncompressed;
  int64_t num_values = 0;
  int64_t total_uncompressed_size = 0, total_compressed_size = 0;
  std::vector<KeyValue> key_value_metadata;
  int64_t data_page_offset = 0;
  std::optional<int64_t> index_page_offset, dictionary_page_offset;
  std::optional<Statistics> statistics;
  std::vector<PageEncodingStats> encoding_stats;
  std::optional<int64_t> bloom_filter_offset;
  std::optional<int32_t> bloom_filter_length;
  std::shared_ptr<const SizeStatistics> size_statistics;  ///< written when there; readers of footers pass over it
};

struct ColumnChunk {
  std::optional<std::string> file_path;
  int64_t file_offset = 0;
  std::optional<ColumnMetadata> metadata;
  std::optional<int64_t> offset_index_offset, column_index_offset;
  std::optional<int32_t> offset_index_length, column_index_length;
  std::shared_ptr<ColumnCryptoMetadata> crypto;  ///< null: not encrypted
};

struct SortingColumn {
  int32_t column_idx = 0;
  bool descending = false, nulls_first = false;
};

struct RowGroup {
  std::vector<ColumnChunk> columns;
  int64_t total_byte_size = 0;
  int64_t num_rows = 0;
  std::vector<SortingColumn> sorting_columns;
  std::optional<int64_t> file_offset, total_compressed_size;
  std::optional<int16_t> ordinal;
};

struct FileMetadata {
  int32_t version = 0;
  std::vector<SchemaElement> schema;  ///< depth first, the root first
  int64_t num_rows = 0;
  std::vector<RowGroup> row_groups;
  std::vector<KeyValue> key_value_metadata;
  std::optional<std::string> created_by;
  /// One a leaf: true when the file says TypeDefinedOrder, so min_value and max_value may be used.
  std::vector<bool> type_defined_order;
  bool encrypted = false;  ///< has encryption_algorithm: plaintext footer of an encrypted file
};

struct DataPageHeader {
  int32_t num_values = 0;
  Encoding encoding = Encoding::kPlain, definition_level_encoding = Encoding::kRle,
           repetition_level_encoding = Encoding::kRle;
  std::optional<Statistics> statistics;
};

struct DataPageHeaderV2 {
  int32_t num_values = 0, num_nulls = 0, num_rows = 0;
  Encoding encoding = Encoding::kPlain;
  int32_t definition_levels_byte_length = 0, repetition_levels_byte_length = 0;
  bool is_compressed = true;
  std::optional<Statistics> statistics;
};

struct DictionaryPageHeader {
  int32_t num_values = 0;
  Encoding encoding = Encoding::kPlain;
  bool is_sorted = false;
};

struct PageHeader {
  PageType type = PageType::kDataPage;
  int32_t uncompressed_page_size = 0, compressed_page_size = 0;
  std::optional<int32_t> crc;
  std::optional<DataPageHeader> data_page;
  std::optional<DataPageHeaderV2> data_page_v2;
  std::optional<DictionaryPageHeader> dictionary_page;
};

/// Parses a footer's thrift. Bounded: never allocates more than the input justifies, nesting limited. Invalid says the
/// structure, the member and the byte offset.
Result<FileMetadata> ParseFileMetadata(std::span<const uint8_t> bytes);
/// Parses a ColumnMetaData that stands alone, as an encrypted one does.
Result<ColumnMetadata> ParseColumnMetadata(std::span<const uint8_t> bytes);
/// Parses a page header at the start of `bytes`; `header_size` gets the bytes it took.
Result<PageHeader> ParsePageHeader(std::span<const uint8_t> bytes, size_t* header_size);

std::string Serialize(const FileMetadata& metadata);
std::string Serialize(const PageHeader& header);

}  // namespace calve::parquet
