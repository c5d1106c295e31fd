#include "calve/iceberg/schema.h"

#include "calve/base/status.h"
#include "calve/table.h"

#include <nlohmann/json.hpp>

namespace calve {

Result<std::shared_ptr<arrow::Schema>> ArrowSchemaFromJson(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return Invalid("the schema is not JSON");
  ARROW_ASSIGN_OR_RAISE(const iceberg::Schema schema, iceberg::SchemaFromJson(parsed));
  return iceberg::ToArrow(schema);
}

}  // namespace calve
