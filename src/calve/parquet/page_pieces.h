#pragma once

#include "calve/parquet/pool_vector.h"

#include <arrow/result.h>
#include <arrow/status.h>

#include <cstdint>
#include <span>

namespace calve::parquet {

/// Values of so many bytes and more are not copied where they can be written from where they lie.
inline constexpr int64_t kLongValueBytes = int64_t{32} << 10;

/// Some of the bytes of a page.
struct PagePiece {
  std::span<const uint8_t> bytes;
  bool stays = false;  ///< lies in the batch that is being written; else valid until the encoder goes on
};

/// Bytes of a batch, which stand before byte `at` of those that are owned.
struct BorrowedBytes {
  int64_t at;
  const uint8_t* data;
  int64_t size;
};

/// Calls `visit(bytes, borrowed)` for all bytes in their order, as few pieces, until it returns an error.
template <typename Visit>
arrow::Status VisitPieces(std::span<const uint8_t> own, std::span<const BorrowedBytes> borrowed, Visit&& visit) {
  size_t begin = 0;
  for (const BorrowedBytes& piece : borrowed) {
    const auto at = static_cast<size_t>(piece.at);
    if (at > begin) ARROW_RETURN_NOT_OK(visit(own.subspan(begin, at - begin), false));
    ARROW_RETURN_NOT_OK(visit(std::span(piece.data, static_cast<size_t>(piece.size)), true));
    begin = at;
  }
  return begin < own.size() ? visit(own.subspan(begin), false) : arrow::Status::OK();
}

/// A copy of all bytes, of which there are `size`.
inline arrow::Result<ByteBuffer> JoinPieces(std::span<const uint8_t> own, std::span<const BorrowedBytes> borrowed,
                                            int64_t size, arrow::MemoryPool* pool) {
  ByteBuffer all(pool);
  ARROW_RETURN_NOT_OK(all.Reserve(size));
  ARROW_RETURN_NOT_OK(VisitPieces(own, borrowed, [&](std::span<const uint8_t> bytes, bool) {
    all.UnsafeAppend(bytes.data(), static_cast<int64_t>(bytes.size()));
    return arrow::Status::OK();
  }));
  return all;
}

/// Bytes that are appended, of which long ones stay in the batch that is being written until OwnAll().
class PiecedBytes {
 public:
  explicit PiecedBytes(arrow::MemoryPool* pool) : own_(pool), borrowed_(pool) {}

  int64_t size() const { return own_.size() + borrowed_bytes_; }
  bool borrows() const { return !borrowed_.empty(); }
  /// What is appended here stands behind all that was before.
  ByteBuffer* own() { return &own_; }
  /// All bytes, while none are borrowed.
  std::span<const uint8_t> span() const { return own_.span(); }

  arrow::Status Borrow(std::span<const uint8_t> bytes) {
    const auto size = static_cast<int64_t>(bytes.size());
    borrowed_bytes_ += size;
    return borrowed_.Append({own_.size(), bytes.data(), size});
  }
  template <typename Visit>
  arrow::Status VisitAll(Visit&& visit) const {
    return VisitPieces(own_.span(), borrowed_.span(), visit);
  }
  /// Copies what is borrowed.
  arrow::Status OwnAll() {
    if (!borrows()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(own_, JoinPieces(own_.span(), borrowed_.span(), size(), own_.pool()));
    borrowed_.Clear();
    borrowed_bytes_ = 0;
    return arrow::Status::OK();
  }
  void Clear() {
    own_.Clear();
    borrowed_.Clear();
    borrowed_bytes_ = 0;
  }
  void Release() {
    Clear();
    own_.Release();
    borrowed_.Release();
  }

 private:
  ByteBuffer own_;
  PoolVector<BorrowedBytes> borrowed_;
  int64_t borrowed_bytes_ = 0;
};

}  // namespace calve::parquet
