#include "calve/parquet/page.h"

#include "calve/parquet/page_decryption.h"

#include "calve/array/array_data.h"
#include "calve/base/status.h"
#include "calve/compress/codec.h"
#include "calve/hash/hash.h"

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

bool HasLevelsApart(const PageHeader& header) { return header.type == PageType::kDataPageV2; }

int64_t NumValues(const PageHeader& header) {
  return HasLevelsApart(header) ? header.data_page_v2->num_values : header.data_page->num_values;
}

class PageOpener {
 public:
  PageOpener(const ChunkPlan& plan, const PageOptions& options, int64_t ordinal, Page* page)
      : plan_(plan), options_(options), ordinal_(ordinal), page_(*page) {}

  Status Open(std::span<const uint8_t> raw) {
    if (options_.verify_crc && page_.header.crc) {
      const uint32_t expected = static_cast<uint32_t>(*page_.header.crc), got = Crc32(raw);
      if (got != expected) return Invalid("CRC {:08x}, the header says {:08x}", got, expected);
    }
    if (plan_.decryptor != nullptr) {
      ARROW_ASSIGN_OR_RAISE(raw, Decrypt(raw));
    }
    if (HasLevelsApart(page_.header)) return OpenV2(raw);
    return Decompress(raw, page_.header.uncompressed_page_size);
  }

 private:
  Result<std::span<const uint8_t>> Decrypt(std::span<const uint8_t> raw) {
    ARROW_ASSIGN_OR_RAISE(const size_t size, PlaintextBytes(*plan_.decryptor, page_.header, raw));
    ARROW_ASSIGN_OR_RAISE(auto buffer, NewBuffer(static_cast<int64_t>(size), options_.pool));
    const std::span<uint8_t> plaintext(buffer->mutable_data(), size);
    ARROW_RETURN_NOT_OK(DecryptPage(*plan_.decryptor, page_.header, ordinal_, raw, plaintext));
    page_.memory = std::move(buffer);
    return plaintext;
  }

  Status OpenV2(std::span<const uint8_t> raw) {
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
    if (header.is_compressed) return Decompress(values, size);
    if (size != static_cast<int64_t>(values.size())) {
      return Invalid("{} bytes of values that are not compressed, {} uncompressed", values.size(), size);
    }
    KeepBody(values);
    return Status::OK();
  }

  /// The body is what `raw` holds.
  void KeepBody(std::span<const uint8_t> raw) {
    page_.body = raw;
    page_.body_memory = page_.memory;
  }

  Status Decompress(std::span<const uint8_t> raw, int64_t size) {
    ARROW_ASSIGN_OR_RAISE(const Codec codec, CodecOf(plan_.codec));
    const int64_t raw_size = static_cast<int64_t>(raw.size());
    if (codec == Codec::kUncompressed) {
      if (raw_size != size) return Invalid("{} bytes that are not compressed, {} uncompressed", raw_size, size);
      KeepBody(raw);
      return Status::OK();
    }
    if (size == 0) {
      KeepBody(raw.first(0));
      return Status::OK();
    }
    const int64_t expansion = MaxExpansion(codec);
    if (expansion > 0 && size > raw_size * expansion + kExpansionSlack) {
      return Invalid("{} bytes of {} cannot become {} bytes", raw_size, ToString(plan_.codec), size);
    }
    StageTimer timer(options_.counters == nullptr ? nullptr : &options_.counters->decompress_ns);
    const bool trusted = expansion > 0 || size <= kTrustedBytes || size / kTrustedExpansion <= raw_size;
    ARROW_RETURN_NOT_OK(trusted ? DecompressInto(codec, raw, size) : DecompressGrowing(codec, raw, size));
    page_.body = {page_.body_memory->data(), static_cast<size_t>(size)};
    if (options_.counters != nullptr) options_.counters->bytes_decompressed += size;
    return Status::OK();
  }

  Status DecompressInto(Codec codec, std::span<const uint8_t> raw, int64_t size) {
    ARROW_ASSIGN_OR_RAISE(auto buffer, NewBuffer(size, options_.pool));
    ARROW_RETURN_NOT_OK(calve::Decompress(codec, raw, {buffer->mutable_data(), static_cast<size_t>(size)}));
    page_.body_memory = std::move(buffer);
    return Status::OK();
  }

  Status DecompressGrowing(Codec codec, std::span<const uint8_t> raw, int64_t size) {
    ARROW_ASSIGN_OR_RAISE(std::string grown, DecompressAll(codec, raw, static_cast<size_t>(size)));
    if (static_cast<int64_t>(grown.size()) != size) {
      return Invalid("decompressed to {} bytes, expected {}", grown.size(), size);
    }
    page_.body_memory = arrow::Buffer::FromString(std::move(grown));
    return Status::OK();
  }

  const ChunkPlan& plan_;
  const PageOptions& options_;
  const int64_t ordinal_;
  Page& page_;
};

}  // namespace

std::string PagePlace::text() const { return fmt::format("page {} at byte {}", index, offset); }

int64_t RawPage::num_values() const { return NumValues(header); }
int64_t Page::num_values() const { return NumValues(header); }

Encoding Page::encoding() const {
  return HasLevelsApart(header) ? header.data_page_v2->encoding : header.data_page->encoding;
}

Result<Page> OpenPage(RawPage raw, const ChunkPlan& plan, const PageOptions& options) {
  Page page;
  page.header = std::move(raw.header);
  page.offset = raw.offset;
  page.index = raw.index;
  page.memory = std::move(raw.memory);
  ARROW_RETURN_NOT_OK(PageOpener(plan, options, raw.ordinal, &page).Open(raw.bytes));
  if (!HasLevelsApart(page.header)) page.memory = nullptr;
  return page;
}

}  // namespace calve::parquet
