#include "calve/parquet/verify_bloom.h"

#include "calve/parquet/bloom_filter.h"
#include "calve/parquet/file_decryptor.h"

#include "calve/base/status.h"
#include "calve/hash/hash.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <algorithm>

namespace calve::parquet {
namespace {

/// As the format has it: no filter is larger.
constexpr int64_t kLargestFilter = 128 << 20;
constexpr int64_t kFirstReadBytes = 4096;

std::span<const uint8_t> SpanOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

}  // namespace

Status BloomVerifier::Open(arrow::io::RandomAccessFile* file, const ColumnMetadata& column, int64_t end,
                           ChunkDecryptor* decryptor, VerifyReport* report, arrow::MemoryPool* pool) {
  if (!column.bloom_filter_offset) return Status::OK();
  const int64_t offset = *column.bloom_filter_offset;
  if (offset < 4 || offset >= end) {
    report->Add("bloom_filter.offset", offset, fmt::format("a footer at byte {}", end));
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto front, file->ReadAt(offset, std::min(kFirstReadBytes, end - offset)));
  std::shared_ptr<arrow::Buffer> plain = front;
  size_t header_size = 0, module_size = 0;
  if (decryptor != nullptr) {
    auto header = decryptor->Decrypt(crypto::ModuleType::kBloomFilterHeader, SpanOf(*front), &module_size, pool);
    if (!header.ok()) {
      report->Add("bloom_filter.header", "a header", header.status().message());
      return Status::OK();
    }
    plain = *header;
  }
  const auto header = ParseBloomFilterHeader(SpanOf(*plain), &header_size);
  if (!header.ok()) {
    report->Add("bloom_filter.header", "a header", header.status().message());
    return Status::OK();
  }
  if (!header->is_supported) {
    report->NotChecked("a bloom filter of a kind that is not known");
    return Status::OK();
  }
  const int64_t bits_at = offset + static_cast<int64_t>(decryptor == nullptr ? header_size : module_size);
  const int64_t size = header->num_bytes;
  if (size <= 0 || size % kBloomBlockBytes != 0 || size > kLargestFilter || size > end - bits_at) {
    report->Add("bloom_filter.size", fmt::format("{} bytes at byte {}", size, bits_at),
                fmt::format("blocks of {} bytes before the footer at byte {}", kBloomBlockBytes, end));
    return Status::OK();
  }
  if (decryptor != nullptr) {
    constexpr int64_t kModuleSlack = 64;
    ARROW_ASSIGN_OR_RAISE(const auto module, file->ReadAt(bits_at, std::min(size + kModuleSlack, end - bits_at)));
    auto bits = decryptor->Decrypt(crypto::ModuleType::kBloomFilterBitset, SpanOf(*module), &module_size, pool);
    if (!bits.ok() || (*bits)->size() != size) {
      report->Add("bloom_filter.size", size, bits.ok() ? fmt::format("{}", (*bits)->size()) : bits.status().message());
      return Status::OK();
    }
    bits_ = *bits;
    header_size = static_cast<size_t>(bits_at - offset);
  } else {
    ARROW_ASSIGN_OR_RAISE(bits_, file->ReadAt(bits_at, size));
    if (bits_->size() != size) return IOError("{} bytes at byte {}, {} expected", bits_->size(), bits_at, size);
    module_size = static_cast<size_t>(size);
  }
  blocks_ = size / kBloomBlockBytes;
  const auto length = static_cast<int64_t>(header_size + module_size);
  if (column.bloom_filter_length) report->Compare("bloom_filter.length", *column.bloom_filter_length, length);
  return Status::OK();
}

void BloomVerifier::Take(std::span<const std::string_view> values) {
  if (bits_ == nullptr) return;
  for (const std::string_view value : values) {
    const uint64_t hash = Xxh64({reinterpret_cast<const uint8_t*>(value.data()), value.size()}, 0);
    const uint8_t* block = bits_->data() + BloomBlockOf(hash, blocks_) * kBloomBlockBytes;
    missing_ += BloomBlockMightHold(block, hash) ? 0 : 1;
  }
}

void BloomVerifier::Finish(VerifyReport* report) const {
  if (missing_ > 0) report->Add("bloom_filter.values", "every value", fmt::format("{} are not in it", missing_));
}

}  // namespace calve::parquet
