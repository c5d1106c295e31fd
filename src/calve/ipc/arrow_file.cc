#include "calve/arrow_file.h"

#include "calve/base/context.h"
#include "calve/base/status.h"
#include "calve/io/mapped_file.h"
#include "calve/ipc/message_walk.h"
#include "calve/ipc/stream_decoder.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>

namespace calve {

namespace {

using ipc::FoundMessage;
using Batch = std::shared_ptr<arrow::RecordBatch>;
using Bytes = std::span<const uint8_t>;

/// Messages from here and there, as one stream.
class MessageSource final : public ipc::ByteSource {
 public:
  explicit MessageSource(std::span<const Bytes> parts) : parts_(parts) { SkipEmpty(); }

  arrow::Result<int64_t> Read(uint8_t* out, int64_t size) override {
    int64_t done = 0;
    while (done < size && !parts_.empty()) {
      const Bytes some = Take(static_cast<size_t>(size - done));
      std::memcpy(out + done, some.data(), some.size());
      done += static_cast<int64_t>(some.size());
    }
    return done;
  }
  const uint8_t* Borrow(int64_t size) override {
    if (parts_.empty() || static_cast<size_t>(size) > parts_.front().size() - at_) return nullptr;
    return Take(static_cast<size_t>(size)).data();
  }
  int64_t MostLeft() const override {
    int64_t left = -static_cast<int64_t>(at_);
    for (const Bytes& part : parts_) left += static_cast<int64_t>(part.size());
    return left;
  }

 private:
  /// Up to `size` bytes, of one part.
  Bytes Take(size_t size) {
    const Bytes taken = parts_.front().subspan(at_, std::min(size, parts_.front().size() - at_));
    at_ += taken.size();
    SkipEmpty();
    return taken;
  }
  void SkipEmpty() {
    while (!parts_.empty() && at_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      at_ = 0;
    }
  }

