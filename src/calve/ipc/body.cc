#include "calve/ipc/body.h"

#include "calve/ipc/message.h"

namespace calve::ipc {

arrow::Result<Body> Body::Allocate(arrow::MemoryPool* pool, int64_t size) {
  Body body;
  ARROW_RETURN_NOT_OK(body.Add(pool, size));
  return body;
}

arrow::Status Body::Add(arrow::MemoryPool* pool, int64_t size) {
  if (size == 0) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(pool->Allocate(size, kBodyAlignment, &data_));
  pool_ = pool;
  size_ = size;
  return arrow::Status::OK();
}

void Body::Free() {
  if (pool_ != nullptr) pool_->Free(data_, size_, kBodyAlignment);
  pool_ = nullptr;
  data_ = nullptr;
  size_ = 0;
  input_.reset();
}

}  // namespace calve::ipc
