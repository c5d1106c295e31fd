// stream = message* end?                                        as message.h has it
// file   = "ARROW1" 00 00  stream  footer footer_size(i32) "ARROW1"
// footer = a flatbuffer, table Footer { version: i16, schema, dictionaries: [Block], recordBatches: [Block] }
// Block  = offset(i64) metadata_size(i32) (4 bytes) body_size(i64)     the prefix counts as metadata
#include "calve/ipc/message_walk.h"

#include "calve/base/status.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace calve::ipc {
namespace {

using arrow::io::RandomAccessFile;

constexpr std::string_view kMagic = "ARROW1";
constexpr int64_t kFileHead = 8, kFileEnd = 10;

// Fields of the tables Footer, DictionaryBatch and RecordBatch.
constexpr int kFooterDictionaries = 2, kFooterBatches = 3;
constexpr int kId = 0, kData = 1, kIsDelta = 2;
constexpr int kCompression = 3;

uint32_t Load32(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

std::span<const uint8_t> BytesOf(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

bool HasMagicAt(const arrow::Buffer& bytes, int64_t at) {
  const auto size = static_cast<int64_t>(kMagic.size());
  return bytes.size() >= at + size && std::memcmp(bytes.data() + at, kMagic.data(), kMagic.size()) == 0;
}

/// What a damaged length may make a reader ask for. Metadata has some bytes a column, a footer some a message.
Status CheckMetadataSize(int64_t size) {
  constexpr int64_t kMost = int64_t{256} << 20;
  return size <= kMost ? Status::OK() : Invalid("metadata of {} bytes, at most {} are read", size, kMost);
}

/// What StreamDecoder reads, and nothing else.
Status TakeHead(const arrow::Buffer& metadata, FoundMessage* message, int64_t* body_size) {
  FlatBytes flat(BytesOf(metadata));
  ARROW_ASSIGN_OR_RAISE(const MessageHead head, ReadMessageHead(&flat));
  message->kind = head.kind;
  *body_size = head.body_size;
  FlatTable batch = head.header;
  if (head.kind == MessageKind::kDictionaryBatch) {
    message->dictionary_id = head.header.Scalar<int64_t>(kId);
    if (head.header.Bool(kIsDelta)) return NotImplemented("delta of dictionary {}", message->dictionary_id);
    batch = head.header.Table(kData);
  } else if (head.kind == MessageKind::kSchema) {
    return CheckFlat(flat);
  } else if (head.kind != MessageKind::kRecordBatch) {
    return NotImplemented("{} message", ToString(head.kind));
  }
  const bool compressed = batch.Table(kCompression).exists();
  ARROW_RETURN_NOT_OK(CheckFlat(flat));
  return compressed ? NotImplemented("compression of message bodies") : Status::OK();
}

/// The bytes of a file.
struct Extent {
  int64_t begin = 0, size = 0;
};

/// A footer that names the same bytes again and again would make a small file a large table.
Status CheckApart(std::vector<Extent> extents) {
  std::ranges::sort(extents, {}, &Extent::begin);
  for (size_t i = 1; i < extents.size(); ++i) {
    const Extent &last = extents[i - 1], &next = extents[i];
    if (next.begin > last.begin && next.begin - last.begin >= last.size) continue;
    return Invalid("the footer has two messages that overlap, at bytes {} and {}", last.begin, next.begin);
  }
  return Status::OK();
}

/// Looks at messages one by one.
class Walk {
 public:
  /// Messages lie before `end`.
  Walk(RandomAccessFile* file, int64_t end) : file_(file), end_(end) {}

  Result<FoundMessages> Stream() {
    ARROW_ASSIGN_OR_RAISE(bool more, TakeSchema(0));
    if (!more) return Invalid("a stream without a schema");
    for (int64_t offset = found_.schema.size;; offset += found_.batches.back().size) {
      ARROW_ASSIGN_OR_RAISE(const FoundMessage message, At(offset));
      if (message.size == 0) return std::move(found_);
      if (message.kind == MessageKind::kSchema)
        return Invalid("message at byte {}: schema where a batch is due", offset);
      found_.batches.push_back(message);
    }
  }

  /// `footer`: bytes of the file after `end`.
  Result<FoundMessages> File(const arrow::Buffer& footer) {
    FlatBytes flat(BytesOf(footer));
    const FlatTable root = FlatTable::Root(&flat);
    const FlatVector dictionaries = root.Vector(kFooterDictionaries, kBlockBytes);
    const FlatVector batches = root.Vector(kFooterBatches, kBlockBytes);
    ARROW_RETURN_NOT_OK(WithContext(CheckFlat(flat), "footer"));
    ARROW_RETURN_NOT_OK(CheckBlocks({dictionaries, batches}));
    ARROW_ASSIGN_OR_RAISE(const bool more, TakeSchema(kFileHead));
    if (!more) return Invalid("message at byte {}: no schema", kFileHead);
    ARROW_RETURN_NOT_OK(TakeBlocks(dictionaries, MessageKind::kDictionaryBatch));
    ARROW_RETURN_NOT_OK(TakeBlocks(batches, MessageKind::kRecordBatch));
    std::vector<Extent> extents;
    for (const FoundMessage& message : found_.batches) extents.push_back({message.offset, message.size});
    ARROW_RETURN_NOT_OK(CheckApart(std::move(extents)));
    return std::move(found_);
  }

 private:
  static constexpr size_t kBlockBytes = 24, kBlockWords = 3;

  /// As the footer has them, before a message is looked at that Arrow's reader would have to read.
  Status CheckBlocks(std::initializer_list<FlatVector> all) const {
    std::vector<Extent> extents;
    for (const FlatVector& blocks : all) {
      for (size_t i = 0; i < blocks.count; ++i) {
        const auto metadata = static_cast<int32_t>(blocks.At<int64_t>(kBlockWords * i + 1));
        const auto body = blocks.At<int64_t>(kBlockWords * i + 2);
        const auto begin = blocks.At<int64_t>(kBlockWords * i);
        int64_t size = 0;
        if (metadata < 0 || body < 0 || __builtin_add_overflow(body, int64_t{metadata}, &size)) {
          return Invalid("the footer has a message of {} bytes of metadata and a body of {}", metadata, body);
        }
        if (begin < 0 || begin > end_ || size > end_ - begin) {
          return Invalid("the footer has a message of {} bytes at byte {}, outside the file's messages", size, begin);
        }
        extents.push_back({begin, size});
      }
    }
    return CheckApart(std::move(extents));
  }

  Status TakeBlocks(const FlatVector& blocks, MessageKind kind) {
    for (size_t i = 0; i < blocks.count; ++i) {
      const auto offset = blocks.At<int64_t>(kBlockWords * i);
      ARROW_ASSIGN_OR_RAISE(const FoundMessage message, At(offset));
      if (message.kind != kind) {
        return Invalid("message at byte {} is no {}, as the footer has it", offset, ToString(kind));
      }
      found_.batches.push_back(message);
    }
    return Status::OK();
  }

  /// False when there is no message.
  Result<bool> TakeSchema(int64_t offset) {
    ARROW_ASSIGN_OR_RAISE(found_.schema, At(offset));
    if (found_.schema.size == 0) return false;
    if (found_.schema.kind != MessageKind::kSchema) {
      return Invalid("message at byte {}: {} where the schema is due", offset, ToString(found_.schema.kind));
    }
    found_.schema_metadata = std::move(metadata_);
    return true;
  }

  Result<FoundMessage> At(int64_t offset) {
    return WithContext(MessageAt(offset), fmt::format("message at byte {}", offset));
  }

  /// The message that begins at `offset`; one of no bytes at the end marker, and at the end.
  Result<FoundMessage> MessageAt(int64_t offset) {
    constexpr int64_t kFirstRead = 1024;  // most metadata has fewer bytes
    FoundMessage message;
    message.offset = offset;
    const int64_t rest = end_ - offset;
    if (rest == 0) return message;
    if (rest < kMessagePrefixBytes) return Invalid("message prefix cut, {} bytes are left", rest);
    ARROW_ASSIGN_OR_RAISE(auto bytes, ReadExactly(file_, offset, std::min(rest, kFirstRead)));
    if (Load32(bytes->data()) != kContinuation) return NotImplemented("messages without the continuation marker");
    const int64_t metadata_size = Load32(bytes->data() + 4);
    if (metadata_size == 0) return message;
    message.head_size = kMessagePrefixBytes + metadata_size;
    ARROW_RETURN_NOT_OK(CheckMetadataSize(metadata_size));
    if (message.head_size > rest) {
      return Invalid("metadata of {} bytes, {} are left", metadata_size, rest - kMessagePrefixBytes);
    }
    if (message.head_size > bytes->size()) {
      ARROW_ASSIGN_OR_RAISE(bytes, ReadExactly(file_, offset, message.head_size));
    }
    metadata_ = arrow::SliceBuffer(bytes, kMessagePrefixBytes, metadata_size);
    int64_t body_size = 0;
    ARROW_RETURN_NOT_OK(TakeHead(*metadata_, &message, &body_size));
    if (body_size < 0 || body_size > rest - message.head_size) {
      return Invalid("body of {} bytes, {} are left", body_size, rest - message.head_size);
    }
    message.size = message.head_size + body_size;
    return message;
  }

  RandomAccessFile* file_;
  int64_t end_;
  FoundMessages found_;
  std::shared_ptr<arrow::Buffer> metadata_;  ///< of the message that was looked at last
};

Result<FoundMessages> WalkFile(RandomAccessFile* file, int64_t size) {
  if (size < kFileHead + kFileEnd) return Invalid("the file does not end as an Arrow IPC file does");
  ARROW_ASSIGN_OR_RAISE(const auto end, ReadExactly(file, size - kFileEnd, kFileEnd));
  if (!HasMagicAt(*end, 4)) return Invalid("the file does not end as an Arrow IPC file does");
  const int64_t footer_size = Load32(end->data());
  ARROW_RETURN_NOT_OK(WithContext(CheckMetadataSize(footer_size), "footer"));
  if (footer_size > size - kFileHead - kFileEnd)
    return Invalid("footer of {} bytes in a file of {}", footer_size, size);
  const int64_t messages_end = size - kFileEnd - footer_size;
  ARROW_ASSIGN_OR_RAISE(const auto footer, ReadExactly(file, messages_end, footer_size));
  return Walk(file, messages_end).File(*footer);
}

}  // namespace

Result<std::shared_ptr<arrow::Buffer>> ReadExactly(RandomAccessFile* file, int64_t offset, int64_t size) {
  ARROW_ASSIGN_OR_RAISE(auto bytes, file->ReadAt(offset, size));
  if (bytes->size() == size) return bytes;
  return IOError("the file was cut short: {} of {} bytes at byte {}", bytes->size(), size, offset);
}

Result<bool> IsIpcFile(RandomAccessFile* file) {
  ARROW_ASSIGN_OR_RAISE(const auto first, file->ReadAt(0, static_cast<int64_t>(kMagic.size())));
  return HasMagicAt(*first, 0);
}

Result<FoundMessages> FindMessages(RandomAccessFile* file) {
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(const bool is_file, IsIpcFile(file));
  return is_file ? WalkFile(file, size) : Walk(file, size).Stream();
}

}  // namespace calve::ipc
