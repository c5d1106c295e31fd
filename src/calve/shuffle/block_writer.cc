#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/ipc/stream_encoder.h"
#include "calve/shuffle/block_compressor.h"
#include "calve/shuffle/offsets_as_lengths.h"
#include "calve/shuffle_block.h"

#include <arrow/type.h>

#include <climits>

namespace calve {

namespace {

class BlockWriter final : public ShuffleBlockWriter {
 public:
  BlockWriter(const ShuffleBlockWriteOptions& options, std::unique_ptr<ipc::StreamEncoder> encoder,
              std::unique_ptr<shuffle::BlockCompressor> compressor, arrow::MemoryPool* pool)
      : codec_(options.codec),
        as_lengths_(codec_ == ShuffleCodec::kZstdOffsetsAsLengths &&
                    shuffle::CanStoreOffsetsAsLengths(*encoder->schema())),
        encoder_(std::move(encoder)),
        compressor_(std::move(compressor)),
        compressed_(pool) {
    if (codec_ == ShuffleCodec::kZstdOffsetsAsLengths && !as_lengths_) codec_ = ShuffleCodec::kZstd;
  }

  using ShuffleBlockWriter::Encode;
  Result<std::span<const uint8_t>> Encode(std::span<const ShuffleRows> rows) override {
    rows_.clear();
    int64_t count = 0;
    for (const ShuffleRows& some : rows) {
      if (some.count == 0) continue;
      rows_.push_back({some.batch, some.rows, some.count, some.first});
      count += some.count;
    }
    if (count == 0) return std::span<const uint8_t>();
    ARROW_ASSIGN_OR_RAISE(const auto stream, encoder_->Encode(rows_));
    ARROW_ASSIGN_OR_RAISE(const auto block, compressor_ == nullptr ? Uncompressed(stream) : Compressed(stream));
    ++metrics_.blocks;
    metrics_.rows += count;
    metrics_.block_bytes += static_cast<int64_t>(block.size());
    metrics_.encoded_bytes += static_cast<int64_t>(stream.size());
    return block;
  }

  const ShuffleBlockWriteMetrics& metrics() const override { return metrics_; }
  int64_t held_bytes() const override { return encoder_->held_bytes() + compressed_.capacity(); }
  void Release() override {
    encoder_->Release();
    compressed_.Release();
  }

 private:
  // The head goes into the bytes in front of the stream.
  Result<std::span<const uint8_t>> Uncompressed(std::span<uint8_t> stream) {
    static_assert(ipc::StreamEncoder::kFront >= ShuffleBlockHeader::kSize);
    uint8_t* head = stream.data() - ShuffleBlockHeader::kSize;
    const auto size = ShuffleBlockHeader::kSize + stream.size();
    ARROW_RETURN_NOT_OK(PutHead(static_cast<int64_t>(size), head));
    return std::span<const uint8_t>(head, size);
  }

  Result<std::span<const uint8_t>> Compressed(std::span<uint8_t> stream) {
    if (as_lengths_) {
      for (const ipc::OffsetsPlace& place : encoder_->offsets()) {
        shuffle::StoreOffsetsAsLengths(
            stream.subspan(static_cast<size_t>(place.position), static_cast<size_t>(place.values) * 4), &scratch_);
      }
    }
    compressed_.Truncate(0);
    ARROW_RETURN_NOT_OK(compressed_.Extend(ShuffleBlockHeader::kSize).status());
    ARROW_RETURN_NOT_OK(compressor_->Compress(stream, encoder_->cuts(), &compressed_));
    ARROW_RETURN_NOT_OK(PutHead(compressed_.size(), compressed_.data()));
    return compressed_.bytes();
  }

  Status PutHead(int64_t block_size, uint8_t* out) const {
    const ShuffleBlockHeader header{block_size - ShuffleBlockHeader::kLengthBytes, encoder_->schema()->num_fields(),
                                    codec_};
    if (header.length > INT32_MAX) {
      return Status::CapacityError(
          fmt::format("a shuffle block of {} bytes is larger than the format allows", block_size));
    }
    PutShuffleBlockHeader(header, out);
    return Status::OK();
  }

  ShuffleCodec codec_;
  bool as_lengths_;
  std::unique_ptr<ipc::StreamEncoder> encoder_;
  std::unique_ptr<shuffle::BlockCompressor> compressor_;
  ipc::ByteArena compressed_;
  std::vector<ipc::BatchRows> rows_;
  std::vector<uint8_t> scratch_;
  ShuffleBlockWriteMetrics metrics_;
};

}  // namespace

Result<std::unique_ptr<ShuffleBlockWriter>> ShuffleBlockWriter::Make(const std::shared_ptr<arrow::Schema>& schema,
                                                                     const ShuffleBlockWriteOptions& options,
                                                                     const Context& context) {
  arrow::MemoryPool* pool = PoolOf(context);
  ARROW_ASSIGN_OR_RAISE(auto compressor, shuffle::MakeBlockCompressor(options.codec, options.level));
  const ipc::StreamEncoder::Options encoding{options.keep_dictionaries};
  ARROW_ASSIGN_OR_RAISE(auto encoder, ipc::StreamEncoder::Make(schema, encoding, pool));
  return std::make_unique<BlockWriter>(options, std::move(encoder), std::move(compressor), pool);
}

Result<std::span<const uint8_t>> ShuffleBlockWriter::Encode(const arrow::RecordBatch& batch) {
  const ShuffleRows all{&batch, nullptr, batch.num_rows(), 0};
  return Encode(std::span(&all, 1));
}

}  // namespace calve
