#include "calve/arrow_file.h"

#include "calve/array/read_memory.h"
#include "calve/base/status.h"
#include "calve/io/local_file.h"
#include "calve/io/mapped_file.h"
#include "calve/ipc/message_walk.h"
#include "calve/ipc/part_source.h"
#include "calve/ipc/stream_decoder.h"

#include <arrow/array/array_dict.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/util/int_util.h>

#include <array>
#include <functional>
#include <map>
#include <span>

namespace calve {

namespace {

using ipc::FoundMessage;
using ipc::FoundMessages;
using Batch = std::shared_ptr<arrow::RecordBatch>;
using Batches = std::shared_ptr<arrow::RecordBatchReader>;
using File = std::shared_ptr<arrow::io::RandomAccessFile>;

std::span<const uint8_t> BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// Keeps other buffers.
class Keeper final : public arrow::Buffer {
 public:
  explicit Keeper(std::vector<std::shared_ptr<arrow::Buffer>> kept)
      : arrow::Buffer(nullptr, 0), kept_(std::move(kept)) {}

 private:
  std::vector<std::shared_ptr<arrow::Buffer>> kept_;
};

/// A message of the file after another; each batch is decoded as a stream of its own, with the schema before it and the
/// dictionaries that are in force.
class MessageReader final : public arrow::RecordBatchReader {
 public:
  MessageReader(std::string path, File file, FoundMessages messages, std::shared_ptr<arrow::Buffer> schema_message,
                std::shared_ptr<arrow::Schema> schema, ReadMemory memory)
      : path_(std::move(path)),
        memory_(std::move(memory)),
        file_(std::move(file)),
        messages_(std::move(messages.batches)),
        schema_message_(std::move(schema_message)),
        schema_(std::move(schema)),
        decoder_(memory_.buffers.get()) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  Status ReadNext(Batch* out) override {
    out->reset();
    while (next_ < messages_.size()) {
      const FoundMessage& message = messages_[next_++];
      const Status status = Take(message, out);
      if (!status.ok()) {
        next_ = messages_.size();
        return WithContext(status, fmt::format("{}: {} at byte {}", path_, ToString(message.kind), message.offset));
      }
      if (*out != nullptr) break;
    }
    return Status::OK();
  }

 private:
  struct Dictionary {
    int64_t id;
    std::shared_ptr<arrow::Buffer> bytes;
  };

  Status Take(const FoundMessage& message, Batch* out) {
    ARROW_ASSIGN_OR_RAISE(auto bytes, Read(message));
    if (message.kind == ipc::MessageKind::kRecordBatch) return Decode(std::move(bytes)).Value(out);
    SetDictionary({message.dictionary_id, std::move(bytes)});
    return Status::OK();
  }

  /// The message where it lies, or in memory of its own, the body aligned. A dictionary that does not lie aligned is
  /// copied here, once, and not with every batch that it is there for.
  Result<std::shared_ptr<arrow::Buffer>> Read(const FoundMessage& message) {
    if (file_->supports_zero_copy()) {
      ARROW_ASSIGN_OR_RAISE(auto lent, ipc::ReadExactly(file_.get(), message.offset, message.size));
      const auto body = reinterpret_cast<uintptr_t>(lent->data()) + static_cast<uintptr_t>(message.head_size);
      const bool aligned = body % ipc::kBufferAlignment == 0;
      if (aligned || message.kind != ipc::MessageKind::kDictionaryBatch) return lent;
    }
    const int64_t front = -message.head_size & (ipc::kBodyAlignment - 1);
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> memory,
                          arrow::AllocateBuffer(front + message.size, ipc::kBodyAlignment, memory_.buffers.get()));
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          file_->ReadAt(message.offset, message.size, memory->mutable_data() + front));
    if (got == message.size) return arrow::SliceBuffer(std::move(memory), front, message.size);
    return IOError("the file was cut short: {} of {} bytes", got, message.size);
  }

  void SetDictionary(Dictionary dictionary) {
    dictionaries_checked_ = false;
    for (Dictionary& known : dictionaries_) {
      if (known.id == dictionary.id) return std::swap(known, dictionary);
    }
    dictionaries_.push_back(std::move(dictionary));
  }

  Result<Batch> Decode(std::shared_ptr<arrow::Buffer> batch) {
    static constexpr std::array<uint8_t, 8> kEnd = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    parts_.assign(1, BytesOf(*schema_message_));
    std::vector<std::shared_ptr<arrow::Buffer>> kept;
    for (const Dictionary& dictionary : dictionaries_) {
      parts_.push_back(BytesOf(*dictionary.bytes));
      kept.push_back(dictionary.bytes);
    }
    parts_.push_back(BytesOf(*batch));
    parts_.push_back(kEnd);
    ipc::PartSource source(parts_);
    ipc::DecodeOptions options;
    if (kept.empty()) {
      options.owner = std::move(batch);
    } else {
      kept.push_back(std::move(batch));
      options.owner = std::make_shared<Keeper>(std::move(kept));
    }
    options.dictionaries_checked = dictionaries_checked_;
    decoded_.body.Free();
    ARROW_RETURN_NOT_OK(decoder_.Decode(&source, options, &decoded_));
    dictionaries_checked_ = true;
    bool reused = false;
    return ipc::SkeletonPool::MakeBatch(decoded_.schema, decoded_.layout, std::move(decoded_.body), &reused);
  }

  std::string path_;
  ReadMemory memory_;
  File file_;
  std::vector<FoundMessage> messages_;
  std::shared_ptr<arrow::Buffer> schema_message_;
  std::shared_ptr<arrow::Schema> schema_;
  ipc::StreamDecoder decoder_;
  ipc::Decoded decoded_;
  size_t next_ = 0;
  std::vector<Dictionary> dictionaries_;
  bool dictionaries_checked_ = false;
  std::vector<ipc::PartSource::Part> parts_;
};

