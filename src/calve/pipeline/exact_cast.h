#pragma once

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <memory>

namespace calve::pipeline {

/// What a column may be cast from.
enum class CastRules {
  /// Of a file that belongs to the table: the table's type is right, and the file's is one of its physical forms.
  kRead,
  /// Of foreign data that is to become the table's: only casts that keep the meaning, so no zone is given to or taken
  /// from
  /// timestamps and bytes are not declared text.
  kAppend,
  /// Of a foreign file that joins the table as it is. As kAppend, but values are not looked at, so each of them must
  /// fit
  /// whatever it is: finer units are not made coarser, and dates are no timestamps. Coarser timestamps become finer
  /// ones; whether they fit is for the caller to learn from their bounds.
  kInPlace,
  /// As kInPlace, for tables of format v3, which lets dates become timestamps without a zone. Whether they fit is for
  /// the caller to learn, too.
  kInPlaceV3,
};

/// True when values of the primitive type `from` may become `to` without loss: the specification's promotions (int ->
/// long, float -> double, wider decimals, date -> timestamp), narrower integers, other units of times and timestamps,
/// large, view and dictionary forms, storage of extension types. Values may still fail to fit: CastExactly checks them.
bool CanCastExactly(const arrow::DataType& from, const arrow::DataType& to, CastRules rules);

/// Casts. Invalid when a value would change (a timestamp[ns] with nanoseconds as timestamp[us], bytes that are not
/// UTF-8). The cast must be one that CanCastExactly allows.
arrow::Result<std::shared_ptr<arrow::Array>> CastExactly(const std::shared_ptr<arrow::Array>& array,
                                                         const std::shared_ptr<arrow::DataType>& to,
                                                         arrow::MemoryPool* pool);

}  // namespace calve::pipeline
