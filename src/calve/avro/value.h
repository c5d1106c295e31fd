#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace calve::avro {

/// One Avro value; its type is known from the schema.
///
/// | Avro type | alternative |
/// | --- | --- |
/// | null | std::monostate |
/// | boolean | bool |
/// | int, long | int64_t |
/// | float, double | float, double |
/// | string, bytes, fixed | std::string |
/// | enum | std::string, the symbol |
/// | record | List, in the order of the fields |
/// | array | List |
/// | map | List of Lists of key and value, as Iceberg's maps that are arrays of records |
/// | union | the value of the branch that is taken |
struct Value {
  using List = std::vector<Value>;
  std::variant<std::monostate, bool, int64_t, float, double, std::string, List> data;

  Value() = default;
  Value(bool value) : data(value) {}                      // NOLINT(google-explicit-constructor)
  Value(int value) : data(int64_t{value}) {}              // NOLINT(google-explicit-constructor)
  Value(int64_t value) : data(value) {}                   // NOLINT(google-explicit-constructor)
  Value(float value) : data(value) {}                     // NOLINT(google-explicit-constructor)
  Value(double value) : data(value) {}                    // NOLINT(google-explicit-constructor)
  Value(std::string value) : data(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  Value(const char* value) : data(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Value(List value) : data(std::move(value)) {}           // NOLINT(google-explicit-constructor)

  bool is_null() const { return std::holds_alternative<std::monostate>(data); }
  /// The alternative, or null when the value is another.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&data);
  }

  bool operator==(const Value& other) const { return data == other.data; }
};

}  // namespace calve::avro
