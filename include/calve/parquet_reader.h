#pragma once

#include "calve/context.h"
#include "calve/expression.h"

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace arrow {
class RecordBatchReader;
namespace io {
class RandomAccessFile;
}
}  // namespace arrow

namespace calve {

class ParquetFooterCache;
struct ParquetDecryption;

namespace parquet {
struct FileMetadata;
class FileSchema;
class Footer;
}  // namespace parquet

/// The rows [begin, end).
struct RowRange {
  int64_t begin = 0, end = 0;

  int64_t count() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

/// How rows that a filter drops are kept from being read, cheapest first. None changes which rows come out.
struct ParquetSelectionOptions {
  bool statistics = true;     ///< row groups by the bounds and null counts of the footer
  bool bloom_filters = true;  ///< row groups by what `=` and IN look for
  bool dictionaries = true;   ///< row groups by their dictionaries, where all data pages refer to them
  bool page_index = true;     ///< pages by the column index; pages without a row wanted are not read
  /// The other columns by the rows that pass. Batch by batch: where few rows pass, in runs, the others are skipped;
  /// otherwise all are decoded and those that pass kept.
  bool late_materialization = true;
};

/// What becomes of STRING, ENUM and JSON values that are not UTF-8.
enum class InvalidUtf8 {
  kPass,    ///< they come out as they are; Arrow's consumers may not expect them
  kError,   ///< an error that names the column and the row
  kBinary,  ///< such columns are read as binary, whatever they hold
};

/// What byte arrays come out as; text as these, binary columns as their binary counterparts.
enum class StringOutput {
  kStored,     ///< what "ARROW:schema" says, otherwise utf8
  kUtf8,       ///< 32-bit offsets; a batch ends before it holds 2 GiB of them
  kLargeUtf8,  ///< 64-bit offsets
  kUtf8View,   ///< views into the decompressed pages, which live as long as a batch does that points into them
  /// int32 indices into the dictionary of the column chunk. A batch ends where a chunk goes over to values that are in
  /// no dictionary; such values are a batch's own dictionary then, in their order and not made distinct.
  kDictionary,
};

struct ParquetReadOptions {
  int64_t batch_rows = 65536;  ///< at most so many rows a batch; batches end at row-group boundaries
  bool verify_crc = false;     ///< check page CRCs where there are some
  /// Of INT96 timestamps. What is finer is cut off; what does not fit 64 bits wraps around, so that nanoseconds hold
  /// the years 1677 to 2262 and microseconds 290,000 years.
  arrow::TimeUnit::type int96_unit = arrow::TimeUnit::MICRO;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kPass;
  StringOutput strings = StringOutput::kStored;
  /// Leaf columns of any type, by dotted name ("a.b", "tags.element"), to come out as dictionaries with int32 indices,
  /// as StringOutput::kDictionary says.
  std::vector<std::string> dictionary_columns;
  /// Gives columns the Arrow types that a writer left under "ARROW:schema", where the file's values fit them
  /// (durations, time zones, large and view forms, dictionaries, lists of a fixed size, extension types), and fields
  /// their metadata.
  bool use_arrow_schema = true;
  /// Puts shredded VARIANT values together. Otherwise a column has the fields that the file has: metadata, value and
  /// typed_value.
  bool whole_variants = false;
  /// Maps a file that is opened by its path into memory instead of reading it. A file that another process cuts short
  /// meanwhile is an IOError where that is noticed in time; otherwise the system ends this process with SIGBUS, as for
  /// every mapped file. Leave it off for files that are not at rest.
  bool memory_map = false;
  /// What a read of the file costs: the time until its first byte comes, and the bytes that come in a second. Column
  /// chunks that lie closer together than what comes in that time are read in one go. The defaults suit local disks;
  /// for object stores 30000 and 100000000 are about right.
  int64_t read_latency_us = 20;
  int64_t read_bytes_per_second = 2'000'000'000;
  ParquetSelectionOptions selection;
  /// Keys for encrypted files; see calve/parquet_encryption.h. Null: of such a file, columns in plaintext can be read
  /// if its footer is in plaintext.
  std::shared_ptr<const ParquetDecryption> decryption;
  /// Footers that were read before are taken from here, and those that are read are kept here; null: none.
  std::shared_ptr<ParquetFooterCache> footer_cache;
  /// For the cache: what tells this content of the file from any other of the same name and size, as an etag or a time
  /// of modification. Empty: the one that the file tells itself (files opened by path, object stores). Files without
  /// any are not kept. A local file that is changed in place within the resolution of its time stamps is not told
  /// apart.
  std::string file_version;
};

/// What a read by a filter or row ranges has left out so far, and by what. A row group counts under the first that
/// excludes it.
struct ParquetSelectionCounts {
  int64_t row_groups = 0;  ///< asked for, with rows
  int64_t row_groups_skipped_by_statistics = 0, row_groups_skipped_by_bloom_filter = 0,
          row_groups_skipped_by_dictionary = 0, row_groups_skipped_by_page_index = 0;
  int64_t row_groups_outside_rows = 0;      ///< of which the request names no row
  int64_t pages = 0;                        ///< data pages of the chunks read that have an offset index
  int64_t pages_skipped_by_page_index = 0;  ///< of those, not read at all: no row of them is wanted
  int64_t rows_tested = 0;                  ///< the filter was evaluated for
  int64_t batches_empty = 0, batches_by_rows = 0, batches_by_mask = 0;  ///< tested; see ParquetSelectionOptions

