// stream = message* end?                                        as message.h has it
// file   = "ARROW1" 00 00  stream  footer footer_size(i32) "ARROW1"
// footer = a flatbuffer, table Footer { version: i16, schema, dictionaries: [Block], recordBatches: [Block] }
// Block  = offset(i64) metadata_size(i32) (4 bytes) body_size(i64)     the prefix counts as metadata
#include "calve/ipc/message_walk.h"

#include "calve/base/status.h"

#include <cstring>
#include <string_view>

namespace calve::ipc {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr std::string_view kMagic = "ARROW1";
constexpr size_t kFileHead = 8, kFileEnd = 10;

// Fields of the tables Footer, DictionaryBatch and RecordBatch.
constexpr int kFooterDictionaries = 2, kFooterBatches = 3;
constexpr int kId = 0, kData = 1, kIsDelta = 2;
constexpr int kCompression = 3;

uint32_t Load32(Bytes bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

bool StartsWithMagic(Bytes bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

/// What StreamDecoder reads, and nothing else.
Status TakeHead(FoundMessage* message, int64_t* body_size) {
  FlatBytes flat(message->metadata);
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

/// The message that begins at `offset`; one without bytes at the end marker, and where `bytes` end.
Result<FoundMessage> MessageAt(Bytes bytes, size_t offset) {
  FoundMessage message;
  message.offset = static_cast<int64_t>(offset);
  const Bytes rest = bytes.subspan(offset);
  if (rest.empty()) return message;
  if (rest.size() < kMessagePrefixBytes) return Invalid("message prefix cut, {} bytes are left", rest.size());
  if (Load32(rest, 0) != kContinuation) return NotImplemented("messages without the continuation marker");
  const size_t size = Load32(rest, 4);
  if (size == 0) return message;
  const size_t head = kMessagePrefixBytes + size;
  if (head > rest.size()) return Invalid("metadata of {} bytes, {} are left", size, rest.size() - kMessagePrefixBytes);
  message.metadata = rest.subspan(kMessagePrefixBytes, size);
  int64_t body_size = 0;
  ARROW_RETURN_NOT_OK(TakeHead(&message, &body_size));
  if (static_cast<uint64_t>(body_size) > rest.size() - head) {
    return Invalid("body of {} bytes, {} are left", body_size, rest.size() - head);
  }
  message.bytes = rest.first(head + static_cast<size_t>(body_size));
  return message;
}

Result<FoundMessage> At(Bytes bytes, size_t offset) {
  return WithContext(MessageAt(bytes, offset), fmt::format("message at byte {}", offset));
}

Result<std::vector<FoundMessage>> WalkStream(Bytes bytes) {
  std::vector<FoundMessage> messages;
  for (size_t offset = 0;;) {
    ARROW_ASSIGN_OR_RAISE(const FoundMessage message, At(bytes, offset));
    if (message.bytes.empty()) break;
    if ((message.kind == MessageKind::kSchema) != messages.empty()) {
      return Invalid("message at byte {}: {} where {} is due", offset, ToString(message.kind),
                     messages.empty() ? "the schema" : "a batch");
    }
    messages.push_back(message);
    offset += message.bytes.size();
  }
  if (messages.empty()) return Invalid("a stream without a schema");
  return messages;
}

Status AddBlocks(Bytes bytes, const FlatVector& blocks, MessageKind kind, std::vector<FoundMessage>* messages) {
  constexpr size_t kBlockWords = 3;
  for (size_t i = 0; i < blocks.count; ++i) {
    const auto offset = blocks.At<int64_t>(kBlockWords * i);
    if (offset < 0 || static_cast<uint64_t>(offset) >= bytes.size()) {
      return Invalid("the footer has a {} at byte {}, outside the file's messages", ToString(kind), offset);
    }
    ARROW_ASSIGN_OR_RAISE(const FoundMessage message, At(bytes, static_cast<size_t>(offset)));
    if (message.kind != kind)
      return Invalid("message at byte {} is no {}, as the footer has it", offset, ToString(kind));
    messages->push_back(message);
  }
  return Status::OK();
}

Result<std::vector<FoundMessage>> WalkFile(Bytes bytes) {
  if (bytes.size() < kFileHead + kFileEnd || !StartsWithMagic(bytes.last(kMagic.size()))) {
    return Invalid("the file does not end as an Arrow IPC file does");
  }
  const size_t size = Load32(bytes, bytes.size() - kFileEnd);
  if (size > bytes.size() - kFileHead - kFileEnd)
    return Invalid("footer of {} bytes in a file of {}", size, bytes.size());
  const Bytes messages_bytes = bytes.first(bytes.size() - kFileEnd - size);
  FlatBytes flat(bytes.subspan(messages_bytes.size(), size));
  const FlatTable footer = FlatTable::Root(&flat);
  const FlatVector dictionaries = footer.Vector(kFooterDictionaries, 24), batches = footer.Vector(kFooterBatches, 24);
  ARROW_RETURN_NOT_OK(WithContext(CheckFlat(flat), "footer"));
  std::vector<FoundMessage> messages;
  ARROW_ASSIGN_OR_RAISE(const FoundMessage schema, At(messages_bytes, kFileHead));
  if (schema.kind != MessageKind::kSchema) return Invalid("message at byte {}: no schema", kFileHead);
  messages.push_back(schema);
  ARROW_RETURN_NOT_OK(AddBlocks(messages_bytes, dictionaries, MessageKind::kDictionaryBatch, &messages));
  ARROW_RETURN_NOT_OK(AddBlocks(messages_bytes, batches, MessageKind::kRecordBatch, &messages));
  return messages;
}

}  // namespace

bool IsIpcFile(Bytes bytes) { return StartsWithMagic(bytes); }

Result<std::vector<FoundMessage>> FindMessages(Bytes bytes) {
  return IsIpcFile(bytes) ? WalkFile(bytes) : WalkStream(bytes);
}

}  // namespace calve::ipc
