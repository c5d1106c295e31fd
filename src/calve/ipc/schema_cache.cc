#include "calve/ipc/schema_cache.h"

#include "calve/base/status.h"
#include "calve/ipc/message.h"

#include <algorithm>
#include <cstring>

namespace calve::ipc {
namespace {

arrow::Result<std::shared_ptr<SkeletonPool>> Parse(std::span<const uint8_t> bytes) {
  FlatBytes flat(bytes);
  ARROW_ASSIGN_OR_RAISE(const MessageHead head, ReadMessageHead(&flat));
  if (head.kind != MessageKind::kSchema) {
    return Invalid("the first message is a {}, not a schema", ToString(head.kind));
  }
  if (head.body_size != 0) return Invalid("schema message with a body of {} bytes", head.body_size);
  ARROW_ASSIGN_OR_RAISE(const SchemaMessage message, ReadSchema(head.header, &flat));
  ARROW_ASSIGN_OR_RAISE(BatchPlan plan, MakePlan(message));
  return std::make_shared<SkeletonPool>(std::make_shared<const BatchPlan>(std::move(plan)));
}

}  // namespace

arrow::Result<std::shared_ptr<SkeletonPool>> SchemaCache::Find(std::span<const uint8_t> bytes) {
  for (size_t i = 0; i < size_; ++i) {
    const Entry& entry = entries_[i];
    if (entry.bytes.size() != bytes.size() || std::memcmp(entry.bytes.data(), bytes.data(), bytes.size()) != 0)
      continue;
    ++counts_.hits;
    if (i > 0)
      std::rotate(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(i),
                  entries_.begin() + static_cast<ptrdiff_t>(i) + 1);
    return entries_[0].pool;
  }
  ++counts_.misses;
  ARROW_ASSIGN_OR_RAISE(auto pool, Parse(bytes));
  if (bytes.size() > kLargestMessage) return pool;
  if (size_ < kCapacity) {
    ++size_;
  } else {
    ++counts_.evicted;
  }
  std::rotate(entries_.begin(), entries_.begin() + static_cast<ptrdiff_t>(size_) - 1,
              entries_.begin() + static_cast<ptrdiff_t>(size_));
  entries_[0] = {std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), pool};
  return pool;
}

void SchemaCache::Clear() {
  entries_ = {};
  size_ = 0;
}

SchemaCache& ThreadSchemaCache() {
  thread_local SchemaCache cache;
  return cache;
}

}  // namespace calve::ipc
