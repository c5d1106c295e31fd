#include "calve/ipc/message.h"

#include "calve/base/status.h"

#include <array>

namespace calve::ipc {
namespace {

// Fields of the table Message.
constexpr int kVersion = 0, kHeaderType = 1, kHeader = 2, kBodyLength = 3;
constexpr int16_t kV5 = 4;

constexpr std::array<std::string_view, 6> kKinds = {"none",         "schema", "dictionary batch",
                                                    "record batch", "tensor", "sparse tensor"};

}  // namespace

std::string_view ToString(MessageKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kKinds.size() ? kKinds[index] : "unknown";
}

Status CheckFlat(const FlatBytes& flat) {
  if (flat.ok()) return Status::OK();
  return Invalid("metadata leaves its {} bytes at byte {}", flat.size(), flat.fault_offset());
}

Result<MessageHead> ReadMessageHead(FlatBytes* flat) {
  const FlatTable message = FlatTable::Root(flat);
  MessageHead head;
  const auto version = message.Scalar<int16_t>(kVersion);
  const auto kind = message.Scalar<uint8_t>(kHeaderType);
  head.body_size = message.Scalar<int64_t>(kBodyLength);
  head.header = message.Table(kHeader);
  ARROW_RETURN_NOT_OK(CheckFlat(*flat));
  if (version < 0 || version > kV5) return Invalid("metadata version {} is unknown", version + 1);
  if (version != kV5) return NotImplemented("metadata version {}", version + 1);
  if (kind >= kKinds.size() || kind == 0 || !head.header.exists()) return Invalid("message of unknown kind {}", kind);
  if (head.body_size < 0) return Invalid("message body of {} bytes", head.body_size);
  head.kind = static_cast<MessageKind>(kind);
  return head;
}

}  // namespace calve::ipc