  ParquetSelectionCounts& operator+=(const ParquetSelectionCounts& other);
};

/// What reading has done so far. Times are summed over threads, so together they may be more than what a clock shows.
struct ParquetReadMetrics {
  int64_t row_groups_read = 0, row_groups_skipped = 0;  ///< skipped: left out by statistics or bloom filters
  int64_t pages_read = 0, pages_skipped = 0;            ///< dictionary and data pages; skipped: not decompressed
  int64_t bytes_read = 0;                               ///< asked of the file; its footer does not count
  int64_t bytes_decompressed = 0;                       ///< that came out of a codec
  int64_t rows = 0;                                     ///< returned
  int64_t footer_cache_hits = 0;
  int64_t io_ns = 0;          ///< waiting for the file
  int64_t decompress_ns = 0;  ///< in a codec
  int64_t decode_ns = 0;      ///< turning pages into arrays
  int64_t wait_ns = 0;        ///< of Next(), waiting for other threads
  ParquetSelectionCounts selection;

  ParquetReadMetrics& operator+=(const ParquetReadMetrics& other);
};

/// What to read of a file.
struct ParquetReadRequest {
  std::vector<int> leaves;                     ///< sorted; the schema is the file's, pruned to them
  std::optional<std::vector<int>> row_groups;  ///< sorted; none: all
  std::optional<std::vector<RowRange>> rows;   ///< of the file, sorted, not overlapping; none: all of the row groups
  /// Rows for which it is true; by the names of the file's schema, or bound to that schema. Its columns need not be
  /// among `leaves`.
  Expression filter;
};

/// Yields the batches of some row groups and columns. Batches never cross a row group.
///
/// With Context::threads other than 1, columns and row groups are decoded ahead on the executor; the batches are the
/// same for any number of threads. Not thread-safe; its destructor stops and waits for what is running.
class ParquetBatchReader {
 public:
  virtual ~ParquetBatchReader() = default;
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  /// The next batch, null at the end. After an error every call returns it again.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
  /// The position in the file of the first row of the batch that Next() returned last (row groups not asked for count).
  virtual int64_t first_row() const = 0;
  /// The positions in the file of all rows of that batch, in order.
  virtual std::vector<RowRange> rows() const = 0;
  /// So far; complete when Next() has returned null. May be called from any thread.
  virtual ParquetReadMetrics metrics() const = 0;
};

/// A Parquet file, opened: its footer checked. What the footer says of a column is parsed when it is asked for, so that
/// a few columns of a wide file cost little; schema(), metadata() and file_schema() parse the whole at their first
/// call.
///
/// Errors name the file, and the column, row group, page and byte offset where there is one. Sizes and offsets that do
/// not fit the file are Invalid before anything is allocated for them. Thread-safe after Open.
class ParquetReader {
 public:
  /// Reads the footer. `name` is used in messages. Invalid for what is no Parquet file or cut short, and for an
  /// encrypted footer whose key is not among the options.
  static arrow::Result<std::shared_ptr<ParquetReader>> Open(std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                            std::string name, const ParquetReadOptions& options = {},
                                                            const Context& context = {});
  /// Opens a local file.
  static arrow::Result<std::shared_ptr<ParquetReader>> Open(const std::string& path,
                                                            const ParquetReadOptions& options = {},
                                                            const Context& context = {});
  virtual ~ParquetReader() = default;

