#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace calve::parquet {

/// Passes over a SchemaElement that is like the one parsed last but for its name and field id, as those of a wide file
/// are; this takes a fraction of ThriftSkimmer's time. What it passes, the parsers take, since they took the other.
class UsualElement {
 public:
  /// Where the parts that differ stand in an element's bytes.
  struct Parts {
    size_t name_begin = 0, name_size = 0;
    size_t id_begin = 0, id_end = 0;  ///< of the field id's varint; 0: there is none
  };
  /// What there is to know of an element that was passed over.
  struct Passed {
    const uint8_t* name = nullptr;
    size_t name_size = 0;
    int32_t field_id = 0;
    bool has_field_id = false;
    const uint8_t* end = nullptr;  ///< null: another element, which then may be sound or not
  };

  /// `element`: sound, and all of it. One of an unusual layout is forgotten.
  void Learn(std::span<const uint8_t> element, const Parts& parts);
  /// The element that begins at `at`, if it is like the one learnt.
  Passed Pass(const uint8_t* at, const uint8_t* end) const;

 private:
  /// Up to 8 bytes.
  struct Word {
    uint64_t value = 0, mask = 0;
    size_t size = 0;
    bool Set(std::span<const uint8_t> bytes);
    bool IsAt(const uint8_t* at) const;
  };

  /// Before the name's length, between the name and the value of the field id, and behind that.
  Word head_, middle_, tail_[2];
  bool known_ = false, has_id_ = false;
};

}  // namespace calve::parquet
