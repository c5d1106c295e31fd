#pragma once

#include "calve/ipc/message.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::ipc {

/// Where a message of a file or stream lies.
struct FoundMessage {
  MessageKind kind = MessageKind::kNone;
  int64_t offset = 0;         ///< in the file
  int64_t head_size = 0;      ///< of its prefix and its metadata
  int64_t size = 0;           ///< with the body
  int64_t dictionary_id = 0;  ///< of a dictionary batch
};

struct FoundMessages {
  /// Dictionaries and record batches in the order in which they are to be read.
  std::vector<FoundMessage> batches;
  FoundMessage schema;
  std::shared_ptr<arrow::Buffer> schema_metadata;
};

/// Finds the messages of an Arrow IPC file or stream.
///
/// Metadata is read, bodies are not. Invalid names the byte at which the framing breaks, and blocks of a footer that
/// overlap: what is read of a file is never more than the file. NotImplemented is what StreamDecoder does not read:
/// bodies that are compressed, deltas of dictionaries, metadata before version 5.
Result<FoundMessages> FindMessages(arrow::io::RandomAccessFile* file);

/// Whether it is an IPC file, and not a stream.
Result<bool> IsIpcFile(arrow::io::RandomAccessFile* file);

/// Exactly [offset, offset + size). IOError where the file has become shorter.
Result<std::shared_ptr<arrow::Buffer>> ReadExactly(arrow::io::RandomAccessFile* file, int64_t offset, int64_t size);

}  // namespace calve::ipc
