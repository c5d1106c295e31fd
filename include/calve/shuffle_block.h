#pragma once

#include "calve/context.h"

#include <arrow/c/abi.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace arrow::io {
class InputStream;
}

namespace calve {

// Shuffle blocks: Arrow batches as Apache DataFusion Comet's native shuffle exchanges them, one Arrow IPC stream a
// block behind a head of 20 bytes. docs/format/shuffle-block.md has the bytes.

/// How a block's payload is coded, as its tag says.
enum class ShuffleCodec {
  kNone,                 ///< "NONE"
  kLz4,                  ///< "LZ4_": an LZ4 frame
  kZstd,                 ///< "ZSTD"
  kSnappy,               ///< "SNAP": the framing format
  kZstdOffsetsAsLengths  ///< DA 53 54 44: as kZstd, with 32-bit offsets stored as byte planes of lengths
};

/// "none", "lz4", "zstd", "snappy" or "zstd, offsets as lengths".
std::string_view ToString(ShuffleCodec codec);

/// The head of a block: everything in front of its payload.
struct ShuffleBlockHeader {
  static constexpr int64_t kSize = 20;        ///< bytes
  static constexpr int64_t kLengthBytes = 8;  ///< of these, what comes before the part that `length` counts

  int64_t length = 0;       ///< bytes after the length field
  int64_t field_count = 0;  ///< columns, as the writer counted them; readers need not believe it
  ShuffleCodec codec = ShuffleCodec::kNone;

  int64_t payload_size() const { return length - (kSize - kLengthBytes); }
  int64_t block_size() const { return length + kLengthBytes; }
};

/// Parses the first 20 bytes of `bytes`, which lie at `offset` of the input (for errors). Invalid for a partial head, a
/// length that no block has, and an unknown tag.
arrow::Result<ShuffleBlockHeader> ParseShuffleBlockHeader(std::span<const uint8_t> bytes, int64_t offset = 0);

/// Writes a head to `out`, ShuffleBlockHeader::kSize bytes.
void PutShuffleBlockHeader(const ShuffleBlockHeader& header, uint8_t* out);

struct ShuffleBlockReadOptions {
  /// Bytes that this process wrote: offsets, text, dictionary indices and child lengths are believed. Reading never
  /// goes outside the input either way; of what is not checked, only the consumer's use of bad values would.
  bool trusted = false;
  /// Values of fixed width in uncompressed blocks in memory or a mapped file may be less aligned than their type wants
  /// (4 bytes in files, where it wants 8). True: such buffers are copied, so that any code may work on them. False:
  /// they are given as they lie, without a copy, as Arrow's own IPC reader gives them by default; only for consumers
  /// that read values by unaligned loads, as x86 and ARM have them and Arrow's kernels in practice do, though C++ does
  /// not promise it. Offsets, views, run ends and dictionary keys are aligned either way.
  bool align_values = true;
  /// Batches come with these columns, where blocks have them as dictionaries of their values or as values of their
  /// dictionaries. Null: as each block has them. The C Data Interface always gives what the block has.
  std::shared_ptr<arrow::Schema> schema;
  /// Added to the byte offsets that errors name, for input that is a part of a file.
  int64_t base_offset = 0;
  /// In front of every error message, for instance the file's name. Empty: nothing.
  std::string name;
};

/// What a reader did.
struct ShuffleBlockReadMetrics {
  int64_t blocks = 0, rows = 0;
  int64_t block_bytes = 0;    ///< read, heads included
  int64_t decoded_bytes = 0;  ///< of the bodies of the IPC messages, decompressed
  int64_t schema_hits = 0;    ///< blocks whose schema message was in this thread's cache
  int64_t schema_misses = 0;
  int64_t in_place = 0;          ///< blocks whose buffers are the input's own memory
  int64_t skeletons_reused = 0;  ///< blocks that came in the array objects of an earlier one
};

/// Reads blocks one after another.
///
/// The schema may change from block to block. Batches own their memory and may outlive the reader, be kept or dropped
/// on any thread; when the last reference to a batch and everything in it is dropped, its array objects are used for a
/// later block of the same schema. Schemas are cached per thread, across readers. One thread at a time uses a reader.
///
/// Errors name the byte offset of the block, and where in it. After an error a reader gives no more blocks.
class ShuffleBlockReader {
 public:
  /// Blocks in memory. Uncompressed ones are decoded in place where their alignment allows it, and then hold `blocks`.
  static std::unique_ptr<ShuffleBlockReader> Make(std::shared_ptr<arrow::Buffer> blocks,
                                                  ShuffleBlockReadOptions options = {}, const Context& context = {});
  /// The `length` bytes at `offset` of a local file, which is mapped; `length` none: all from there on. Errors name the
  /// file.
  static arrow::Result<std::unique_ptr<ShuffleBlockReader>> Open(const std::string& path, int64_t offset = 0,
                                                                 std::optional<int64_t> length = {},
                                                                 ShuffleBlockReadOptions options = {},
                                                                 const Context& context = {});
  /// Blocks from any stream (a file, a socket), up to its end.
  static std::unique_ptr<ShuffleBlockReader> Make(std::shared_ptr<arrow::io::InputStream> stream,
                                                  ShuffleBlockReadOptions options = {}, const Context& context = {});
  virtual ~ShuffleBlockReader() = default;

