#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace calve::bench {

/// A sum over every value and null of a stream of batches, in row order, that is the same for all readers: it depends
/// neither on the batch size nor on offset widths, string views, dictionaries or how wide a decimal is stored.
///
/// The arrays of the schema are numbered in preorder (a list before its elements, a struct before its children) and the
/// slots of each from 0 on, over all batches. A list contributes the elements of its lists that are not null; a null
/// struct makes its children null. Each slot adds, wrapping at 64 bits, with splitmix64's finalizer as mix:
///
///   present: mix(mix((array << 40) + slot) ^ hash(value))     null: mix(mix((array << 40) + slot) +
///   0x9e3779b97f4a7c15)
///
///   hash of an integer, date, time or timestamp: the value, sign-extended; unsigned and booleans: zero-extended
///   hash of a float: its bits; of a decimal: mix(mix(low 64 bits) ^ high 64 bits); of a struct: 1; of a list: its
///   length hash of a string: h = length; for every 8 bytes (little-endian, the last filled with zeros) h = mix(h ^
///   word)
///
/// bench/peers/src/checksum.rs computes the same over arrow-rs's arrays.
class Checksum {
 public:
  /// NotImplemented for types that no benchmark reads.
  arrow::Status Add(const arrow::RecordBatch& batch);

  uint64_t sum() const { return sum_; }
  int64_t rows() const { return rows_; }
  /// Bytes of the values in their plain form: the widths of fixed slots (decimals 16), 4 a string or list slot, and
  /// the bytes of strings.
  int64_t bytes() const { return bytes_; }

 private:
  struct Node {
    uint64_t id = 0, next_slot = 0;
    std::vector<std::unique_ptr<Node>> children;
  };
  /// Which slots of a range have a parent that is not null; empty: all.
  using Mask = std::vector<bool>;
  /// Slots [begin, end) of an array.
  struct Range {
    const arrow::Array& array;
    int64_t begin, end;
    const Mask& mask;

    bool Present(int64_t slot) const;
  };

  Node* Child(Node* node, size_t index);
  arrow::Status Visit(const Range& range, Node* node);
  arrow::Status VisitStruct(const Range& range, Node* node);
  template <typename ListArray>
  arrow::Status VisitList(const Range& range, Node* node);
  arrow::Status VisitDictionary(const Range& range, Node* node);
  template <typename ArrayType>
  arrow::Status VisitStrings(const Range& range, Node* node);
  template <typename ArrayType>
  arrow::Status VisitNumbers(const Range& range, Node* node);
  template <typename Hash>
  void AddSlots(const Range& range, Node* node, Hash hash);

  Node root_;
  uint64_t next_id_ = 0, sum_ = 0;
  int64_t rows_ = 0, bytes_ = 0;
};

}  // namespace calve::bench
