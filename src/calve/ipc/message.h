#pragma once

#include "calve/ipc/flat_table.h"

#include <arrow/result.h>

#include <cstdint>
#include <string_view>

namespace calve::ipc {

using arrow::Result;
using arrow::Status;

// The framing of Arrow's encapsulated messages, little-endian:
//
//   stream   = message* end?
//   message  = FF FF FF FF  metadata_size(i32)  metadata  body
//   end      = FF FF FF FF  00 00 00 00
//   metadata = a flatbuffer, padded with zeros so that prefix and metadata together are a multiple of 8
//
// (Message.fbs and Schema.fbs of the Arrow columnar format, version 1.0.)

constexpr int64_t kMessagePrefixBytes = 8;
constexpr uint32_t kContinuation = 0xFFFFFFFF;
/// Where bodies begin in our own allocations, and what writers pad buffers to.
constexpr int64_t kBodyAlignment = 64;
/// Where the format wants buffers to begin, and no type needs more.
constexpr int64_t kBufferAlignment = 8;

enum class MessageKind : uint8_t { kNone, kSchema, kDictionaryBatch, kRecordBatch, kTensor, kSparseTensor };
std::string_view ToString(MessageKind kind);

/// A message's metadata. `header` points into `flat`, which it outlives not.
struct MessageHead {
  MessageKind kind = MessageKind::kNone;
  int64_t body_size = 0;
  FlatTable header;
};

/// Reads what all messages have. Only metadata version 5 is supported; the versions before it are NotImplemented.
Result<MessageHead> ReadMessageHead(FlatBytes* flat);

/// The status of a flatbuffer that was read: Invalid with the offset when something lay outside.
Status CheckFlat(const FlatBytes& flat);

}  // namespace calve::ipc
