#pragma once

#include "calve/ipc/message.h"

#include <cstdint>
#include <span>
#include <vector>

namespace calve::ipc {

/// A message of a file or stream in memory.
struct FoundMessage {
  MessageKind kind = MessageKind::kNone;
  int64_t offset = 0;  ///< in the file
  std::span<const uint8_t> bytes;
  std::span<const uint8_t> metadata;
  int64_t dictionary_id = 0;  ///< of a dictionary batch
};

/// The messages of an Arrow IPC file or stream: the schema, then dictionaries and record batches in the order in which
/// they are to be read.
///
/// Metadata is looked at, bodies are not. Invalid names the byte at which the framing breaks. NotImplemented is what
/// StreamDecoder does not read: bodies that are compressed, deltas of dictionaries, metadata before version 5.
Result<std::vector<FoundMessage>> FindMessages(std::span<const uint8_t> bytes);

/// Whether bytes that begin so are an IPC file, and not a stream.
bool IsIpcFile(std::span<const uint8_t> bytes);

}  // namespace calve::ipc
