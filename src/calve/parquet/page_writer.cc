// Pages of a column chunk:
//
//   page        := PageHeader (thrift) body             crc = CRC-32 of body
//   dictionary  body := compress(PLAIN values)
//   data v1     body := compress([u32 length, repetition levels] [u32 length, definition levels] values)
//   data v2     body := repetition levels, definition levels, compress(values) or values
//
// A flat column has no repetition levels, a required one no definition levels.

#include "calve/parquet/page_writer.h"

#include "calve/base/status.h"
#include "calve/hash/hash.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace calve::parquet {
namespace {

std::pair<calve::Codec, CompressionCodec> CodecOf(ParquetCompression compression) {
  switch (compression) {
    case ParquetCompression::kUncompressed:
      return {calve::Codec::kUncompressed, CompressionCodec::kUncompressed};
    case ParquetCompression::kSnappy:
      return {calve::Codec::kSnappy, CompressionCodec::kSnappy};
    case ParquetCompression::kGzip:
      return {calve::Codec::kGzip, CompressionCodec::kGzip};
    case ParquetCompression::kZstd:
      return {calve::Codec::kZstd, CompressionCodec::kZstd};
    case ParquetCompression::kLz4Raw:
      return {calve::Codec::kLz4Raw, CompressionCodec::kLz4Raw};
    case ParquetCompression::kBrotli:
      return {calve::Codec::kBrotli, CompressionCodec::kBrotli};
  }
  return {calve::Codec::kUncompressed, CompressionCodec::kUncompressed};
}

Result<int32_t> HeaderSize(int64_t value, const char* what) {
  if (value > std::numeric_limits<int32_t>::max()) {
    return Invalid("a page with {} {}: its header can say at most {}", value, what,
                   std::numeric_limits<int32_t>::max());
  }
  return static_cast<int32_t>(value);
}

void AppendLevels(std::span<const uint8_t> levels, ByteBuffer* out) {
  const auto length = static_cast<uint32_t>(levels.size());
  out->UnsafeAppend(reinterpret_cast<const uint8_t*>(&length), sizeof(length));
  out->UnsafeAppend(levels.data(), static_cast<int64_t>(levels.size()));
}

int64_t Bytes(std::span<const uint8_t> bytes) { return static_cast<int64_t>(bytes.size()); }

/// Appends all pieces; those that stay in the batch are left there when there is a list for them.
Status AppendPieces(std::span<const PagePiece> pieces, ByteBuffer* out, std::vector<BorrowedBytes>* borrowed) {
  for (const PagePiece& piece : pieces) {
    if (piece.stays && borrowed != nullptr) {
      borrowed->push_back({out->size(), piece.bytes.data(), Bytes(piece.bytes)});
    } else {
      ARROW_RETURN_NOT_OK(out->Append(piece.bytes.data(), Bytes(piece.bytes)));
    }
  }
  return Status::OK();
}

/// Bytes that will be copied.
int64_t CopiedBytes(std::span<const PagePiece> pieces, bool all) {
  int64_t bytes = 0;
  for (const PagePiece& piece : pieces) bytes += all || !piece.stays ? Bytes(piece.bytes) : 0;
  return bytes;
}

}  // namespace

int64_t SizeOf(std::span<const PagePiece> pieces) { return CopiedBytes(pieces, /*all=*/true); }

int64_t WrittenPage::body_bytes() const {
  int64_t bytes = body->size();
  for (const BorrowedBytes& piece : borrowed) bytes += piece.size;
  return bytes;
}

Status WrittenPage::OwnBody(arrow::MemoryPool* pool) {
  if (borrowed.empty()) return Status::OK();
  const std::span own(body->data(), static_cast<size_t>(body->size()));
  ARROW_ASSIGN_OR_RAISE(ByteBuffer all, JoinPieces(own, borrowed, body_bytes(), pool));
  borrowed.clear();
  return all.Finish().Value(&body);
}

