#include "calve/parquet/page_decryption.h"

#include "calve/base/status.h"

// An encrypted column chunk; compressed_page_size of a header is that of its page's module:
//
//   chunk  := [module of the dictionary page's header, module of the dictionary page] (header's module, page's module)*
//
// A v2 page is a module as a whole. parquet-java leaves its levels in plaintext before a module of the values alone;
// the length that either begins with tells which it is, and a page that neither fits is damaged.

namespace calve::parquet {
namespace {

using crypto::ModuleType;

/// As for headers in plaintext: one that is longer is taken for damage.
constexpr int64_t kMaxHeaderBytes = 16 << 20;

bool IsDataPage(PageType type) { return type == PageType::kDataPage || type == PageType::kDataPageV2; }

ModuleType ModuleOf(const PageHeader& header) {
  return IsDataPage(header.type) ? ModuleType::kDataPage : ModuleType::kDictionaryPage;
}

/// Bytes of the module at the start of `bytes`, of which there are at least four.
int64_t ModuleBytes(std::span<const uint8_t> bytes) {
  uint32_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return int64_t{length} + static_cast<int64_t>(crypto::kModuleLengthBytes);
}

bool IsModule(std::span<const uint8_t> bytes) {
  return bytes.size() >= crypto::kModuleLengthBytes && ModuleBytes(bytes) == static_cast<int64_t>(bytes.size());
}

/// How many bytes of levels stand in plaintext before the page's module.
Result<size_t> PlaintextLevels(const PageHeader& header, std::span<const uint8_t> bytes) {
  if (IsModule(bytes)) return 0;
  if (header.type == PageType::kDataPageV2) {
    const int64_t repetition = header.data_page_v2->repetition_levels_byte_length;
    const int64_t definition = header.data_page_v2->definition_levels_byte_length;
    const int64_t levels = repetition + definition;
    const bool fits = repetition >= 0 && definition >= 0 && levels <= static_cast<int64_t>(bytes.size());
    if (fits && IsModule(bytes.subspan(static_cast<size_t>(levels)))) return static_cast<size_t>(levels);
  }
  return Invalid("encrypted page of {} bytes that is no module of that size", bytes.size());
}

}  // namespace

void PageHeaderDecryptor::SkipTo(int64_t ordinal) {
  at_start_ = false;
  next_page_ = ordinal;
}

Result<PageHeader> PageHeaderDecryptor::Read(ChunkBytes* bytes) {
  ARROW_ASSIGN_OR_RAISE(auto window, bytes->Peek(crypto::kModuleLengthBytes));
  if (window.size() < crypto::kModuleLengthBytes) return Invalid("encrypted page header cut short");
  const int64_t size = ModuleBytes(window);
  if (size > kMaxHeaderBytes) return Invalid("encrypted page header of {} bytes", size);
  if (size > bytes->remaining()) {
    return Invalid("encrypted page header of {} bytes, the column chunk has {} left", size, bytes->remaining());
  }
  ARROW_ASSIGN_OR_RAISE(window, bytes->Peek(size));
  ARROW_ASSIGN_OR_RAISE(const auto parts, crypto::SplitModule(ModuleType::kDataPageHeader, chunk_->pages(), window));
  ARROW_RETURN_NOT_OK(Decrypt(parts));
  at_start_ = false;
  size_t header_size = 0;
  ARROW_ASSIGN_OR_RAISE(const PageHeader header, ParsePageHeader(header_, &header_size));
  if (is_dictionary_ ? header.type != PageType::kDictionaryPage : !IsDataPage(header.type)) {
    return Invalid("a page of type {} under the header of a {}", static_cast<int>(header.type),
                   is_dictionary_ ? "dictionary page" : "data page");
  }
  if (!is_dictionary_) ++next_page_;
  bytes->Skip(size);
  return header;
}

Status PageHeaderDecryptor::Decrypt(const crypto::ModuleParts& parts) {
  if (!at_start_) return TryType(ModuleType::kDataPageHeader, parts);
  const ModuleType likely = dictionary_first_ ? ModuleType::kDictionaryPageHeader : ModuleType::kDataPageHeader;
  const ModuleType other = dictionary_first_ ? ModuleType::kDataPageHeader : ModuleType::kDictionaryPageHeader;
  const Status status = TryType(likely, parts);
  return status.ok() || TryType(other, parts).ok() ? Status::OK() : status;
}

Status PageHeaderDecryptor::TryType(ModuleType type, const crypto::ModuleParts& parts) {
  is_dictionary_ = type == ModuleType::kDictionaryPageHeader;
  header_.resize(parts.ciphertext.size());
  return chunk_->Decrypt(type, next_page_, parts, header_);
}

Result<size_t> PlaintextBytes(const ChunkDecryptor& chunk, const PageHeader& header, std::span<const uint8_t> bytes) {
  ARROW_ASSIGN_OR_RAISE(const size_t levels, PlaintextLevels(header, bytes));
  ARROW_ASSIGN_OR_RAISE(const auto parts, crypto::SplitModule(ModuleOf(header), chunk.pages(), bytes.subspan(levels)));
  return levels + parts.ciphertext.size();
}

Status DecryptPage(ChunkDecryptor& chunk, const PageHeader& header, int64_t page, std::span<const uint8_t> bytes,
                   std::span<uint8_t> plaintext) {
  ARROW_ASSIGN_OR_RAISE(const size_t levels, PlaintextLevels(header, bytes));
  const ModuleType type = ModuleOf(header);
  ARROW_ASSIGN_OR_RAISE(const auto parts, crypto::SplitModule(type, chunk.pages(), bytes.subspan(levels)));
  if (plaintext.size() != levels + parts.ciphertext.size()) {
    return Invalid("{} bytes of room for a page of {}", plaintext.size(), levels + parts.ciphertext.size());
  }
  std::copy_n(bytes.data(), levels, plaintext.data());
  return chunk.Decrypt(type, page, parts, plaintext.subspan(levels));
}

}  // namespace calve::parquet