  /// The next block's rows; null at the end of the input.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;

  /// The same through the Arrow C Data Interface, as a struct array; its schema is ExportSchema's. False at the end of
  /// the input, `out` untouched.
  virtual arrow::Result<bool> Next(ArrowArray* out) = 0;

  /// Of the block that Next returned last; null before. Changes where the blocks' schemas do.
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  virtual const ShuffleBlockHeader& header() const = 0;
  /// The byte offset of that block, ShuffleBlockReadOptions::base_offset included.
  virtual int64_t block_offset() const = 0;
  virtual const ShuffleBlockReadMetrics& metrics() const = 0;
};

struct ShuffleBlockWriteOptions {
  ShuffleCodec codec = ShuffleCodec::kLz4;
  std::optional<int> level;  ///< zstd's; none: 1. The other codecs have none
  /// Keep top-level dictionary columns as dictionaries of the entries that are used, where that is smaller; false:
  /// write their values. Dictionaries within lists and structs are always kept.
  bool keep_dictionaries = true;
};

/// Rows of a batch, in order.
struct ShuffleRows {
  const arrow::RecordBatch* batch = nullptr;
  const uint32_t* rows = nullptr;  ///< `count` numbers; null: consecutive rows, from `first`
  int64_t count = 0;
  int64_t first = 0;  ///< added to every row
};

/// What a writer did.
struct ShuffleBlockWriteMetrics {
  int64_t blocks = 0, rows = 0;
  int64_t block_bytes = 0;    ///< heads included
  int64_t encoded_bytes = 0;  ///< of the IPC streams, before the codec
};

/// Makes blocks of rows of batches, one at a time.
///
/// The rows are gathered straight into the block's IPC stream, whose schema message was made once; schema metadata and
/// that of fields is left out, views are compacted, bitmaps of valid rows only are empty. Every type that Arrow IPC
/// carries is written. With ShuffleCodec::kZstdOffsetsAsLengths, blocks with columns for which that form is not defined
/// (dictionaries, views, 64-bit offsets, unions, run ends) are written as kZstd. One thread at a time uses a writer.
class ShuffleBlockWriter {
 public:
  /// Batches must have the types of `schema`; their column names are not looked at.
  static arrow::Result<std::unique_ptr<ShuffleBlockWriter>> Make(const std::shared_ptr<arrow::Schema>& schema,
                                                                 const ShuffleBlockWriteOptions& options = {},
                                                                 const Context& context = {});
  virtual ~ShuffleBlockWriter() = default;

  /// One block with these rows, in order; it holds until the next call. No rows: no bytes. CapacityError where they do
  /// not fit one block (INT32_MAX bytes).
  virtual arrow::Result<std::span<const uint8_t>> Encode(std::span<const ShuffleRows> rows) = 0;
  /// One block with all rows of `batch`.
  arrow::Result<std::span<const uint8_t>> Encode(const arrow::RecordBatch& batch);

  virtual const ShuffleBlockWriteMetrics& metrics() const = 0;
  /// Memory that the writer holds between calls, and its release.
  virtual int64_t held_bytes() const = 0;
  virtual void Release() = 0;
};

}  // namespace calve
