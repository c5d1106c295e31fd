#pragma once

#include "calve/parquet/chunk_bytes.h"
#include "calve/parquet/file_decryptor.h"
#include "calve/parquet/metadata.h"

#include <memory>
#include <span>
#include <vector>

namespace calve::parquet {

/// Decrypts the page headers of a column chunk, front to back: each is authenticated for its place in the file.
class PageHeaderDecryptor {
 public:
  /// `dictionary_first`: whether the footer says that the chunk begins with a dictionary page. Since writers differ in
  /// how they say it, the first header decides.
  PageHeaderDecryptor(std::shared_ptr<ChunkDecryptor> chunk, bool dictionary_first)
      : chunk_(std::move(chunk)), dictionary_first_(dictionary_first) {}

  /// What decrypts the pages themselves.
  const std::shared_ptr<ChunkDecryptor>& chunk() const { return chunk_; }

  /// The header that `bytes` stand at, in plaintext; `bytes` go on to its page. Invalid names the module when it is not
  /// the next one of this chunk, or the key is wrong.
  Result<PageHeader> Read(ChunkBytes* bytes);
  /// The ordinal of the data page whose header was read last.
  int64_t page() const { return next_page_ - 1; }
  /// Makes the next header that of data page `ordinal`; a dictionary page is not counted, and not expected any more.
  void SkipTo(int64_t ordinal);

 private:
  Status Decrypt(const crypto::ModuleParts& parts);
  Status TryType(crypto::ModuleType type, const crypto::ModuleParts& parts);

  std::shared_ptr<ChunkDecryptor> chunk_;
  bool dictionary_first_;
  bool at_start_ = true;
  bool is_dictionary_ = false;  ///< the header read last
  int64_t next_page_ = 0;       ///< ordinal of the next data page
  std::vector<uint8_t> header_;
};

/// The size of a page's bytes as they were before encryption. Invalid when `bytes`, all of the page as it lies in the
/// file, are no encrypted page.
Result<size_t> PlaintextBytes(const ChunkDecryptor& chunk, const PageHeader& header, std::span<const uint8_t> bytes);

/// Decrypts a page to `plaintext`, of the size that PlaintextBytes gives. `page`: the ordinal of a data page.
Status DecryptPage(ChunkDecryptor& chunk, const PageHeader& header, int64_t page, std::span<const uint8_t> bytes,
                   std::span<uint8_t> plaintext);

}  // namespace calve::parquet
