#include "calve/parquet/bloom_filter.h"

#include "calve/parquet/file_decryptor.h"
#include "calve/parquet/thrift_reader.h"

#include "calve/base/status.h"
#include "calve/expr/domain.h"
#include "calve/hash/hash.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/type.h>
#include <arrow/util/float16.h>

#include <algorithm>
#include <cstring>

// filter := BloomFilterHeader block*
// block  := 8 words of 32 bits, little-endian; a value sets one bit of each
//
// Of an encrypted chunk the header and all blocks together are a module each.
//
// The upper half of a value's hash chooses the block, the lower half the bits.

namespace calve::parquet {
namespace {

using Field = ThriftReader::Field;

/// A header and the bits of small filters come in one read of this size.
constexpr int64_t kFirstReadBytes = 4096;
/// A filter of up to this size is read whole.
constexpr int64_t kSmallFilterBytes = 64 << 10;

constexpr uint32_t kSalt[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                               0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};

/// A union: true when it is its first member.
bool ReadFirstOfUnion(ThriftReader& in, Field field, const char* name, bool* is_first) {
  return in.ReadStruct(field, name, [&] {
    in.Struct(name, [&](Field member) {
      if (member.id != 1) return false;
      *is_first = true;
      return in.ReadStruct(member, name, [&] { in.Struct(name, [](Field) { return false; }); });
    });
  });
}

std::span<const uint8_t> SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// The header of an encrypted filter, a module of its own; `module_size` gets the bytes that it took.
Result<BloomFilterHeader> DecryptHeader(std::span<const uint8_t> bytes, ChunkDecryptor* decryptor,
                                        size_t* module_size) {
  ARROW_ASSIGN_OR_RAISE(const auto header, decryptor->Decrypt(crypto::ModuleType::kBloomFilterHeader, bytes,
                                                              module_size, arrow::default_memory_pool()));
  size_t header_size = 0;
  return ParseBloomFilterHeader(SpanOf(*header), &header_size);
}

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

template <typename T>
uint64_t HashOf(T plain) {
  uint8_t bytes[sizeof(T)];
  std::memcpy(bytes, &plain, sizeof(T));
  return Xxh64(bytes, 0);
}

using Hashes = std::optional<std::vector<uint64_t>>;

/// Both zeros are equal, and one of them is no NaN.
template <typename T>
Hashes HashesOfReal(T value) {
  if (value != value) return std::nullopt;
  if (value == 0) return std::vector<uint64_t>{HashOf(T{0}), HashOf(-T{0})};
  return std::vector<uint64_t>{HashOf(value)};
}

Hashes HashesOfHalf(float value) {
  const auto half = arrow::util::Float16::FromFloat(value);
  if (half.ToFloat() != value) return std::nullopt;
  if (value == 0) return std::vector<uint64_t>{HashOf(uint16_t{0}), HashOf(uint16_t{0x8000})};
  return std::vector<uint64_t>{HashOf(half.bits())};
}

Hashes HashesOfFixedDecimal(expr::Int128 number, int32_t width) {
  constexpr int32_t kLongest = 64;
  if (width < 1 || width > kLongest) return std::nullopt;
  uint8_t bytes[kLongest];
  for (int32_t i = width; i-- > 0; number >>= 8) bytes[i] = static_cast<uint8_t>(number);
  return std::vector<uint64_t>{Xxh64({bytes, static_cast<size_t>(width)}, 0)};
}

}  // namespace

Result<BloomFilterHeader> ParseBloomFilterHeader(std::span<const uint8_t> bytes, size_t* header_size) {
  static constexpr char kName[] = "BloomFilterHeader";
  ThriftReader in(bytes);
  BloomFilterHeader out;
  bool blocks = false, xxhash = false, uncompressed = false;
  auto seen = in.Struct(kName, [&](Field field) {
    switch (field.id) {
      case 1:
        return in.Read(field, "numBytes", &out.num_bytes);
      case 2:
        return ReadFirstOfUnion(in, field, "algorithm", &blocks);
      case 3:
        return ReadFirstOfUnion(in, field, "hash", &xxhash);
      case 4:
        return ReadFirstOfUnion(in, field, "compression", &uncompressed);
      default:
        return false;
    }
  });
  in.Require(seen, 1, kName, "numBytes");
  *header_size = in.offset();
  ARROW_RETURN_NOT_OK(in.status());
  out.is_supported = blocks && xxhash && uncompressed;
  return out;
}

int64_t BloomBlockOf(uint64_t hash, int64_t blocks) {
  return static_cast<int64_t>((hash >> 32) * static_cast<uint64_t>(blocks) >> 32);
}

bool BloomBlockMightHold(const uint8_t* block, uint64_t hash) {
  const auto key = static_cast<uint32_t>(hash);
  uint32_t words[8];
  std::memcpy(words, block, sizeof(words));
  uint32_t all = 1;
  for (int i = 0; i < 8; ++i) all &= words[i] >> (key * kSalt[i] >> 27);
  return (all & 1) != 0;
}

void BloomBlockInsert(uint8_t* block, uint64_t hash) {
  const auto key = static_cast<uint32_t>(hash);
  uint32_t words[8];
  std::memcpy(words, block, sizeof(words));
  for (int i = 0; i < 8; ++i) words[i] |= uint32_t{1} << (key * kSalt[i] >> 27);
  std::memcpy(block, words, sizeof(words));
}

Hashes BloomHashesOf(const Value& value, const SchemaElement& element, const arrow::DataType& type) {
  const expr::Domain domain = expr::DomainOf(type);
  const auto number = expr::HolderNumber(value);
  const auto* bytes = std::get_if<std::string>(&value);
  switch (*element.type) {
    case PhysicalType::kInt32:
      if (!number) return std::nullopt;
      return std::vector<uint64_t>{HashOf(static_cast<uint32_t>(*number))};
    case PhysicalType::kInt64:
      if (!number) return std::nullopt;
      return std::vector<uint64_t>{HashOf(static_cast<uint64_t>(*number))};
    case PhysicalType::kFloat:
      return std::holds_alternative<float>(value) ? HashesOfReal(std::get<float>(value)) : std::nullopt;
    case PhysicalType::kDouble:
      return std::holds_alternative<double>(value) ? HashesOfReal(std::get<double>(value)) : std::nullopt;
    case PhysicalType::kByteArray:
      if (bytes == nullptr || !domain.is_bytes()) return std::nullopt;
      return std::vector<uint64_t>{Xxh64(BytesOf(*bytes), 0)};
    case PhysicalType::kFixedLenByteArray:
      if (domain.kind == expr::Domain::Kind::kDecimal && number) {
        return HashesOfFixedDecimal(*number, element.type_length);
      }
      if (domain.half) {
        return std::holds_alternative<float>(value) ? HashesOfHalf(std::get<float>(value)) : std::nullopt;
      }
      if (bytes == nullptr || !domain.is_bytes()) return std::nullopt;
      return std::vector<uint64_t>{Xxh64(BytesOf(*bytes), 0)};
    case PhysicalType::kBoolean:
    case PhysicalType::kInt96:
      break;
  }
  return std::nullopt;
}

Result<std::optional<BloomFilter>> BloomFilter::Open(arrow::io::RandomAccessFile* file, const ColumnMetadata& column,
                                                     int64_t end, ChunkDecryptor* decryptor) {
  const int64_t offset = column.bloom_filter_offset.value_or(0);
  if (offset <= 0 || offset >= end) return std::optional<BloomFilter>();
  BloomFilter filter;
  filter.file_ = file;
  // Without a length the filter may take what is left.
  const int64_t available = std::min<int64_t>(end - offset, column.bloom_filter_length.value_or(end - offset));
  const int64_t first = std::min(available, available <= kSmallFilterBytes ? available : kFirstReadBytes);
  if (first <= 0) return std::optional<BloomFilter>();
  std::shared_ptr<arrow::Buffer> bytes;
  ARROW_RETURN_NOT_OK(filter.Load(offset, first, &bytes));
  size_t header_size = 0;
  const auto header = decryptor != nullptr ? DecryptHeader(SpanOf(*bytes), decryptor, &header_size)
                                           : ParseBloomFilterHeader(SpanOf(*bytes), &header_size);
  if (!header.ok() || !header->is_supported || header->num_bytes < kBloomBlockBytes ||
      header->num_bytes % kBloomBlockBytes != 0) {
    return std::optional<BloomFilter>();
  }
  const auto skipped = static_cast<int64_t>(header_size);
  if (header->num_bytes > available - skipped) return std::optional<BloomFilter>();
  filter.offset_ = offset + skipped;
  filter.blocks_ = header->num_bytes / kBloomBlockBytes;
  if (decryptor != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const bool usable, filter.DecryptBits(available - skipped, header->num_bytes, decryptor));
    if (!usable) return std::optional<BloomFilter>();
  } else if (header->num_bytes <= first - skipped) {
    filter.bits_ = arrow::SliceBuffer(bytes, skipped, header->num_bytes);
  }
  return std::optional<BloomFilter>(std::move(filter));
}