PageWriter::PageWriter(const ParquetWriteOptions& options, arrow::MemoryPool* pool)
    : pool_(pool), v2_(options.data_page_v2), checksums_(options.page_checksums), level_(options.compression_level) {
  std::tie(compressor_, codec_) = CodecOf(options.compression);
}

Status PageWriter::AppendCompressed(std::span<const uint8_t> bytes, ByteBuffer* out, int64_t head) const {
  if (compressor_ == calve::Codec::kUncompressed) return out->Append(bytes.data(), Bytes(bytes));
  const size_t largest = calve::MaxCompressedSize(compressor_, bytes.size());
  const int64_t before = out->size();
  ARROW_RETURN_NOT_OK(out->Resize(before + static_cast<int64_t>(largest)));
  ARROW_ASSIGN_OR_RAISE(size_t used, calve::Compress(compressor_, level_, bytes, {out->data() + before, largest},
                                                     static_cast<size_t>(head)));
  return out->Resize(before + static_cast<int64_t>(used));
}

Status PageWriter::AppendCompressed(std::span<const PagePiece> pieces, ByteBuffer* out) const {
  if (pieces.size() == 1) return AppendCompressed(pieces.front().bytes, out);
  ByteBuffer all(pool_);
  ARROW_RETURN_NOT_OK(all.Reserve(SizeOf(pieces)));
  ARROW_RETURN_NOT_OK(AppendPieces(pieces, &all, nullptr));
  return AppendCompressed(all.span(), out);
}

Result<WrittenPage> PageWriter::Finish(PageHeader header, Encoding encoding, int64_t uncompressed_bytes,
                                       ByteBuffer* body, std::vector<BorrowedBytes> borrowed) const {
  WrittenPage page;
  ARROW_ASSIGN_OR_RAISE(page.body, body->Finish());
  page.borrowed = std::move(borrowed);
  page.type = header.type;
  page.encoding = encoding;
  ARROW_ASSIGN_OR_RAISE(header.uncompressed_page_size, HeaderSize(uncompressed_bytes, "bytes"));
  ARROW_ASSIGN_OR_RAISE(header.compressed_page_size, HeaderSize(page.body_bytes(), "compressed bytes"));
  if (checksums_) {
    uint32_t crc = 0;
    ARROW_RETURN_NOT_OK(page.VisitBody([&](std::span<const uint8_t> bytes, bool) {
      crc = calve::Crc32(bytes, crc);
      return Status::OK();
    }));
    header.crc = static_cast<int32_t>(crc);
  }
  page.header = Serialize(header);
  page.uncompressed_bytes = static_cast<int64_t>(page.header.size()) + uncompressed_bytes;
  return page;
}

Result<bool> PageWriter::IsCompressible(std::span<const PagePiece> pieces) const {
  constexpr size_t kSample = 64 << 10;
  constexpr size_t kWorthwhile = 20;
  std::span<const uint8_t> values;
  for (const PagePiece& piece : pieces) {
    if (piece.bytes.size() > values.size()) values = piece.bytes;
  }
  if (compressor_ == calve::Codec::kUncompressed || values.empty()) return true;
  const auto sample =
      values.subspan((values.size() - std::min(values.size(), kSample)) / 2).first(std::min(values.size(), kSample));
  ByteBuffer compressed(pool_);
  ARROW_RETURN_NOT_OK(AppendCompressed(sample, &compressed));
  return compressed.size() < Bytes(sample) - Bytes(sample) / static_cast<int64_t>(kWorthwhile);
}

Result<WrittenPage> PageWriter::DictionaryPage(const arrow::Buffer& values, int64_t value_count, bool compress) const {
  PageHeader header;
  header.type = PageType::kDictionaryPage;
  header.dictionary_page.emplace();
  ARROW_ASSIGN_OR_RAISE(header.dictionary_page->num_values, HeaderSize(value_count, "values"));
  ByteBuffer body(pool_);
  if (compress) {
    ARROW_RETURN_NOT_OK(AppendCompressed({values.data(), static_cast<size_t>(values.size())}, &body));
  } else {
    ARROW_RETURN_NOT_OK(body.Append(values.data(), values.size()));
  }
  return Finish(std::move(header), Encoding::kPlain, values.size(), &body);
}

