#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace calve::ipc {

/// The bytes of one flatbuffer, and whether everything that was read of it lay inside. Failure is sticky: reads outside
/// give zero, so a structure may be read whole and ok() asked once. Not owning.
class FlatBytes {
 public:
  FlatBytes() = default;
  explicit FlatBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  /// Where the first read outside began.
  uint64_t fault_offset() const { return fault_offset_; }
  size_t size() const { return bytes_.size(); }
  void Fail(uint64_t offset) {
    if (ok_) fault_offset_ = offset;
    ok_ = false;
  }

  /// The `size` bytes at `offset`; null, and failure, when they are not all there.
  const uint8_t* At(uint64_t offset, uint64_t size) {
    if (offset <= bytes_.size() && size <= bytes_.size() - offset) return bytes_.data() + offset;
    Fail(offset);
    return nullptr;
  }

  template <typename T>
  T Load(uint64_t offset) {
    T value{};
    if (const uint8_t* from = At(offset, sizeof(T))) std::memcpy(&value, from, sizeof(T));
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
  bool ok_ = true;
  uint64_t fault_offset_ = 0;
};

/// A vector of fixed-size elements, or of tables; empty when it is absent.
struct FlatVector {
  const uint8_t* data = nullptr;
  uint64_t offset = 0;  ///< of `data` in the flatbuffer
  uint32_t count = 0;

  template <typename T>
  T At(size_t i) const {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }
};

/// A table of a flatbuffer: fields by their number in the schema, absent ones by their default.
class FlatTable {
 public:
  FlatTable() = default;  ///< an absent table
  /// The table that the flatbuffer begins with.
  static FlatTable Root(FlatBytes* bytes) { return FlatTable(bytes, bytes->Load<uint32_t>(0)); }

  bool exists() const { return bytes_ != nullptr; }
  uint64_t offset() const { return at_; }

  template <typename T>
  T Scalar(int field, T absent = T{}) const {
    const uint64_t at = FieldAt(field);
    return at == 0 ? absent : bytes_->Load<T>(at);
  }
  bool Bool(int field) const { return Scalar<uint8_t>(field) != 0; }

  FlatTable Table(int field) const {
    const uint64_t at = Target(field);
    return at == 0 ? FlatTable() : FlatTable(bytes_, at);
  }

  std::string_view Text(int field) const {
    const FlatVector text = Vector(field, 1);
    return {reinterpret_cast<const char*>(text.data), text.count};
  }

  FlatVector Vector(int field, size_t element_size) const {
    const uint64_t at = Target(field);
    if (at == 0) return {};
    const auto count = bytes_->Load<uint32_t>(at);
    const uint8_t* data = bytes_->At(at + 4, uint64_t{count} * element_size);
    return data == nullptr ? FlatVector{} : FlatVector{data, at + 4, count};
  }
  FlatVector Tables(int field) const { return Vector(field, sizeof(uint32_t)); }
  FlatTable TableOf(const FlatVector& tables, size_t i) const {
    return FlatTable(bytes_, tables.offset + i * sizeof(uint32_t) + tables.At<uint32_t>(i));
  }

 private:
  // table = distance back to its vtable(i32) fields; vtable = its size(u16) the table's size(u16) offset of a
  // field(u16)*
  FlatTable(FlatBytes* bytes, uint64_t at) : bytes_(bytes), at_(at) {
    const int64_t vtable = static_cast<int64_t>(at) - bytes->Load<int32_t>(at);
    vtable_ = vtable < 0 ? UINT32_MAX : static_cast<uint64_t>(vtable);
    vtable_size_ = bytes->Load<uint16_t>(vtable_);
  }

  uint64_t FieldAt(int field) const {
    const auto entry = static_cast<uint32_t>(4 + 2 * field);
    if (bytes_ == nullptr || entry + 2 > vtable_size_) return 0;
    const auto distance = bytes_->Load<uint16_t>(vtable_ + entry);
    return distance == 0 ? 0 : at_ + distance;
  }
  uint64_t Target(int field) const {
    const uint64_t at = FieldAt(field);
    return at == 0 ? 0 : at + bytes_->Load<uint32_t>(at);
  }

  FlatBytes* bytes_ = nullptr;
  uint64_t at_ = 0, vtable_ = 0;
  uint16_t vtable_size_ = 0;
};

}  // namespace calve::ipc