/// The batches of Arrow's own reader, each checked.
class CheckedReader final : public arrow::RecordBatchReader {
 public:
  using Next = std::function<Result<Batch>()>;
  CheckedReader(std::string path, ReadMemory memory, std::shared_ptr<arrow::Schema> schema, Next next)
      : path_(std::move(path)), memory_(std::move(memory)), schema_(std::move(schema)), next_(std::move(next)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  Status ReadNext(Batch* out) override {
    auto batch = next_();
    const Status status = batch.ok() && *batch != nullptr ? Check(**batch) : batch.status();
    if (!status.ok()) return WithContext(status, path_);
    return std::move(batch).Value(out);
  }

 private:
  /// A dictionary that many batches share is checked once.
  Status Check(const arrow::RecordBatch& batch) {
    ARROW_RETURN_NOT_OK(batch.Validate());
    checked_.resize(static_cast<size_t>(batch.num_columns()));
    for (int i = 0; i < batch.num_columns(); ++i) {
      auto& checked = checked_[static_cast<size_t>(i)];
      const std::shared_ptr<arrow::Array> column = batch.column(i);
      const auto& dictionary = column->data()->dictionary;
      if (column->type_id() != arrow::Type::DICTIONARY || dictionary != checked) {
        ARROW_RETURN_NOT_OK(column->ValidateFull());
        checked = dictionary;
        continue;
      }
      const auto keys = static_cast<const arrow::DictionaryArray&>(*column).indices();
      ARROW_RETURN_NOT_OK(keys->ValidateFull());
      ARROW_RETURN_NOT_OK(arrow::internal::CheckIndexBounds(*keys->data(), static_cast<uint64_t>(dictionary->length)));
    }
    return Status::OK();
  }

  std::string path_;
  ReadMemory memory_;
  std::shared_ptr<arrow::Schema> schema_;
  Next next_;
  std::vector<std::shared_ptr<arrow::ArrayData>> checked_;  ///< dictionaries of columns
};

Result<Batches> OpenByArrow(const std::string& path, const File& file, const ReadMemory& memory) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = memory.buffers.get();
  ARROW_ASSIGN_OR_RAISE(const bool is_file, ipc::IsIpcFile(file.get()));
  if (!is_file) {
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(file, options));
    auto schema = reader->schema();
    return std::make_shared<CheckedReader>(path, memory, schema, [reader] { return reader->Next(); });
  }
  ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file, options));
  auto schema = reader->schema();
  return std::make_shared<CheckedReader>(path, memory, schema, [reader, next = 0]() mutable -> Result<Batch> {
    if (next == reader->num_record_batches()) return nullptr;
    return reader->ReadRecordBatch(next++);
  });
}

/// The metadata of a dictionary is looked at with every batch that it is there for, and all of them are checked with
/// the first batch after one of them.
bool ReadsDictionariesTooOften(const std::vector<FoundMessage>& messages, int64_t file_size) {
  constexpr int64_t kTooOften = 4;
  std::map<int64_t, FoundMessage> dictionaries;  // that are in force, by their id
  int64_t heads = 0, whole = 0, read = 0;
  bool checked = false;
  for (const FoundMessage& message : messages) {
    if (message.kind == ipc::MessageKind::kDictionaryBatch) {
      FoundMessage& known = dictionaries[message.dictionary_id];
      heads += message.head_size - known.head_size;
      whole += message.size - known.size;
      known = message;
    } else {
      read += checked ? heads : whole;
    }
    checked = message.kind == ipc::MessageKind::kRecordBatch;
    if (read > kTooOften * file_size) return true;
  }
  return false;
}

Result<Batches> Open(const std::string& path, File file, ReadMemory memory) {
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  auto messages = ipc::FindMessages(file.get());
  if (messages.status().IsNotImplemented()) return OpenByArrow(path, file, memory);
  ARROW_RETURN_NOT_OK(messages.status());
  const auto schema = ipc::ThreadSchemaCache().Find(BytesOf(*messages->schema_metadata));
  if (schema.status().IsNotImplemented()) return OpenByArrow(path, file, memory);
  ARROW_RETURN_NOT_OK(schema.status());
  if (ReadsDictionariesTooOften(messages->batches, size)) return OpenByArrow(path, file, memory);
  const FoundMessage& head = messages->schema;
  ARROW_ASSIGN_OR_RAISE(auto schema_message, ipc::ReadExactly(file.get(), head.offset, head.size));
  return std::make_shared<MessageReader>(path, std::move(file), *std::move(messages), std::move(schema_message),
                                         (*schema)->plan().schema, std::move(memory));
}

}  // namespace

bool BeginsAsArrow(std::string_view first_bytes) {
  return first_bytes.starts_with("ARROW1") || first_bytes.starts_with("\xff\xff\xff\xff");
}

Result<Batches> OpenArrowFile(const std::string& path, const ArrowFileOptions& options, const Context& context) {
  ReadMemory memory(context);
  ARROW_ASSIGN_OR_RAISE(
      auto file, options.memory_map ? OpenMappedFile(path, path) : OpenLocalFile(path, path, memory.buffers.get()));
  return WithContext(Open(path, std::move(file), std::move(memory)), path);
}

Result<Batches> OpenArrowBytes(std::shared_ptr<arrow::Buffer> bytes, const std::string& name, const Context& context) {
  return WithContext(Open(name, std::make_shared<arrow::io::BufferReader>(std::move(bytes)), ReadMemory(context)),
                     name);
}

}  // namespace calve
