#include "calve/base/operation_pool.h"
#include "calve/base/status.h"
#include "calve/io/mapped_file.h"
#include "calve/ipc/c_export.h"
#include "calve/shuffle/block_decoder.h"
#include "calve/shuffle/conform.h"
#include "calve/shuffle_block.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <array>
#include <utility>

namespace calve {
namespace {

using arrow::Result;
using arrow::Status;
using shuffle::BlockDecoder;

/// What readers of all inputs share: everything but where the next block's bytes come from.
class BlockReader : public ShuffleBlockReader {
 public:
  BlockReader(ShuffleBlockReadOptions options, const Context& context)
      : options_(std::move(options)),
        budget_(context.memory_budget_bytes > 0 ? OperationPool::Make(context) : nullptr),
        pool_(PoolOf(context)),
        decoder_(pool_, options_.trusted, options_.align_values) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_ASSIGN_OR_RAISE(const bool more, DecodeNext());
    if (!more) return nullptr;
    bool reused = false;
    auto batch = ipc::SkeletonPool::MakeBatch(decoded_.schema, decoded_.layout, std::move(decoded_.body), &reused);
    metrics_.skeletons_reused += reused ? 1 : 0;
    if (options_.schema == nullptr) return batch;
    auto conformed = shuffle::ConformBatch(batch, options_.schema, pool_);
    if (conformed.ok()) return conformed;
    return WithContext(conformed.status(), fmt::format("shuffle block at byte {}", block_offset_));
  }

  Result<bool> Next(ArrowArray* out) override {
    ARROW_ASSIGN_OR_RAISE(const bool more, DecodeNext());
    if (!more) return false;
    ARROW_RETURN_NOT_OK(ipc::ExportBatch(decoded_.plan(), decoded_.layout, std::move(decoded_.body), out));
    return true;
  }

  const std::shared_ptr<arrow::Schema>& schema() const override {
    static const std::shared_ptr<arrow::Schema> none;
    return decoded_.schema == nullptr ? none : decoded_.plan().schema;
  }
  const ShuffleBlockHeader& header() const override { return header_; }
  int64_t block_offset() const override { return block_offset_; }
  const ShuffleBlockReadMetrics& metrics() const override { return metrics_; }

 protected:
  /// Reads the next block's head; false at the end. `next_offset_` is where it begins.
  virtual Result<bool> ReadHeader(ShuffleBlockHeader* header) = 0;
  virtual Status DecodePayload(const ShuffleBlockHeader& header, BlockDecoder* decoder, ipc::Decoded* out) = 0;

  int64_t next_offset() const { return next_offset_; }

 private:
  arrow::MemoryPool* PoolOf(const Context& context) const {
    if (budget_ != nullptr) return budget_.get();
    return context.pool != nullptr ? context.pool : arrow::default_memory_pool();
  }

  Result<bool> DecodeNext() {
    if (!failure_.ok()) return failure_;
    auto more = TryDecode();
    if (!more.ok()) {
      failure_ = options_.name.empty() ? more.status() : WithContext(more.status(), options_.name);
      return failure_;
    }
    return *more;
  }

  Result<bool> TryDecode() {
    ShuffleBlockHeader header;
    ARROW_ASSIGN_OR_RAISE(const bool more, ReadHeader(&header));
    if (!more) return false;
    const auto& cache = ipc::ThreadSchemaCache().counts();
    const int64_t hits = cache.hits, misses = cache.misses;
    decoded_.body.Free();  // that of a block that failed
    const Status status = DecodePayload(header, &decoder_, &decoded_);
    if (!status.ok()) {
      decoded_.body.Free();
      return WithContext(status, fmt::format("shuffle block at byte {}", options_.base_offset + next_offset_));
    }
    header_ = header;
    block_offset_ = options_.base_offset + next_offset_;
    next_offset_ += header.block_size();
    Count(cache.hits - hits, cache.misses - misses);
    return true;
  }

  void Count(int64_t hits, int64_t misses) {
    ++metrics_.blocks;
    metrics_.rows += decoded_.layout.rows;
    metrics_.block_bytes += header_.block_size();
    metrics_.decoded_bytes += decoded_.body_bytes;
    metrics_.schema_hits += hits;
    metrics_.schema_misses += misses;
    metrics_.in_place += decoded_.in_place ? 1 : 0;
  }

 protected:
  const ShuffleBlockReadOptions options_;

 private:
  const std::shared_ptr<OperationPool> budget_;
  arrow::MemoryPool* const pool_;
  BlockDecoder decoder_;
  ipc::Decoded decoded_;
  ShuffleBlockHeader header_;
  int64_t block_offset_ = 0, next_offset_ = 0;
  ShuffleBlockReadMetrics metrics_;
  Status failure_;
};

/// Blocks in memory.
class BufferReader final : public BlockReader {
 public:
  BufferReader(std::shared_ptr<arrow::Buffer> blocks, ShuffleBlockReadOptions options, const Context& context)
      : BlockReader(std::move(options), context), blocks_(std::move(blocks)) {}

 protected:
  Result<bool> ReadHeader(ShuffleBlockHeader* header) override {
    const auto left = Left();
    if (left.empty()) return false;
    ARROW_ASSIGN_OR_RAISE(*header, ParseShuffleBlockHeader(left, options_.base_offset + next_offset()));
    const auto there = static_cast<int64_t>(left.size());
    if (header->block_size() <= there) return true;
    return Invalid("shuffle block at byte {}: length {} goes beyond the input, which has {} bytes more",
                   options_.base_offset + next_offset(), header->length, there - ShuffleBlockHeader::kLengthBytes);
  }

