// Object container files:
//
//   file   = magic metadata sync block*
//   magic  = "Obj" 1
//   metadata = an Avro map of bytes with "avro.schema" and, unless it is null, "avro.codec"
//   sync   = 16 bytes
//   block  = long records, long size in bytes, packed records, sync
//   a block packed by snappy ends in the CRC-32 of what it unpacks to (u32, big-endian)
#include "calve/avro/reader.h"

#include "calve/base/status.h"
#include "calve/compress/codec.h"
#include "calve/hash/hash.h"

namespace calve::avro {
namespace {

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr size_t kSyncBytes = 16;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kLargestBlock = size_t{1} << 30;
constexpr int64_t kMostEmptyRecords = 1 << 20;

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

uint32_t BigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

SchemaPtr MetadataSchema() {
  Schema schema;
  schema.kind = Kind::kMap;
  schema.element = Primitive(Kind::kBytes);
  return Seal(std::move(schema));
}

}  // namespace

Result<std::unique_ptr<FileReader>> FileReader::Make(std::string_view bytes) {
  std::unique_ptr<FileReader> reader(new FileReader(bytes));
  ARROW_RETURN_NOT_OK(reader->ReadHeader());
  return reader;
}

std::optional<std::string> FileReader::Metadata(const std::string& key) const {
  auto found = metadata_.find(key);
  return found == metadata_.end() ? std::nullopt : std::optional<std::string>(found->second);
}

Status FileReader::ReadHeader() {
  if (cursor_.Text(kMagic.size()) != kMagic) return Invalid("no Avro file: it does not begin with 'Obj' and 1");
  ARROW_RETURN_NOT_OK(ReadMetadata());
  sync_marker_ = cursor_.Text(kSyncBytes);
  if (!cursor_.ok()) return Invalid("Avro file cut short in its header ({} bytes)", cursor_.offset());
  auto schema = Metadata("avro.schema");
  if (!schema) return Invalid("Avro file without a schema");
  ARROW_ASSIGN_OR_RAISE(schema_, ParseSchema(*schema));
  return ChooseCodec();
}

Status FileReader::ReadMetadata() {
  auto rest = cursor_;
  BinaryDecoder decoder(rest.Text(rest.remaining()));
  Value entries;
  auto status = decoder.Decode(*MetadataSchema(), &entries);
  if (!status.ok()) return WithContext(status, "Avro file header");
  cursor_.Skip(cursor_.remaining() - decoder.remaining());
  for (const auto& entry : *entries.As<Value::List>()) {
    const auto& pair = *entry.As<Value::List>();
    metadata_[*pair[0].As<std::string>()] = *pair[1].As<std::string>();
  }
  return Status::OK();
}

Status FileReader::ChooseCodec() {
  auto name = Metadata("avro.codec").value_or("null");
  if (name == "null" || name.empty()) {
    codec_ = BlockCodec::kNull;
  } else if (name == "deflate") {
    codec_ = BlockCodec::kDeflate;
  } else if (name == "snappy") {
    codec_ = BlockCodec::kSnappy;
  } else if (name == "zstandard") {
    codec_ = BlockCodec::kZstandard;
  } else {
    return NotImplemented("Avro codec '{}'", name);
  }
  return Status::OK();
}

Result<bool> FileReader::Next(Value* out) {
  ARROW_RETURN_NOT_OK(failure_);
  auto result = ReadNext(out);
  if (!result.ok()) failure_ = result.status();
  return result;
}

Result<bool> FileReader::ReadNext(Value* out) {
  while (block_records_left_ == 0) {
    if (block_ && block_->remaining() != 0) {
      return Invalid("Avro block at byte {}: {} bytes are left over after its {} records", block_offset_,
                     block_->remaining(), block_records_);
    }
    block_.reset();
    if (cursor_.at_end()) return false;
    auto status = ReadBlock();
    if (!status.ok()) return WithContext(status, fmt::format("Avro block at byte {}", block_offset_));
  }
  auto status = block_->Decode(*schema_, out);
  if (!status.ok()) {
    return WithContext(
        status, fmt::format("Avro block at byte {}: record {}", block_offset_, block_records_ - block_records_left_));
  }
  --block_records_left_;
  return true;
}

Status FileReader::ReadBlock() {
  block_offset_ = cursor_.offset();
  int64_t records = cursor_.ZigZag(), size = cursor_.ZigZag();
  if (!cursor_.ok()) return Invalid("the file ends in its head");
  if (records < 0 || size < 0) return Invalid("{} records in {} bytes", records, size);
  if (static_cast<uint64_t>(size) > cursor_.remaining()) {
    return Invalid("it should have {} bytes, the file has {} left", size, cursor_.remaining());
  }
  auto packed = cursor_.Text(static_cast<size_t>(size));
  auto sync = cursor_.Text(kSyncBytes);
  if (!cursor_.ok()) return Invalid("the file ends before its sync marker");
  if (sync != sync_marker_) return Invalid("its sync marker is not the file's");
  ARROW_RETURN_NOT_OK(Unpack(packed));
  ARROW_RETURN_NOT_OK(CheckRecordCount(records));
  block_records_ = block_records_left_ = records;
  return Status::OK();
}

Status FileReader::Unpack(std::string_view packed) {
  switch (codec_) {
    case BlockCodec::kNull:
      block_.emplace(packed);
      return Status::OK();
    case BlockCodec::kSnappy:
      ARROW_RETURN_NOT_OK(UnpackSnappy(packed));
      break;
    case BlockCodec::kDeflate: {
      ARROW_ASSIGN_OR_RAISE(unpacked_, DecompressAll(Codec::kDeflate, BytesOf(packed), kLargestBlock));
      break;
    }
    case BlockCodec::kZstandard: {
      ARROW_ASSIGN_OR_RAISE(unpacked_, DecompressAll(Codec::kZstd, BytesOf(packed), kLargestBlock));
      break;
    }
  }
  block_.emplace(unpacked_);
  return Status::OK();
}

Status FileReader::UnpackSnappy(std::string_view packed) {
  if (packed.size() < kChecksumBytes) return Invalid("no room for the checksum of a snappy block");
  auto data = packed.substr(0, packed.size() - kChecksumBytes);
  ARROW_ASSIGN_OR_RAISE(unpacked_, DecompressAll(Codec::kSnappy, BytesOf(data), kLargestBlock));
  uint32_t expected = BigEndian(packed.substr(data.size())), got = Crc32(BytesOf(unpacked_));
  if (expected != got) return Invalid("checksum {:08x}, expected {:08x}", got, expected);
  return Status::OK();
}

Status FileReader::CheckRecordCount(int64_t count) const {
  size_t record_size = schema_->min_size_bytes();
  bool possible =
      record_size == 0 ? count <= kMostEmptyRecords : static_cast<uint64_t>(count) <= block_->remaining() / record_size;
  if (!possible) return Invalid("{} records in {} bytes", count, block_->remaining());
  return Status::OK();
}

}  // namespace calve::avro
