// The bytes are those of reader.cc.
#include "calve/avro/writer.h"

#include "calve/avro/binary.h"
#include "calve/base/status.h"
#include "calve/compress/codec.h"
#include "calve/hash/hash.h"

#include <random>

namespace calve::avro {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kSyncBytes = 16;

std::string RandomBytes(size_t size) {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < size) bytes.push_back(static_cast<char>(random()));
  return bytes;
}

void AppendBigEndian(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

bool IsKnown(std::string_view codec) {
  return codec == "null" || codec == "deflate" || codec == "snappy" || codec == "zstandard";
}

}  // namespace

FileWriter::FileWriter(SchemaPtr schema, std::string codec)
    : schema_(std::move(schema)), codec_(std::move(codec)), sync_marker_(RandomBytes(kSyncBytes)) {}

Result<std::unique_ptr<FileWriter>> FileWriter::Make(SchemaPtr schema,
                                                     const std::vector<std::pair<std::string, std::string>>& metadata,
                                                     std::string_view codec) {
  if (!IsKnown(codec)) return NotImplemented("Avro codec '{}'", codec);
  std::unique_ptr<FileWriter> writer(new FileWriter(std::move(schema), std::string(codec)));
  writer->WriteHeader(metadata);
  return writer;
}

void FileWriter::WriteHeader(const std::vector<std::pair<std::string, std::string>>& metadata) {
  file_.append("Obj\x01", 4);
  AppendLong(static_cast<int64_t>(metadata.size()) + 2, &file_);
  AppendText("avro.schema", &file_);
  AppendText(ToJsonText(*schema_), &file_);
  AppendText("avro.codec", &file_);
  AppendText(codec_, &file_);
  for (const auto& [key, value] : metadata) {
    AppendText(key, &file_);
    AppendText(value, &file_);
  }
  AppendLong(0, &file_);
  file_ += sync_marker_;
}

Status FileWriter::Append(const Value& record) {
  size_t before = block_.size();
  auto status = Encode(*schema_, record, &block_);
  if (!status.ok()) {
    block_.resize(before);
    return status;
  }
  ++block_records_;
  return block_.size() >= kBlockBytes ? EndBlock() : Status::OK();
}

Status FileWriter::EndBlock() {
  if (block_records_ == 0) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto packed, Pack());
  AppendLong(block_records_, &file_);
  AppendText(packed, &file_);
  file_ += sync_marker_;
  block_.clear();
  block_records_ = 0;
  return Status::OK();
}

Result<std::string> FileWriter::Pack() const {
  if (codec_ == "deflate") return CompressToString(Codec::kDeflate, {}, block_);
  if (codec_ == "zstandard") return CompressToString(Codec::kZstd, {}, block_);
  if (codec_ == "null") return block_;
  ARROW_ASSIGN_OR_RAISE(auto packed, CompressToString(Codec::kSnappy, {}, block_));
  AppendBigEndian(Crc32({reinterpret_cast<const uint8_t*>(block_.data()), block_.size()}), &packed);
  return packed;
}

Result<std::string> FileWriter::Finish() {
  ARROW_RETURN_NOT_OK(EndBlock());
  return std::move(file_);
}

}  // namespace calve::avro
