#pragma once

#include "calve/avro/binary.h"
#include "calve/avro/schema.h"
#include "calve/avro/value.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace calve::avro {

/// Reads the records of an object container file that lies in memory.
///
/// Codecs null, deflate, snappy and zstandard; bzip2, xz and others are NotImplemented, by name. A file that ends
/// inside a block is Invalid; one that ends between blocks cannot be told from a whole one here. Not thread-safe.
class FileReader {
 public:
  /// Reads the header. `bytes` outlives the reader.
  static Result<std::unique_ptr<FileReader>> Make(std::string_view bytes);

  const Schema& schema() const { return *schema_; }
  /// The file metadata, "avro.schema" and "avro.codec" among it.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The value under `key`, or nothing.
  std::optional<std::string> Metadata(const std::string& key) const;

  /// Reads the next record; false at the end. After an error every call returns it again.
  Result<bool> Next(Value* out);

 private:
  enum class BlockCodec { kNull, kDeflate, kSnappy, kZstandard };

  explicit FileReader(std::string_view bytes) : cursor_(bytes) {}
  Status ReadHeader();
  Status ReadMetadata();
  Status ChooseCodec();
  Result<bool> ReadNext(Value* out);
  Status ReadBlock();
  Status Unpack(std::string_view packed);
  Status UnpackSnappy(std::string_view packed);
  Status CheckRecordCount(int64_t count) const;

  ByteCursor cursor_;
  std::map<std::string, std::string> metadata_;
  SchemaPtr schema_;
  BlockCodec codec_ = BlockCodec::kNull;
  std::string_view sync_marker_;

  std::string unpacked_;  ///< the bytes of the current block, unless the codec is null
  std::optional<BinaryDecoder> block_;
  size_t block_offset_ = 0;
  int64_t block_records_ = 0, block_records_left_ = 0;
  Status failure_;
};

}  // namespace calve::avro
