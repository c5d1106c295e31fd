#pragma once

#include "calve/compress/codec.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/page_pieces.h"
#include "calve/parquet/pool_vector.h"
#include "calve/parquet_writer.h"

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace calve::parquet {

/// A page as the file has it.
struct WrittenPage {
  PageType type = PageType::kDataPage;
  Encoding encoding = Encoding::kPlain;
  std::string header;
  std::shared_ptr<arrow::Buffer> body;  ///< what is owned of it
  std::vector<BorrowedBytes> borrowed;  ///< the rest, of the batch that is being written
  int64_t uncompressed_bytes = 0;       ///< header included
  int64_t body_bytes() const;
  int64_t bytes() const { return static_cast<int64_t>(header.size()) + body_bytes(); }
  /// Calls `visit(bytes, borrowed)` for the pieces of the body in their order, until it returns an error.
  template <typename Visit>
  Status VisitBody(Visit&& visit) const {
    return VisitPieces({body->data(), static_cast<size_t>(body->size())}, borrowed, visit);
  }
  /// Makes `body` all of it.
  Status OwnBody(arrow::MemoryPool* pool);
};

/// What a data page holds, encoded and not compressed.
struct DataPageContent {
  int64_t row_count = 0, slot_count = 0, value_count = 0;
  bool has_repetition_levels = false, has_definition_levels = false;
  std::span<const uint8_t> repetition_levels, definition_levels;  ///< without a length before them
  Encoding encoding = Encoding::kPlain;
  std::span<const PagePiece> values;
  bool compress = true;  ///< when there is a codec
};

/// Bytes of all pieces.
int64_t SizeOf(std::span<const PagePiece> pieces);

/// Compresses pages and makes their headers, checksums among them. Thread-safe.
class PageWriter {
 public:
  PageWriter(const ParquetWriteOptions& options, arrow::MemoryPool* pool);

  CompressionCodec codec() const { return codec_; }
  calve::Codec compressor() const { return compressor_; }
  std::optional<int> level() const { return level_; }
  /// Invalid when the page is larger than a header can say.
  Result<WrittenPage> DataPage(const DataPageContent& content) const;
  Result<WrittenPage> DictionaryPage(const arrow::Buffer& values, int64_t value_count, bool compress = true) const;
  /// False when there is a codec, and a sample of `values` does not become a twentieth smaller.
  Result<bool> IsCompressible(std::span<const PagePiece> values) const;

 private:
  Result<WrittenPage> DataPageV1(const DataPageContent& content) const;
  Result<WrittenPage> DataPageV2(const DataPageContent& content) const;
  /// Appends `bytes` to `out`, compressed. The first `head` of them are levels.
  Status AppendCompressed(std::span<const uint8_t> bytes, ByteBuffer* out, int64_t head = 0) const;
  Status AppendCompressed(std::span<const PagePiece> pieces, ByteBuffer* out) const;
  /// Fills what all kinds of header have, and puts header and body together, `borrowed` bytes of a batch among it.
  Result<WrittenPage> Finish(PageHeader header, Encoding encoding, int64_t uncompressed_bytes, ByteBuffer* body,
                             std::vector<BorrowedBytes> borrowed = {}) const;

  arrow::MemoryPool* pool_;
  const bool v2_, checksums_;
  const std::optional<int> level_;
  calve::Codec compressor_ = calve::Codec::kUncompressed;
  CompressionCodec codec_ = CompressionCodec::kUncompressed;
};

}  // namespace calve::parquet
