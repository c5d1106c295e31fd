#include "calve/parquet/level_decoder.h"

#include "calve/base/status.h"

#include <bit>

// v1: RLE has a 4-byte length in front of its runs; BIT_PACKED has none, packs MSB first, and takes as many bytes as
// num_values need. v2: runs only, their length is in the page header.

namespace calve::parquet {

LevelDecoder::LevelDecoder(int max_level, std::span<const uint8_t> bytes)
    : max_level_(max_level), runs_(bytes, std::bit_width(static_cast<unsigned>(max_level))) {}

Result<LevelDecoder> LevelDecoder::FromV1(Encoding encoding, int max_level, int64_t num_values, ByteCursor* body) {
  if (max_level == 0) return LevelDecoder();
  if (encoding == Encoding::kBitPacked) {
    LevelDecoder decoder(max_level, {});
    const size_t size = simd::PackedBytes(static_cast<size_t>(num_values), decoder.runs_.bit_width());
    decoder.bit_packed_ = body->Bytes(size);
    if (!body->ok()) return Invalid("{} bytes of levels, the page has {}", size, body->remaining());
    return decoder;
  }
  if (encoding != Encoding::kRle) return Invalid("levels of encoding {}", ToString(encoding));
  const uint32_t size = body->Little<uint32_t>();
  const auto bytes = body->Bytes(size);
  if (!body->ok()) return Invalid("{} bytes of levels, the page has {}", size, body->remaining());
  return LevelDecoder(max_level, bytes);
}

Result<LevelDecoder> LevelDecoder::FromV2(int max_level, std::span<const uint8_t> bytes) {
  if (max_level == 0) return LevelDecoder();
  return LevelDecoder(max_level, bytes);
}

Status LevelDecoder::TooLarge(uint32_t level) const {
  return Invalid("level {} out of range (the largest is {})", level, max_level_);
}

Status LevelDecoder::Decode(int64_t count, uint8_t* out) {
  if (max_level_ == 0) {
    std::memset(out, 0, static_cast<size_t>(count));
    return Status::OK();
  }
  if (bit_packed_.data() != nullptr) return DecodeBitPacked(count, out);
  while (true) {
    const int64_t decoded = runs_.DecodeShortRuns(count, static_cast<uint8_t>(std::min(max_level_, 0xff)), out);
    out += decoded;
    count -= decoded;
    if (count == 0) return Status::OK();
    Run run;
    ARROW_RETURN_NOT_OK(runs_.Next(count, &run));
    if (run.packed == nullptr) {
      if (run.value > static_cast<uint32_t>(max_level_)) return TooLarge(run.value);
      std::memset(out, static_cast<int>(run.value), static_cast<size_t>(run.count));
    } else {
      UnpackRun(run, runs_.bit_width(), out);
      uint8_t largest = 0;
      for (int64_t i = 0; i < run.count; ++i) largest = std::max(largest, out[i]);
      if (largest > max_level_) return TooLarge(largest);
    }
    out += run.count;
    count -= run.count;
  }
}

Status LevelDecoder::DecodeValidity(int64_t count, ValidityBuilder* out) {
  if (bit_packed_.data() != nullptr) {
    for (; count > 0; --count) {
      uint8_t level = 0;
      ARROW_RETURN_NOT_OK(DecodeBitPacked(1, &level));
      ARROW_RETURN_NOT_OK(out->AppendRun(level != 0, 1));
    }
    return Status::OK();
  }
  // While all is valid there are no bits to write.
  while (count > 0 && out->bits() == nullptr) {
    Run run;
    ARROW_RETURN_NOT_OK(runs_.Next(count, &run));
    if (run.packed == nullptr && run.value > 1) return TooLarge(run.value);
    ARROW_RETURN_NOT_OK(run.packed == nullptr ? out->AppendRun(run.value == 1, run.count)
                                              : out->AppendBits(run.packed, run.first, run.count));
    count -= run.count;
  }
  if (count == 0) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(ValidityBuilder::Writer writer, out->Write(count));
  static_assert(RunReader::kShortRun == ValidityBuilder::Writer::kMost);
  while (true) {
    count -= runs_.NextShortRunsOfBits(count, &writer);
    if (count == 0) break;
    Run run;
    ARROW_RETURN_NOT_OK(runs_.Next(count, &run));
    if (run.packed != nullptr) {
      writer.AppendBits(run.packed, run.first, run.count);
    } else if (run.value <= 1) {
      writer.AppendRun(run.value == 1, run.count);
    } else {
      return TooLarge(run.value);
    }
    count -= run.count;
  }
  writer.Finish();
  return Status::OK();
}

Status LevelDecoder::DecodeBitPacked(int64_t count, uint8_t* out) {
  const int width = runs_.bit_width();
  if (position_ + count > static_cast<int64_t>(bit_packed_.size()) * 8 / width) return Invalid("the levels end early");
  for (int64_t i = 0; i < count; ++i, ++position_) {
    uint32_t level = 0;
    for (int64_t bit = position_ * width; bit < (position_ + 1) * width; ++bit) {
      level = level << 1 | (bit_packed_[bit / 8] >> (7 - bit % 8) & 1);
    }
    if (level > static_cast<uint32_t>(max_level_)) return TooLarge(level);
    out[i] = static_cast<uint8_t>(level);
  }
  return Status::OK();
}

}  // namespace calve::parquet
