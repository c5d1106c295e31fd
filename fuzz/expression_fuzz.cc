// Filters of any text: parsed, printed, parsed again, bound to columns of many types, evaluated and held against
// bounds.

#include "calve/expr/bounds.h"
#include "calve/expr/evaluate.h"
#include "calve/expression.h"

#include <arrow/array/util.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

std::shared_ptr<arrow::Schema> ManyTypes() {
  return arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::float64()),
                        arrow::field("c", arrow::utf8()), arrow::field("d", arrow::date32()),
                        arrow::field("e", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")),
                        arrow::field("f", arrow::decimal128(38, 10)), arrow::field("g", arrow::fixed_size_binary(4)),
                        arrow::field("h", arrow::boolean()), arrow::field("i", arrow::time64(arrow::TimeUnit::MICRO)),
                        arrow::field("s", arrow::struct_({arrow::field("x", arrow::float32())}))});
}

/// A row of nulls: what a filter says of it must agree with bounds that tell of nothing else.
std::shared_ptr<arrow::RecordBatch> NullRow(const std::shared_ptr<arrow::Schema>& schema) {
  arrow::ArrayVector columns;
  for (const auto& field : schema->fields()) columns.push_back(arrow::MakeArrayOfNull(field->type(), 1).ValueOrDie());
  return arrow::RecordBatch::Make(schema, 1, std::move(columns));
}

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto schema = ManyTypes();
  static const auto row = NullRow(schema);
  const auto parsed = calve::Expression::Parse({reinterpret_cast<const char*>(data), size});
  if (!parsed.ok()) return 0;
  const std::string printed = parsed->ToString();
  const auto again = calve::Expression::Parse(printed);
  Require(again.ok() && again->ToString() == printed);

  const auto bound = calve::expr::Bind(parsed->root(), *schema);
  if (!bound.ok()) return 0;
  const auto mask = calve::expr::Evaluate(*bound, *row, arrow::default_memory_pool());
  Require(mask.ok());
  const calve::expr::BoundsLookup lookup = [](const calve::expr::ColumnRef&) {
    return calve::expr::ColumnBounds{{}, {}, 1, 1, 0};
  };
  const bool matches = (*mask)->IsValid(0) && (*mask)->Value(0);
  Require(!matches || calve::expr::MightMatch(*bound, lookup));
  Require(matches || !calve::expr::AllMatch(*bound, lookup));
  return 0;
}