Result<bool> BloomFilter::DecryptBits(int64_t available, int64_t num_bytes, ChunkDecryptor* decryptor) {
  const int64_t size = num_bytes + static_cast<int64_t>(crypto::ModuleOverhead(crypto::ModuleType::kBloomFilterBitset,
                                                                               decryptor->pages()));
  if (size > available) return false;
  std::shared_ptr<arrow::Buffer> module;
  ARROW_RETURN_NOT_OK(Load(offset_, size, &module));
  auto bits = decryptor->Decrypt(crypto::ModuleType::kBloomFilterBitset, SpanOf(*module), nullptr,
                                 arrow::default_memory_pool());
  if (!bits.ok() || (*bits)->size() != num_bytes) return false;
  bits_ = bits.MoveValueUnsafe();
  return true;
}

Status BloomFilter::Load(int64_t offset, int64_t size, std::shared_ptr<arrow::Buffer>* out) {
  ARROW_ASSIGN_OR_RAISE(*out, file_->ReadAt(offset, size));
  bytes_read_ += (*out)->size();
  if ((*out)->size() == size) return Status::OK();
  return IOError("{} bytes at byte {} of the file, {} expected", (*out)->size(), offset, size);
}

Result<bool> BloomFilter::MightHoldAny(std::span<const uint64_t> hashes) {
  // A block costs a request, about as much as reading so many bytes in one go.
  constexpr int64_t kBytesOfRequest = 16 << 10;
  const int64_t size = blocks_ * kBloomBlockBytes;
  const bool whole = size <= kSmallFilterBytes || static_cast<int64_t>(hashes.size()) >= size / kBytesOfRequest;
  if (bits_ == nullptr && whole) ARROW_RETURN_NOT_OK(Load(offset_, size, &bits_));
  for (uint64_t hash : hashes) {
    const int64_t at = BloomBlockOf(hash, blocks_) * kBloomBlockBytes;
    std::shared_ptr<arrow::Buffer> block;
    if (bits_ == nullptr) ARROW_RETURN_NOT_OK(Load(offset_ + at, kBloomBlockBytes, &block));
    if (BloomBlockMightHold(bits_ != nullptr ? bits_->data() + at : block->data(), hash)) return true;
  }
  return false;
}

}  // namespace calve::parquet
