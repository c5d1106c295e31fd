#include "calve/iceberg/json_members.h"
#include "calve/iceberg/schema.h"
#include "calve/table.h"

namespace calve {

Result<std::shared_ptr<arrow::Schema>> ArrowSchemaFromJson(std::string_view json) {
  ARROW_ASSIGN_OR_RAISE(const nlohmann::json parsed, WithContext(iceberg::ParseJson(json), "schema"));
  ARROW_ASSIGN_OR_RAISE(const iceberg::Schema schema, iceberg::SchemaFromJson(parsed));
  return iceberg::ToArrow(schema);
}

}  // namespace calve