  Status DecodePayload(const ShuffleBlockHeader& header, BlockDecoder* decoder, ipc::Decoded* out) override {
    const auto payload = Left().subspan(ShuffleBlockHeader::kSize, static_cast<size_t>(header.payload_size()));
    return decoder->Decode(header.codec, payload, blocks_, out);
  }

 private:
  std::span<const uint8_t> Left() const {
    return std::span(blocks_->data(), static_cast<size_t>(blocks_->size())).subspan(static_cast<size_t>(next_offset()));
  }

  const std::shared_ptr<arrow::Buffer> blocks_;
};

/// What is left of a payload in a stream.
class StreamSource final : public ipc::ByteSource {
 public:
  StreamSource(arrow::io::InputStream* stream, int64_t size) : stream_(stream), left_(size) {}

  Result<int64_t> Read(uint8_t* out, int64_t size) override {
    int64_t done = 0;
    while (done < std::min(size, left_)) {
      ARROW_ASSIGN_OR_RAISE(const int64_t read, stream_->Read(std::min(size, left_) - done, out + done));
      if (read == 0) return Invalid("length goes beyond the input, which ends {} bytes before", left_ - done);
      done += read;
    }
    left_ -= done;
    return done;
  }
  int64_t MostLeft() const override { return left_; }
  bool is_bounded() const override { return false; }

 private:
  arrow::io::InputStream* stream_;
  int64_t left_;
};

/// Blocks from a stream. Compressed payloads are read to scratch memory, others to where they belong.
class StreamReader final : public BlockReader {
 public:
  StreamReader(std::shared_ptr<arrow::io::InputStream> stream, ShuffleBlockReadOptions options, const Context& context)
      : BlockReader(std::move(options), context), stream_(std::move(stream)) {}

 protected:
  Result<bool> ReadHeader(ShuffleBlockHeader* header) override {
    std::array<uint8_t, ShuffleBlockHeader::kSize> head;
    size_t size = 0;
    while (size < head.size()) {
      ARROW_ASSIGN_OR_RAISE(const int64_t read,
                            stream_->Read(static_cast<int64_t>(head.size() - size), head.data() + size));
      if (read == 0) break;
      size += static_cast<size_t>(read);
    }
    if (size == 0) return false;
    ARROW_ASSIGN_OR_RAISE(*header,
                          ParseShuffleBlockHeader(std::span(head).first(size), options_.base_offset + next_offset()));
    return true;
  }

  Status DecodePayload(const ShuffleBlockHeader& header, BlockDecoder* decoder, ipc::Decoded* out) override {
    StreamSource source(stream_.get(), header.payload_size());
    if (header.codec == ShuffleCodec::kNone) return decoder->Decode(&source, out);
    Status status = ReadPayload(&source, header.payload_size());
    if (status.ok()) {
      status = decoder->Decode(header.codec, {payload_.data(), static_cast<size_t>(payload_.size())}, nullptr, out);
    }
    if (!status.ok()) payload_.ReleaseIfLarge();
    return status;
  }

 private:
  /// Grows with what comes, not with what was announced.
  Status ReadPayload(StreamSource* source, int64_t size) {
    constexpr int64_t kStep = int64_t{1} << 20;
    payload_.Clear();
    while (payload_.size() < size) {
      const int64_t step = std::min(size - payload_.size(), std::max(kStep, payload_.size()));
      ARROW_RETURN_NOT_OK(source->Read(payload_.Grow(step), step).status());
    }
    return Status::OK();
  }

  const std::shared_ptr<arrow::io::InputStream> stream_;
  ipc::Scratch payload_;
};

}  // namespace

std::unique_ptr<ShuffleBlockReader> ShuffleBlockReader::Make(std::shared_ptr<arrow::Buffer> blocks,
                                                             ShuffleBlockReadOptions options, const Context& context) {
  return std::make_unique<BufferReader>(std::move(blocks), std::move(options), context);
}

std::unique_ptr<ShuffleBlockReader> ShuffleBlockReader::Make(std::shared_ptr<arrow::io::InputStream> stream,
                                                             ShuffleBlockReadOptions options, const Context& context) {
  return std::make_unique<StreamReader>(std::move(stream), std::move(options), context);
}

Result<std::unique_ptr<ShuffleBlockReader>> ShuffleBlockReader::Open(const std::string& path, int64_t offset,
                                                                     std::optional<int64_t> length,
                                                                     ShuffleBlockReadOptions options,
                                                                     const Context& context) {
  ARROW_ASSIGN_OR_RAISE(const auto file, OpenMappedFile(path, path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  if (offset < 0 || offset > size || length.value_or(0) < 0 || length.value_or(0) > size - offset) {
    return Invalid("{}: bytes {} to {} of a file of {}", path, offset, offset + length.value_or(0), size);
  }
  ARROW_ASSIGN_OR_RAISE(auto blocks, file->ReadAt(offset, length.value_or(size - offset)));
  options.base_offset += offset;
  if (options.name.empty()) options.name = path;
  return Make(std::move(blocks), std::move(options), context);
}

}  // namespace calve
