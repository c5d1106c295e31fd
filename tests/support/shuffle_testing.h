#pragma once

#include "calve/shuffle_block.h"
#include "canonical_text.h"
#include "test_data.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace calve::testing {

inline std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::span<const uint8_t> AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// The offsets of an index that Spark committed: 64 bits, big-endian.
inline std::vector<int64_t> SparkIndex(const std::string& path) {
  const std::string bytes = FileBytes(path);
  std::vector<int64_t> offsets(bytes.size() / 8);
  for (size_t i = 0; i < bytes.size(); ++i) {
    offsets[i / 8] = static_cast<int64_t>(static_cast<uint64_t>(offsets[i / 8]) << 8 | static_cast<uint8_t>(bytes[i]));
  }
  return offsets;
}

/// The blocks one after another lie in `data`, each with its head.
inline std::vector<std::string> SplitBlocks(const std::string& data) {
  std::vector<std::string> blocks;
  for (size_t at = 0; at < data.size();) {
    const auto header = ParseShuffleBlockHeader(AsBytes(data).subspan(at));
    EXPECT_TRUE(header.ok()) << header.status();
    if (!header.ok()) break;
    blocks.push_back(data.substr(at, static_cast<size_t>(header->block_size())));
    at += static_cast<size_t>(header->block_size());
  }
  return blocks;
}

/// The variants of the shared data, as manifest.json tells of them.
inline nlohmann::json CometVariants(const std::string& shared) {
  return nlohmann::json::parse(FileBytes(shared + "/comet/manifest.json"));
}

/// Genuine blocks, `count` of each tag: the smallest ones.
inline std::vector<std::string> GenuineBlocks(const std::string& shared, size_t count) {
  std::map<std::string, std::vector<std::string>> by_tag;
  const auto smaller = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  for (const auto& variant : CometVariants(shared)) {
    const std::string folder = shared + "/comet/" + variant["variant"].get<std::string>() + "/";
    for (auto& block : SplitBlocks(FileBytes(folder + variant["files"][0]["data"].get<std::string>()))) {
      by_tag[block.substr(16, 4)].push_back(std::move(block));
    }
  }
  std::vector<std::string> some;
  for (auto& [tag, blocks] : by_tag) {
    std::sort(blocks.begin(), blocks.end(), smaller);
    for (size_t i = 0; i < std::min(count, blocks.size()); ++i) some.push_back(blocks[i]);
  }
  return some;
}

inline std::shared_ptr<arrow::Buffer> BufferOf(std::string bytes) {
  return arrow::Buffer::FromString(std::move(bytes));
}

/// A block around an IPC stream.
inline std::string BlockOf(const std::string& stream, ShuffleCodec codec = ShuffleCodec::kNone) {
  std::string payload = stream;
  if (codec != ShuffleCodec::kNone) {
    const auto type = codec == ShuffleCodec::kLz4 ? arrow::Compression::LZ4_FRAME : arrow::Compression::ZSTD;
    auto compressor = *arrow::util::Codec::Create(type);
    payload.resize(
        static_cast<size_t>(compressor->MaxCompressedLen(static_cast<int64_t>(stream.size()), AsBytes(stream).data())));
    payload.resize(static_cast<size_t>(
        *compressor->Compress(static_cast<int64_t>(stream.size()), AsBytes(stream).data(),
                              static_cast<int64_t>(payload.size()), reinterpret_cast<uint8_t*>(payload.data()))));
  }
  ShuffleBlockHeader header;
  header.length = static_cast<int64_t>(payload.size()) + 12;
  header.codec = codec;
  std::string block(ShuffleBlockHeader::kSize, '\0');
  PutShuffleBlockHeader(header, reinterpret_cast<uint8_t*>(block.data()));
  return block + payload;
}

/// The IPC stream that Arrow writes of a batch.
inline std::string StreamOf(const arrow::RecordBatch& batch) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.alignment = 64;
  auto sink = *arrow::io::BufferOutputStream::Create();
  auto writer = *arrow::ipc::MakeStreamWriter(sink.get(), batch.schema(), options);
  EXPECT_TRUE(writer->WriteRecordBatch(batch).ok());
  EXPECT_TRUE(writer->Close().ok());
  return (*sink->Finish())->ToString();
}

/// What Arrow reads from an IPC stream.
inline std::shared_ptr<arrow::RecordBatch> ArrowsBatch(const std::string& stream) {
  auto reader = arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<arrow::io::BufferReader>(BufferOf(stream)));
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return nullptr;
  std::shared_ptr<arrow::RecordBatch> batch;
  EXPECT_TRUE((*reader)->ReadNext(&batch).ok());
  return batch;
}

/// Whether Arrow finds the batch valid, values apart: decimals beyond their precision, times beyond a day and the like
/// are the writer's.
inline bool IsWellFormed(const arrow::RecordBatch& batch) {
  const auto status = batch.ValidateFull();
  if (status.ok()) return true;
  for (const char* about_values : {"does not fit in precision", "is not within the acceptable range",
                                   "does not represent a whole number of days"}) {
    if (status.message().find(about_values) != std::string::npos) return true;
  }
  return false;
}

inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> DecodeOne(const std::string& block, bool trusted = false) {
  ShuffleBlockReadOptions options;
  options.trusted = trusted;
  return ShuffleBlockReader::Make(BufferOf(block), options)->Next();
}

}  // namespace calve::testing
