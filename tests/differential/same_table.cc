#include "same_table.h"

#include <arrow/compare.h>
#include <arrow/table.h>

namespace calve::differential {

using arrow::Status;

Status SameTables(const arrow::Table& got, const arrow::Table& expected, const PlainOptions& form,
                  const std::string& how) {
  ARROW_RETURN_NOT_OK(got.ValidateFull());
  ARROW_ASSIGN_OR_RAISE(const auto plain, PlainForm(got, form));
  ARROW_ASSIGN_OR_RAISE(const auto want, PlainForm(expected, form));
  if (!plain->schema()->Equals(*want->schema())) {
    return Status::Invalid(how, ": schema ", plain->schema()->ToString(), " expected ", want->schema()->ToString());
  }
  if (plain->num_rows() != want->num_rows()) {
    return Status::Invalid(how, ": ", plain->num_rows(), " rows, expected ", want->num_rows());
  }
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false);
  for (int i = 0; i < plain->num_columns(); ++i) {
    if (!plain->column(i)->Equals(*want->column(i), equal)) {
      return Status::Invalid(how, ": column ", want->field(i)->ToString(), " differs");
    }
  }
  return Status::OK();
}

}  // namespace calve::differential
