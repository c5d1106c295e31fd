#include "calve/parquet/chunk_modules.h"

#include "calve/parquet/page_index_builder.h"

#include <utility>

namespace calve::parquet {

using crypto::ModuleType;

Result<std::string> ChunkModules::Module(ModuleType type, std::string plaintext) {
  if (encryptor_ == nullptr) return plaintext;
  return encryptor_->Encrypt(type, plaintext);
}

Result<ChunkModules> ChunkModules::Make(const LeafColumn& column, const ParquetWriteOptions& options,
                                        WrittenChunk chunk, std::unique_ptr<ChunkEncryptor> encryptor) {
  ChunkModules result;
  result.chunk_ = std::move(chunk);
  result.encryptor_ = std::move(encryptor);
  if (result.encryptor_ != nullptr) ARROW_RETURN_NOT_OK(result.encryptor_->EncryptPages(&result.chunk_));
  if (options.page_index) {
    const auto index = MakeColumnIndex(column, result.chunk_.data_pages, options.size_statistics);
    if (index) {
      ARROW_ASSIGN_OR_RAISE(result.column_index_, result.Module(ModuleType::kColumnIndex, Serialize(*index)));
    }
  }
  if (auto& filter = result.chunk_.bloom_filter; filter && result.encryptor_ != nullptr) {
    ARROW_ASSIGN_OR_RAISE(filter->header, result.encryptor_->Encrypt(ModuleType::kBloomFilterHeader, filter->header));
    ARROW_ASSIGN_OR_RAISE(std::string bits, result.encryptor_->Encrypt(ModuleType::kBloomFilterBitset,
                                                                       std::string_view(*filter->bitset)));
    filter->bitset = arrow::Buffer::FromString(std::move(bits));
  }
  return result;
}

Result<ChunkIndexes> ChunkModules::Indexes(const LeafColumn& column, const ParquetWriteOptions& options,
                                           int64_t offset) {
  ChunkIndexes result;
  if (!options.page_index) return result;
  result.column_index = std::move(column_index_);
  const OffsetIndex index = MakeOffsetIndex(column, chunk_.pages, chunk_.data_pages, offset, options.size_statistics);
  ARROW_ASSIGN_OR_RAISE(result.offset_index, Module(ModuleType::kOffsetIndex, Serialize(index)));
  return result;
}

}  // namespace calve::parquet
