#include "calve/ipc/body.h"

#include "calve/ipc/message.h"

namespace calve::ipc {

arrow::Result<Body> Body::Allocate(arrow::MemoryPool* pool, int64_t size) {
  Body body;
  if (size == 0) return body;
  ARROW_RETURN_NOT_OK(pool->Allocate(size, kBodyAlignment, &body.data_));
  body.pool_ = pool;
  body.size_ = size;
  return body;
}

void Body::Free() {
  if (pool_ != nullptr) pool_->Free(data_, size_, kBodyAlignment);
  pool_ = nullptr;
  data_ = nullptr;
  size_ = 0;
  input_.reset();
}

}  // namespace calve::ipc
