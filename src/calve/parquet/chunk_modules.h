#pragma once

#include "calve/parquet/column_writer.h"
#include "calve/parquet/file_encryptor.h"

#include <memory>
#include <string>

namespace calve::parquet {

/// What of a chunk goes into the file elsewhere than its pages, as the file has it; empty: nothing.
struct ChunkIndexes {
  std::string column_index, offset_index;
};

/// A finished chunk with all that goes with it, encrypted where that is wanted.
class ChunkModules {
 public:
  /// Takes a chunk as its writer finished it. `encryptor`: null for plaintext. Different chunks may be made by
  /// different threads.
  static Result<ChunkModules> Make(const LeafColumn& column, const ParquetWriteOptions& options, WrittenChunk chunk,
                                   std::unique_ptr<ChunkEncryptor> encryptor);

  WrittenChunk& chunk() { return chunk_; }
  ChunkEncryptor* encryptor() const { return encryptor_.get(); }
  /// None: there is no filter.
  const std::optional<WrittenBloomFilter>& bloom_filter() const { return chunk_.bloom_filter; }
  /// The chunk's indexes, once it is known at which byte of the file the chunk begins. None when they are not wanted.
  Result<ChunkIndexes> Indexes(const LeafColumn& column, const ParquetWriteOptions& options, int64_t offset);

 private:
  Result<std::string> Module(crypto::ModuleType type, std::string plaintext);

  WrittenChunk chunk_;
  std::unique_ptr<ChunkEncryptor> encryptor_;
  std::string column_index_;
};

}  // namespace calve::parquet
