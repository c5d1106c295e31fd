#include "calve/parquet/footer.h"

#include "calve/base/status.h"

#include <arrow/buffer.h>

// file := "PAR1" pages... FileMetaData size-of-it (4 bytes, little-endian) "PAR1"
//
// The last four bytes are "PARE" when the footer itself is encrypted.

namespace calve::parquet {
namespace {

constexpr int64_t kTailBytes = 64 << 10;  // holds most footers, in one read
constexpr int64_t kTrailerBytes = 8;
constexpr int64_t kSmallestFile = 4 + kTrailerBytes;

Result<std::shared_ptr<arrow::Buffer>> ReadExactly(arrow::io::RandomAccessFile* file, int64_t offset, int64_t size) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, file->ReadAt(offset, size));
  if (buffer->size() != size)
    return IOError("{} bytes at byte {} of the file, {} expected", buffer->size(), offset, size);
  return buffer;
}

}  // namespace

Result<Footer> ReadFooter(arrow::io::RandomAccessFile* file) {
  Footer footer;
  ARROW_ASSIGN_OR_RAISE(footer.file_size, file->GetSize());
  if (footer.file_size < kSmallestFile) return Invalid("no Parquet file: {} bytes", footer.file_size);
  const int64_t tail_size = std::min(footer.file_size, kTailBytes);
  ARROW_ASSIGN_OR_RAISE(auto tail, ReadExactly(file, footer.file_size - tail_size, tail_size));
  const uint8_t* trailer = tail->data() + tail_size - kTrailerBytes;
  if (std::memcmp(trailer + 4, "PARE", 4) == 0) return NotImplemented("encrypted Parquet file");
  if (std::memcmp(trailer + 4, "PAR1", 4) != 0) {
    return Invalid("no Parquet file, or one cut short: it does not end with PAR1");
  }
  uint32_t size = 0;
  std::memcpy(&size, trailer, sizeof(size));
  if (size > footer.file_size - kSmallestFile) {
    return Invalid("a footer of {} bytes in a file of {}", size, footer.file_size);
  }
  footer.begin = footer.file_size - kTrailerBytes - size;
  if (size + kTrailerBytes > tail_size) {
    ARROW_ASSIGN_OR_RAISE(tail, ReadExactly(file, footer.begin, size));
  } else {
    tail = arrow::SliceBuffer(tail, tail_size - kTrailerBytes - size, size);
  }
  auto metadata = ParseFileMetadata({tail->data(), size});
  if (!metadata.ok()) return WithContext(metadata.status(), fmt::format("footer at byte {}", footer.begin));
  footer.metadata = metadata.MoveValueUnsafe();
  if (footer.metadata.encrypted) return NotImplemented("encrypted Parquet file (plaintext footer)");
  return footer;
}

}  // namespace calve::parquet
