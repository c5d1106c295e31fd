#pragma once

#include "calve/compress/codec.h"
#include "calve/parquet/metadata.h"
#include "calve/parquet/pool_vector.h"

#include <cstdint>
#include <optional>
#include <span>

namespace calve::parquet {

/// True when values of the type can be written in `encoding` without a dictionary.
bool CanEncode(Encoding encoding, PhysicalType type);

/// Appends the values of a page, given in PLAIN, in another encoding, or in PLAIN. `plain` is well-formed and the
/// encoding can hold the type. Not for booleans.
Status EncodePlainAs(Encoding encoding, const SchemaElement& element, std::span<const uint8_t> plain, int64_t count,
                     ByteBuffer* out);

/// Chooses the encoding under which a sample of the values comes out smallest once compressed. PLAIN stays unless
/// another one saves a twentieth; of BYTE_ARRAY in pages of the second version, `v2`, a hundredth, for their lengths
/// apart from their bytes are most often worth that. The sample is up to eight pieces of 4 KiB, evenly spread.
Result<Encoding> ChooseEncoding(const SchemaElement& element, std::span<const uint8_t> plain, int64_t count, bool v2,
                                calve::Codec codec, std::optional<int> level, arrow::MemoryPool* pool);

/// Gives pages without a dictionary the encoding that an option names, or that is chosen for each chunk anew by its
/// first such page.
class PageEncoding {
 public:
  /// `wanted`: none: choose. `element` outlives this.
  PageEncoding(const SchemaElement* element, std::optional<Encoding> wanted, bool v2, calve::Codec codec,
               std::optional<int> level, arrow::MemoryPool* pool)
      : element_(element), wanted_(wanted), v2_(v2), codec_(codec), level_(level), encoded_(pool) {}

  /// The page's values, `count` of them, given in PLAIN. Valid until the next call.
  Result<std::span<const uint8_t>> Encode(std::span<const uint8_t> plain, int64_t count);
  /// What pages to come are encoded in; none: not chosen yet.
  std::optional<Encoding> known() const { return wanted_ ? wanted_ : chosen_; }
  /// Of the values that Encode gave last.
  Encoding encoding() const { return encoding_; }
  void EndChunk() { chosen_.reset(); }

 private:
  const SchemaElement* element_;
  const std::optional<Encoding> wanted_;
  const bool v2_;
  const calve::Codec codec_;
  const std::optional<int> level_;
  std::optional<Encoding> chosen_;
  Encoding encoding_ = Encoding::kPlain;
  ByteBuffer encoded_;
};

}  // namespace calve::parquet
