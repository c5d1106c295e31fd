#pragma once

#include "calve/ipc/message.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace calve::testing {

/// Where a message of an IPC stream lies.
struct MessagePlace {
  ipc::MessageKind kind = ipc::MessageKind::kNone;
  size_t begin = 0, body = 0, end = 0;
};

/// The messages of a good stream, the end marker not among them.
inline std::vector<MessagePlace> MessagesOf(const std::string& stream) {
  std::vector<MessagePlace> places;
  for (size_t at = 0; at + 8 <= stream.size();) {
    int32_t size = 0;
    std::memcpy(&size, stream.data() + at + 4, 4);
    if (size == 0) break;
    ipc::FlatBytes flat({reinterpret_cast<const uint8_t*>(stream.data()) + at + 8, static_cast<size_t>(size)});
    const auto head = ipc::ReadMessageHead(&flat);
    EXPECT_TRUE(head.ok()) << head.status();
    if (!head.ok()) break;
    const size_t body = at + 8 + static_cast<size_t>(size);
    places.push_back({head->kind, at, body, body + static_cast<size_t>(head->body_size)});
    at = places.back().end;
  }
  return places;
}

/// Writes a little-endian value over the bytes at `at`.
template <typename T>
void Put(std::string* bytes, size_t at, T value) {
  std::memcpy(bytes->data() + at, &value, sizeof(T));
}

/// Where in a message of a batch the last struct that holds (first, second) lies: a field node's length and null count,
/// or a buffer's offset and length.
inline size_t FindPair(const std::string& stream, const MessagePlace& message, int64_t first, int64_t second) {
  char pair[16];
  std::memcpy(pair, &first, 8);
  std::memcpy(pair + 8, &second, 8);
  const size_t at = stream.rfind(std::string(pair, 16), message.body - 16);
  EXPECT_GT(at, message.begin);
  EXPECT_LT(at, message.body);
  return at;
}

}  // namespace calve::testing
