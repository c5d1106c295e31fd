#include "calve/parquet/page_reader.h"

#include "calve/parquet/metadata_reader.h"

#include "calve/base/status.h"
#include "calve/compress/codec.h"
#include "calve/hash/hash.h"

// A column chunk is a row of pages; each is a PageHeader and compressed_page_size bytes:
//
//   chunk      := [dictionary page] data page*       pages of other kinds are passed over
//   v1 page    := compressed([repetition levels] [definition levels] values)
//   v2 page    := [repetition levels] [definition levels] compressed(values)
//   dictionary := compressed(PLAIN values)
//
// Decompressed sizes. A page must decompress to exactly the size that its header says; uncompressed pages must say the
// same size twice. What decompresses to nothing is not decompressed at all. Memory for a page is taken up front when
// its codec can expand that far: snappy and LZ4 by their formats' limits, gzip by deflate's 1032 to 1, zstd and brotli
// (which have no such limit) when the page is small or expands less than a thousand times. Beyond that they are
// decompressed into memory that grows with what really comes out, up to the size in the header.

namespace calve::parquet {
namespace {

/// A header holds statistics, whose values may be long; one that is longer than this is taken for damage.
constexpr int64_t kMaxHeaderBytes = 16 << 20;
constexpr int64_t kFirstHeaderBytes = 4096;
constexpr int64_t kExpansionSlack = 64;
constexpr int64_t kTrustedBytes = 16 << 20;
constexpr int64_t kTrustedExpansion = 1000;

Result<Codec> CodecOf(CompressionCodec codec) {
  switch (codec) {
    case CompressionCodec::kUncompressed:
      return Codec::kUncompressed;
    case CompressionCodec::kSnappy:
      return Codec::kSnappy;
    case CompressionCodec::kGzip:
      return Codec::kGzip;
    case CompressionCodec::kBrotli:
      return Codec::kBrotli;
    case CompressionCodec::kLz4:
      return Codec::kLz4Hadoop;
    case CompressionCodec::kZstd:
      return Codec::kZstd;
    case CompressionCodec::kLz4Raw:
      return Codec::kLz4Raw;
    case CompressionCodec::kLzo:
      break;
  }
  return NotImplemented("compression codec {} ({})", ToString(codec), static_cast<int>(codec));
}

/// How many bytes one compressed byte can become; 0: the format sets no useful limit.
int64_t MaxExpansion(Codec codec) {
  switch (codec) {
    case Codec::kSnappy:
      return 22;  // a 3-byte element copies up to 64 bytes
    case Codec::kLz4Raw:
    case Codec::kLz4Hadoop:
      return 255;
    case Codec::kGzip:
      return 1032;
    default:
      return 0;
  }
}

bool HasLevelsApart(const Page& page) { return page.header.type == PageType::kDataPageV2; }

}  // namespace

int64_t Page::num_values() const {
  return HasLevelsApart(*this) ? header.data_page_v2->num_values : header.data_page->num_values;
}

Encoding Page::encoding() const {
  return HasLevelsApart(*this) ? header.data_page_v2->encoding : header.data_page->encoding;
}

std::string Page::where() const { return fmt::format("page {} at byte {}", index, offset); }

Result<const Page*> PageReader::Next() {
  while (values_seen_ < plan_.num_values) {
    page_ = Page{};
    page_.offset = bytes_.position();
    page_.index = next_index_++;
    if (bytes_.remaining() == 0) {
      return Invalid("the pages end at byte {} with {} of {} values", bytes_.position(), values_seen_,
                     plan_.num_values);
    }
    Status status = ReadHeader();
    if (status.ok()) status = CheckHeader();
    if (!status.ok()) return WithContext(status, page_.where());
    const PageType type = page_.header.type;
    if (type != PageType::kDataPage && type != PageType::kDataPageV2 && type != PageType::kDictionaryPage) {
      bytes_.Skip(page_.header.compressed_page_size);
      continue;
    }
    status = ReadBody();
    if (!status.ok()) return WithContext(status, page_.where());
    if (type != PageType::kDictionaryPage) values_seen_ += page_.num_values();
    return &page_;
  }
  return nullptr;
}

Status PageReader::ReadHeader() {
  for (int64_t wanted = kFirstHeaderBytes;; wanted *= 4) {
    ARROW_ASSIGN_OR_RAISE(const auto bytes, bytes_.Peek(wanted));
    size_t size = 0;
    bool cut_short = false;
    auto header = ParsePageHeader(bytes, &size, &cut_short);
    if (header.ok()) {
      page_.header = header.MoveValueUnsafe();
      bytes_.Skip(static_cast<int64_t>(size));
      return Status::OK();
    }
    if (!cut_short || wanted >= bytes_.remaining() || wanted >= kMaxHeaderBytes) return header.status();
  }
}

Status PageReader::CheckHeader() const {
  const PageHeader& header = page_.header;
  if (header.compressed_page_size < 0 || header.compressed_page_size > bytes_.remaining()) {
    return Invalid("a page of {} bytes, the column chunk has {} left", header.compressed_page_size, bytes_.remaining());
  }
  if (header.uncompressed_page_size < 0)
    return Invalid("an uncompressed size of {} bytes", header.uncompressed_page_size);
  int64_t values = 0;
  if (header.type == PageType::kDictionaryPage) {
    values = header.dictionary_page->num_values;
  } else if (header.type == PageType::kDataPage || header.type == PageType::kDataPageV2) {
    values = page_.num_values();
    if (values > plan_.num_values - values_seen_) {
      return Invalid("a page of {} values, the column chunk has {} left", values, plan_.num_values - values_seen_);
    }
  }
  if (values < 0) return Invalid("a page of {} values", values);
  return Status::OK();
}

Status PageReader::ReadBody() {
  const int64_t size = page_.header.compressed_page_size;
  ARROW_ASSIGN_OR_RAISE(const auto window, bytes_.Peek(size));
  const auto raw = window.first(static_cast<size_t>(size));
  bytes_.Skip(size);
  if (verify_crc_ && page_.header.crc) {
    const uint32_t expected = static_cast<uint32_t>(*page_.header.crc), got = Crc32(raw);
    if (got != expected) return Invalid("CRC {:08x}, the header says {:08x}", got, expected);
  }
  if (HasLevelsApart(page_)) return ReadBodyV2(raw);
  ARROW_ASSIGN_OR_RAISE(page_.body, DecompressBody(raw, page_.header.uncompressed_page_size));
  return Status::OK();
}

Status PageReader::ReadBodyV2(std::span<const uint8_t> raw) {
  const DataPageHeaderV2& header = *page_.header.data_page_v2;
  const int64_t repetition = header.repetition_levels_byte_length, definition = header.definition_levels_byte_length;
  const int64_t levels = repetition + definition;
  if (repetition < 0 || definition < 0 || levels > static_cast<int64_t>(raw.size()) ||
      levels > page_.header.uncompressed_page_size) {
    return Invalid("levels of {} + {} bytes in a page of {} bytes ({} uncompressed)", repetition, definition,
                   raw.size(), page_.header.uncompressed_page_size);
  }
  page_.repetition_levels = raw.first(static_cast<size_t>(repetition));
  page_.definition_levels = raw.subspan(static_cast<size_t>(repetition), static_cast<size_t>(definition));
  const auto values = raw.subspan(static_cast<size_t>(levels));
  const int64_t size = page_.header.uncompressed_page_size - levels;
  if (header.is_compressed) {
    ARROW_ASSIGN_OR_RAISE(page_.body, DecompressBody(values, size));
    return Status::OK();
  }
  if (size != static_cast<int64_t>(values.size())) {
    return Invalid("{} bytes of values that are not compressed, {} uncompressed", values.size(), size);
  }
  page_.body = values;
  return Status::OK();
}

Result<std::span<const uint8_t>> PageReader::DecompressBody(std::span<const uint8_t> raw, int64_t size) {
  ARROW_ASSIGN_OR_RAISE(const Codec codec, CodecOf(plan_.codec));
  const int64_t raw_size = static_cast<int64_t>(raw.size());
  if (codec == Codec::kUncompressed) {
    if (raw_size != size) return Invalid("{} bytes that are not compressed, {} uncompressed", raw_size, size);
    return raw;
  }
  if (size == 0) return raw.first(0);
  const int64_t expansion = MaxExpansion(codec);
  if (expansion > 0 && size > raw_size * expansion + kExpansionSlack) {
    return Invalid("{} bytes of {} cannot become {} bytes", raw_size, ToString(plan_.codec), size);
  }
  decompressed_.reset();
  if (expansion == 0 && size > kTrustedBytes && size / kTrustedExpansion > raw_size) {
    ARROW_ASSIGN_OR_RAISE(std::string grown, DecompressAll(codec, raw, static_cast<size_t>(size)));
    if (static_cast<int64_t>(grown.size()) != size)
      return Invalid("decompressed to {} bytes, expected {}", grown.size(), size);
    decompressed_ = arrow::Buffer::FromString(std::move(grown));
  } else {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(size, pool_));
    ARROW_RETURN_NOT_OK(Decompress(codec, raw, {buffer->mutable_data(), static_cast<size_t>(size)}));
    decompressed_ = std::move(buffer);
  }
  return std::span<const uint8_t>(decompressed_->data(), static_cast<size_t>(size));
}

}  // namespace calve::parquet
