// A message in front of its body, little-endian; offsets within the flatbuffer, which begins at byte 8:
//
//   message    := FFFFFFFF size:i32 flatbuffer padding          size = flatbuffer + padding; 8 + size is n * 64
//   flatbuffer := root:u32 vtable Message [vtable DictionaryBatch] vtable RecordBatch nodes buffers variadic?
//
//   table Message         { version: i16, header_type: u8, header: table, bodyLength: i64 }
//   table DictionaryBatch { id: i64, data: RecordBatch }
//   table RecordBatch     { length: i64, nodes: [FieldNode], buffers: [Buffer], compression, variadicBufferCounts:
//   [i64] }
//
// A table begins with the distance back to its vtable: u16 sizes of vtable and table, then where each field lies in the
// table, 0 for those that are not there. Everything lies on a multiple of its size; vectors are a u32 count and
// elements.
#include "calve/ipc/message_writer.h"

#include "calve/ipc/byte_arena.h"

#include <cstring>
#include <initializer_list>

namespace calve::ipc {

namespace {

constexpr int16_t kMetadataV5 = 4;
constexpr uint8_t kDictionaryBatch = 2, kRecordBatch = 3;
constexpr size_t kPrefixSize = 8;

/// Appends to a flatbuffer whose first byte is bytes[kPrefixSize].
class FlatWriter {
 public:
  explicit FlatWriter(std::vector<uint8_t>* bytes) : bytes_(bytes) {}

  size_t position() const { return bytes_->size() - kPrefixSize; }
  /// Zeros until position() is `remainder` more than a multiple of 8.
  void AlignTo(size_t remainder) {
    while (position() % 8 != remainder) bytes_->push_back(0);
  }
  template <typename T>
  size_t Put(T value) {
    const size_t at = position();
    bytes_->resize(bytes_->size() + sizeof(T));
    std::memcpy(bytes_->data() + kPrefixSize + at, &value, sizeof(T));
    return at;
  }
  template <typename T>
  void Set(size_t at, T value) {
    std::memcpy(bytes_->data() + kPrefixSize + at, &value, sizeof(T));
  }
  /// Makes the offset that lies at `at` point here.
  void PointHere(size_t at) { Set(at, static_cast<uint32_t>(position() - at)); }

  /// A vtable, and the start of its table at the next position that is 4 more than a multiple of 8 (or `remainder`).
  void StartTable(uint16_t table_size, std::initializer_list<uint16_t> fields, size_t remainder, size_t pointer_at) {
    const size_t vtable = Put(static_cast<uint16_t>(4 + 2 * fields.size()));
    Put(table_size);
    for (const uint16_t field : fields) Put(field);
    AlignTo(remainder);
    PointHere(pointer_at);
    Put(static_cast<int32_t>(position() - vtable));
  }
  /// A vector of `count` elements of `element_size` bytes; returns where the first lies.
  size_t PutVector(size_t count, size_t element_size, size_t pointer_at) {
    AlignTo(4);
    PointHere(pointer_at);
    Put(static_cast<uint32_t>(count));
    const size_t first = position();
    bytes_->resize(bytes_->size() + count * element_size);
    return first;
  }

 private:
  std::vector<uint8_t>* bytes_;
};

}  // namespace

void BatchContent::Clear() {
  rows = body_size = 0;
  nodes.clear();
  buffers.clear();
  variadic_counts.clear();
}

BatchMessageTemplate::BatchMessageTemplate(size_t nodes, size_t buffers, size_t variadic_counts,
                                           std::optional<int64_t> dictionary_id)
    : nodes_(nodes), buffers_(buffers), variadic_counts_(variadic_counts), bytes_(kPrefixSize) {
  FlatWriter flat(&bytes_);
  const size_t root = flat.Put(uint32_t{0});
  flat.StartTable(20, {4, 6, 16, 8}, 0, root);
  flat.Put(kMetadataV5);
  flat.Put(dictionary_id ? kDictionaryBatch : kRecordBatch);
  flat.Put(uint8_t{0});
  body_size_at_ = flat.Put(int64_t{0});
  size_t header = flat.Put(uint32_t{0});
  if (dictionary_id) {
    flat.StartTable(16, {4, 12}, 4, header);
    flat.Put(*dictionary_id);
    header = flat.Put(uint32_t{0});
  }
  const bool variadic = variadic_counts > 0;
  flat.StartTable(static_cast<uint16_t>(variadic ? 24 : 20), {4, 12, 16, 0, static_cast<uint16_t>(variadic ? 20 : 0)},
                  4, header);
  rows_at_ = flat.Put(int64_t{0});
  const size_t nodes_pointer = flat.Put(uint32_t{0});
  const size_t buffers_pointer = flat.Put(uint32_t{0});
  const size_t variadic_pointer = variadic ? flat.Put(uint32_t{0}) : 0;
  nodes_at_ = flat.PutVector(nodes, sizeof(FieldNode), nodes_pointer);
  buffers_at_ = flat.PutVector(buffers, sizeof(BufferPlace), buffers_pointer);
  if (variadic) variadic_at_ = flat.PutVector(variadic_counts, sizeof(int64_t), variadic_pointer);
  bytes_.resize(static_cast<size_t>(RoundUpToAlignment(static_cast<int64_t>(bytes_.size()))));
  const uint32_t prefix[2] = {0xffffffff, static_cast<uint32_t>(bytes_.size() - kPrefixSize)};
  std::memcpy(bytes_.data(), prefix, sizeof(prefix));
}

bool BatchMessageTemplate::Fits(const BatchContent& content) const {
  return content.nodes.size() == nodes_ && content.buffers.size() == buffers_ &&
         content.variadic_counts.size() == variadic_counts_;
}

void BatchMessageTemplate::Write(const BatchContent& content, uint8_t* out) const {
  std::memcpy(out, bytes_.data(), bytes_.size());
  uint8_t* flat = out + kPrefixSize;
  std::memcpy(flat + rows_at_, &content.rows, sizeof(int64_t));
  std::memcpy(flat + body_size_at_, &content.body_size, sizeof(int64_t));
  const auto put = [flat](size_t at, const auto& values) {
    if (!values.empty()) std::memcpy(flat + at, values.data(), values.size() * sizeof(values[0]));
  };
  put(nodes_at_, content.nodes);
  put(buffers_at_, content.buffers);
  put(variadic_at_, content.variadic_counts);
}

}  // namespace calve::ipc
