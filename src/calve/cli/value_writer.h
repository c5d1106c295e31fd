#pragma once

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

namespace calve::cli {

/// Writes the values of one column as text, in the forms of docs/format/json.md. Made once for a column's type and
/// bound to one array after another, so that a value costs one virtual call. Not thread-safe.
class ValueWriter {
 public:
  enum class Style {
    kJson,   ///< JSON values: text in quotes, nulls as null
    kPlain,  ///< text without quotes, nulls as nothing; what is nested is JSON inside
  };

  /// NotImplemented names a type that has no text form.
  static arrow::Result<std::unique_ptr<ValueWriter>> Make(const std::shared_ptr<arrow::DataType>& type, Style style);
  virtual ~ValueWriter() = default;

  /// Makes `array`, of the writer's type, the one whose values are written. It must stay alive until the next Bind.
  void Bind(const arrow::Array& array) {
    array_ = &array;
    OnBind(array);
  }
  bool IsNull(int64_t i) const { return array_->IsNull(i); }
  /// Appends value `i` of the bound array.
  void Append(int64_t i, std::string* out) const {
    if (!array_->IsNull(i)) {
      AppendValue(i, out);
    } else if (style_ == Style::kJson) {
      out->append("null");
    }
  }

 protected:
  explicit ValueWriter(Style style) : style_(style) {}
  virtual void OnBind(const arrow::Array& array) = 0;
  virtual void AppendValue(int64_t i, std::string* out) const = 0;
  bool quoted() const { return style_ == Style::kJson; }

 private:
  const arrow::Array* array_ = nullptr;
  Style style_;
};

/// Whether values of `type` read best flush right: numbers.
bool IsNumeric(const arrow::DataType& type);

}  // namespace calve::cli