Result<WrittenPage> PageWriter::DataPage(const DataPageContent& content) const {
  return v2_ ? DataPageV2(content) : DataPageV1(content);
}

Result<WrittenPage> PageWriter::DataPageV1(const DataPageContent& content) const {
  PageHeader header;
  header.data_page.emplace();
  ARROW_ASSIGN_OR_RAISE(header.data_page->num_values, HeaderSize(content.slot_count, "values"));
  header.data_page->encoding = content.encoding;
  const bool compress = compressor_ != calve::Codec::kUncompressed && content.compress;
  std::vector<BorrowedBytes> borrowed;
  ByteBuffer plain(pool_);
  ARROW_RETURN_NOT_OK(plain.Reserve(2 * static_cast<int64_t>(sizeof(uint32_t)) + Bytes(content.repetition_levels) +
                                    Bytes(content.definition_levels) + CopiedBytes(content.values, compress)));
  if (content.has_repetition_levels) AppendLevels(content.repetition_levels, &plain);
  if (content.has_definition_levels) AppendLevels(content.definition_levels, &plain);
  const int64_t levels_bytes = plain.size(), uncompressed_bytes = levels_bytes + SizeOf(content.values);
  ARROW_RETURN_NOT_OK(AppendPieces(content.values, &plain, compress ? nullptr : &borrowed));
  if (!compress) return Finish(std::move(header), content.encoding, uncompressed_bytes, &plain, std::move(borrowed));
  ByteBuffer body(pool_);
  ARROW_RETURN_NOT_OK(AppendCompressed(plain.span(), &body, levels_bytes));
  return Finish(std::move(header), content.encoding, uncompressed_bytes, &body);
}

Result<WrittenPage> PageWriter::DataPageV2(const DataPageContent& content) const {
  PageHeader header;
  header.type = PageType::kDataPageV2;
  DataPageHeaderV2& v2 = header.data_page_v2.emplace();
  ARROW_ASSIGN_OR_RAISE(v2.num_values, HeaderSize(content.slot_count, "values"));
  v2.num_nulls = static_cast<int32_t>(content.slot_count - content.value_count);
  ARROW_ASSIGN_OR_RAISE(v2.num_rows, HeaderSize(content.row_count, "rows"));
  v2.encoding = content.encoding;
  ARROW_ASSIGN_OR_RAISE(v2.repetition_levels_byte_length, HeaderSize(Bytes(content.repetition_levels), "bytes"));
  ARROW_ASSIGN_OR_RAISE(v2.definition_levels_byte_length, HeaderSize(Bytes(content.definition_levels), "bytes"));
  ByteBuffer body(pool_);
  ARROW_RETURN_NOT_OK(body.Append(content.repetition_levels.data(), Bytes(content.repetition_levels)));
  ARROW_RETURN_NOT_OK(body.Append(content.definition_levels.data(), Bytes(content.definition_levels)));
  const int64_t levels_bytes = body.size();
  const int64_t values_bytes = SizeOf(content.values);
  v2.is_compressed = content.compress && compressor_ != calve::Codec::kUncompressed && values_bytes > 0;
  std::vector<BorrowedBytes> borrowed;
  if (v2.is_compressed) {
    ARROW_RETURN_NOT_OK(AppendCompressed(content.values, &body));
    v2.is_compressed = body.size() < levels_bytes + values_bytes;
  }
  if (!v2.is_compressed) {
    ARROW_RETURN_NOT_OK(body.Resize(levels_bytes));
    ARROW_RETURN_NOT_OK(body.Reserve(CopiedBytes(content.values, /*all=*/false)));
    ARROW_RETURN_NOT_OK(AppendPieces(content.values, &body, &borrowed));
  }
  return Finish(std::move(header), content.encoding, levels_bytes + values_bytes, &body, std::move(borrowed));
}

}  // namespace calve::parquet
