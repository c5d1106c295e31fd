#include "calve/expr/filter_column.h"

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/compute/initialize.h>
#include <arrow/json/from_string.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace calve::expr {
namespace {

void ExpectFiltered(const std::shared_ptr<arrow::DataType>& type, const std::string& values,
                    const std::string& expected) {
  SCOPED_TRACE(type->ToString());
  ASSERT_TRUE(arrow::compute::Initialize().ok());
  const auto whole = arrow::json::ArrayFromJSONString(type, values).ValueOrDie();
  const auto mask = std::static_pointer_cast<arrow::BooleanArray>(
      arrow::json::ArrayFromJSONString(arrow::boolean(), "[true, false, true, true]").ValueOrDie());
  arrow::compute::ExecContext context;
  // Also of a slice, whose views do not begin the buffer.
  for (const auto& array : {whole->Slice(0, 4), whole->Slice(1, 4)->Slice(0, 3)}) {
    const auto part = std::static_pointer_cast<arrow::BooleanArray>(mask->Slice(4 - array->length()));
    auto got = FilterColumn(array, part, &context);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE((*got)->ValidateFull().ok()) << (*got)->ValidateFull();
    if (array->length() != 4) continue;
    EXPECT_TRUE((*got)->Equals(*arrow::json::ArrayFromJSONString(type, expected).ValueOrDie())) << (*got)->ToString();
  }
}

TEST(FilterColumn, ViewsAtAnyDepth) {
  const std::string long_text = "a value of more than twelve bytes";
  const auto view = arrow::utf8_view();
  ExpectFiltered(view, R"(["a", "b", null, ")" + long_text + R"("])", R"(["a", null, ")" + long_text + R"("])");
  ExpectFiltered(arrow::list(view), R"([["a", ")" + long_text + R"("], ["b"], null, [null, "c"]])",
                 R"([["a", ")" + long_text + R"("], null, [null, "c"]])");
  ExpectFiltered(arrow::struct_({arrow::field("n", arrow::int32()), arrow::field("t", view)}),
                 R"([{"n": 1, "t": ")" + long_text + R"("}, {"n": 2}, null, {"n": 4, "t": "d"}])",
                 R"([{"n": 1, "t": ")" + long_text + R"("}, null, {"n": 4, "t": "d"}])");
  ExpectFiltered(arrow::map(view, arrow::large_list(arrow::binary_view())),
                 R"([[["k", ["a", ")" + long_text + R"("]]], [], null, [["l", null], ["m", ["x"]]]])",
                 R"([[["k", ["a", ")" + long_text + R"("]]], null, [["l", null], ["m", ["x"]]]])");
  ExpectFiltered(arrow::fixed_size_list(view, 2), R"([["a", "b"], ["c", "d"], null, [")" + long_text + R"(", "f"]])",
                 R"([["a", "b"], null, [")" + long_text + R"(", "f"]])");
}

TEST(FilterColumn, OthersAreArrows) {
  ExpectFiltered(arrow::int64(), "[1, 2, null, 4]", "[1, null, 4]");
  ExpectFiltered(arrow::list(arrow::utf8()), R"([["a"], [], null, ["b", "c"]])", R"([["a"], null, ["b", "c"]])");
}

}  // namespace
}  // namespace calve::expr