  virtual const std::string& name() const = 0;
  virtual int64_t size_bytes() const = 0;
  virtual int64_t num_rows() const = 0;
  virtual int num_row_groups() const = 0;
  /// The Arrow form of the file's schema, ids under "PARQUET:field_id".
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  /// Owned by the reader.
  virtual const parquet::FileMetadata& metadata() const = 0;
  virtual const parquet::FileSchema& file_schema() const = 0;
  virtual const parquet::Footer& footer() const = 0;

  /// Leaf columns under the field of dotted name `name` ("a.b"; list elements and map entries are reached as "element",
  /// "key" and "value"), in file order. Invalid lists the columns there are.
  virtual arrow::Result<std::vector<int>> LeavesOf(const std::string& name) const = 0;
  /// Leaf columns under the field with this id at any depth; empty when there is none.
  virtual std::vector<int> LeavesOfFieldId(int field_id) const = 0;

  /// OK when every page encoding, codec and type of these leaves (as the footer tells them) can be decoded;
  /// NotImplemented names the first that cannot.
  virtual arrow::Status CheckSupported(const std::vector<int>& leaves) const = 0;

  /// Reads `leaves` (sorted; the schema is the file's, pruned to them) of `row_groups` (sorted). With no leaf the
  /// batches carry row counts only. The ParquetReader must outlive the result.
  virtual arrow::Result<std::unique_ptr<ParquetBatchReader>> Read(const std::vector<int>& leaves,
                                                                  const std::vector<int>& row_groups) const = 0;
  /// Reads the rows that `request` describes, in order. What the filter need not see is not read: see
  /// ParquetSelectionOptions. Invalid when the filter does not fit the schema or the ranges the file. The ParquetReader
  /// must outlive the result.
  virtual arrow::Result<std::unique_ptr<ParquetBatchReader>> Read(const ParquetReadRequest& request) const = 0;
  /// All row groups and the named columns (empty: all), as an Arrow reader that keeps this one alive.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadAll(
      const std::vector<std::string>& columns = {}) const = 0;
};

/// What a footer says, for people and for programs that look into files.
struct ParquetDescription {
  std::string created_by;
  std::vector<std::pair<std::string, std::string>> key_value_metadata;
  std::string schema;  ///< one line an element: "optional INT64 id (INT64) = 1", children indented
  /// One row a row group: row_group, rows, compressed_bytes, uncompressed_bytes, offset, sorted_by.
  std::shared_ptr<arrow::RecordBatch> row_groups;
  /// One row a column chunk: row_group, column, type, codec, encodings, values, nulls, compressed_bytes,
  /// uncompressed_bytes, min, max, dictionary, page_index, bloom_filter. Bounds are text; null where there is none, or
  /// none that can be trusted.
  std::shared_ptr<arrow::RecordBatch> column_chunks;
};

arrow::Result<ParquetDescription> Describe(const ParquetReader& reader);

}  // namespace calve