  std::span<const Bytes> parts_;
  size_t at_ = 0;
};

/// A message of the file after another; each batch is decoded as a stream of its own, with the schema before it and the
/// dictionaries that are in force.
class MappedReader final : public arrow::RecordBatchReader {
 public:
  MappedReader(std::string path, std::shared_ptr<arrow::Buffer> file, std::vector<FoundMessage> messages,
               std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : path_(std::move(path)),
        file_(std::move(file)),
        messages_(std::move(messages)),
        schema_(std::move(schema)),
        decoder_(pool) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  Status ReadNext(Batch* out) override {
    out->reset();
    while (next_ < messages_.size()) {
      const FoundMessage& message = messages_[next_++];
      if (message.kind == ipc::MessageKind::kRecordBatch) {
        auto batch = Decode(message);
        if (batch.ok()) return std::move(batch).Value(out);
        next_ = messages_.size();
        return WithContext(batch.status(), fmt::format("{}: record batch at byte {}", path_, message.offset));
      }
      SetDictionary(message);
    }
    return Status::OK();
  }

 private:
  void SetDictionary(const FoundMessage& message) {
    for (FoundMessage& known : dictionaries_) {
      if (known.dictionary_id != message.dictionary_id) continue;
      known = message;
      return;
    }
    dictionaries_.push_back(message);
  }

  Result<Batch> Decode(const FoundMessage& message) {
    static constexpr std::array<uint8_t, 8> kEnd = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    parts_.assign(1, messages_[0].bytes);
    for (const FoundMessage& dictionary : dictionaries_) parts_.push_back(dictionary.bytes);
    parts_.push_back(message.bytes);
    parts_.push_back(kEnd);
    MessageSource source(parts_);
    ipc::DecodeOptions options;
    options.owner = file_;
    decoded_.body.Free();
    ARROW_RETURN_NOT_OK(decoder_.Decode(&source, options, &decoded_));
    bool reused = false;
    return ipc::SkeletonPool::MakeBatch(decoded_.schema, decoded_.layout, std::move(decoded_.body), &reused);
  }

  std::string path_;
  std::shared_ptr<arrow::Buffer> file_;
  std::vector<FoundMessage> messages_;
  std::shared_ptr<arrow::Schema> schema_;
  ipc::StreamDecoder decoder_;
  ipc::Decoded decoded_;
  size_t next_ = 1;
  std::vector<FoundMessage> dictionaries_;
  std::vector<Bytes> parts_;
};

/// The batches of Arrow's own reader, each checked.
class CheckedReader final : public arrow::RecordBatchReader {
 public:
  using Next = std::function<Result<Batch>()>;
  CheckedReader(std::string path, std::shared_ptr<arrow::Schema> schema, Next next)
      : path_(std::move(path)), schema_(std::move(schema)), next_(std::move(next)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  Status ReadNext(Batch* out) override {
    auto batch = next_();
    const Status status = batch.ok() && *batch != nullptr ? (*batch)->ValidateFull() : batch.status();
    if (!status.ok()) return WithContext(status, path_);
    return std::move(batch).Value(out);
  }

 private:
  std::string path_;
  std::shared_ptr<arrow::Schema> schema_;
  Next next_;
};

Result<std::shared_ptr<arrow::RecordBatchReader>> OpenByArrow(const std::string& path,
                                                              const std::shared_ptr<arrow::Buffer>& file,
                                                              arrow::MemoryPool* pool) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  const auto input = std::make_shared<arrow::io::BufferReader>(file);
  if (!ipc::IsIpcFile({file->data(), static_cast<size_t>(file->size())})) {
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(input, options));
    auto schema = reader->schema();
    return std::make_shared<CheckedReader>(path, schema, [reader] { return reader->Next(); });
  }
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(input, options));
  auto schema = reader->schema();
  return std::make_shared<CheckedReader>(path, schema, [reader, next = 0]() mutable -> Result<Batch> {
    if (next == reader->num_record_batches()) return nullptr;
    return reader->ReadRecordBatch(next++);
  });
}

/// A dictionary is checked with every batch that it is there for.
bool ReadsDictionariesTooOften(const std::vector<FoundMessage>& messages, int64_t file_size) {
  constexpr int64_t kTooOften = 4;
  int64_t of_dictionaries = 0, read = 0;
  for (const FoundMessage& message : messages) {
    const auto size = static_cast<int64_t>(message.bytes.size());
    if (message.kind == ipc::MessageKind::kDictionaryBatch) of_dictionaries += size;
    if (message.kind == ipc::MessageKind::kRecordBatch) read += of_dictionaries;
    if (read > kTooOften * file_size) return true;
  }
  return false;
}

Result<std::shared_ptr<arrow::RecordBatchReader>> Open(const std::string& path, std::shared_ptr<arrow::Buffer> file,
                                                       const Context& context) {
  const int64_t size = file->size();
  arrow::MemoryPool* pool = PoolOf(context);
  auto messages = ipc::FindMessages({file->data(), static_cast<size_t>(size)});
  if (messages.status().IsNotImplemented()) return OpenByArrow(path, file, pool);
  ARROW_RETURN_NOT_OK(messages.status());
  const auto schema = ipc::ThreadSchemaCache().Find((*messages)[0].metadata);
  if (schema.status().IsNotImplemented()) return OpenByArrow(path, file, pool);
  ARROW_RETURN_NOT_OK(schema.status());
  if (ReadsDictionariesTooOften(*messages, size)) return OpenByArrow(path, file, pool);
  return std::make_shared<MappedReader>(path, std::move(file), *std::move(messages), (*schema)->plan().schema, pool);
}

}  // namespace

bool BeginsAsArrow(std::string_view first_bytes) {
  return first_bytes.starts_with("ARROW1") || first_bytes.starts_with("\xff\xff\xff\xff");
}

Result<std::shared_ptr<arrow::RecordBatchReader>> OpenArrowFile(const std::string& path, const Context& context) {
  ARROW_ASSIGN_OR_RAISE(const auto mapped, OpenMappedFile(path, path));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, mapped->GetSize());
  ARROW_ASSIGN_OR_RAISE(auto file, mapped->ReadAt(0, size));
  return OpenArrowBytes(std::move(file), path, context);
}

Result<std::shared_ptr<arrow::RecordBatchReader>> OpenArrowBytes(std::shared_ptr<arrow::Buffer> bytes,
                                                                 const std::string& name, const Context& context) {
  return WithContext(Open(name, std::move(bytes), context), name);
}

}  // namespace calve
