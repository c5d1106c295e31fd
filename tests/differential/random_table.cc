#include "random_table.h"

#include "random_array.h"

#include <arrow/array/concatenate.h>
#include <arrow/extension/json.h>
#include <arrow/extension/uuid.h>
#include <arrow/table.h>

#include <random>
#include <vector>

namespace calve::differential {
namespace {

using arrow::field;
using arrow::TimeUnit;
using TypePtr = std::shared_ptr<arrow::DataType>;

constexpr int kDeepest = 4;

/// What DuckDB writes to Parquet as it was.
std::vector<TypePtr> TypesOfDuckDb() {
  using namespace arrow;  // NOLINT
  return {boolean(), int8(),   int16(),          int32(),           int64(),           uint8(),
          uint16(),  uint32(), uint64(),         float32(),         float64(),         utf8(),
          binary(),  date32(), decimal128(4, 1), decimal128(18, 3), decimal128(38, 9), timestamp(TimeUnit::MICRO)};
}

std::vector<TypePtr> TypesOfAll() {
  using namespace arrow;  // NOLINT
  std::vector<TypePtr> types = TypesOfDuckDb();
  for (TypePtr type : {timestamp(TimeUnit::MILLI), timestamp(TimeUnit::NANO), timestamp(TimeUnit::MILLI, "UTC"),
                       timestamp(TimeUnit::MICRO, "UTC"), timestamp(TimeUnit::NANO, "UTC"), time32(TimeUnit::MILLI),
                       time64(TimeUnit::MICRO), time64(TimeUnit::NANO), float16(), fixed_size_binary(1),
                       fixed_size_binary(5), fixed_size_binary(16), decimal128(1, 0), decimal128(9, 9),
                       decimal128(19, 0), decimal128(25, 24), large_utf8(), large_binary(), null()}) {
    types.push_back(std::move(type));
  }
  return types;
}

/// Which Parquet holds in another form.
void AddTypesOfArrow(std::vector<TypePtr>* types) {
  using namespace arrow;  // NOLINT
  for (TypePtr type : {binary_view(), decimal32(7, 2), decimal64(15, 4), decimal256(5, 2), timestamp(TimeUnit::SECOND),
                       timestamp(TimeUnit::SECOND, "UTC"), time32(TimeUnit::SECOND), date64(), extension::uuid(),
                       extension::json(utf8()), dictionary(int8(), utf8()), dictionary(uint16(), binary()),
                       dictionary(int32(), int64()), dictionary(int64(), large_utf8()),
                       dictionary(uint8(), decimal128(9, 2)), dictionary(int16(), timestamp(TimeUnit::MICRO))}) {
    types->push_back(std::move(type));
  }
}

std::vector<TypePtr> TypesOf(const std::string& writer) {
  if (writer == "duckdb") return TypesOfDuckDb();
  std::vector<TypePtr> types = TypesOfAll();
  // pyarrow cannot write views.
  if (writer == "arrow-rs" || writer == "calve") types.push_back(arrow::utf8_view());
  if (writer == "calve") AddTypesOfArrow(&types);
  types.push_back(arrow::decimal256(40, 3));
  types.push_back(arrow::decimal256(76, 30));
  return types;
}

class RandomSchema {
 public:
  RandomSchema(std::string writer, uint64_t seed)
      : writer_(std::move(writer)), random_(seed), leaves_(TypesOf(writer_)) {}

  int64_t Below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  std::shared_ptr<arrow::Schema> Make() {
    arrow::FieldVector fields;
    const int64_t count = 1 + Below(6);
    for (int64_t i = 0; i < count; ++i) {
      fields.push_back(Field("c" + std::to_string(i), static_cast<int>(Below(kDeepest + 1))));
    }
    return arrow::schema(fields);
  }

 private:
  /// DuckDB knows no required columns.
  bool Nullable() { return writer_ == "duckdb" || Below(4) != 0; }

  std::shared_ptr<arrow::Field> Field(const std::string& name, int depth) {
    TypePtr type = Type(depth);
    // Nulls only: required makes no sense.
    const bool nullable = Nullable() || type->id() == arrow::Type::NA;
    return field(name, std::move(type), nullable);
  }

  TypePtr Leaf() { return leaves_[static_cast<size_t>(Below(static_cast<int64_t>(leaves_.size())))]; }

  TypePtr Struct(int depth) {
    arrow::FieldVector fields;
    const int64_t count = 1 + Below(3);
    // The first goes all the way down, the others anywhere.
    for (int64_t i = 0; i < count; ++i) {
      fields.push_back(Field("f" + std::to_string(i), i == 0 ? depth - 1 : static_cast<int>(Below(depth))));
    }
    return arrow::struct_(fields);
  }

  TypePtr Map(int depth) {
    // Random keys of 64 bits are distinct, as DuckDB asks.
    TypePtr key = writer_ == "duckdb" || Below(2) == 0 ? arrow::int64() : arrow::utf8();
    return std::make_shared<arrow::MapType>(field("key", std::move(key), false), Field("value", depth - 1));
  }

  TypePtr Type(int depth) {
    if (depth == 0) return Leaf();
    switch (Below(8)) {
      case 0:
      case 1:
      case 2:
        return arrow::list(Field("element", depth - 1));
      case 3:
        return writer_ == "duckdb" ? Struct(depth) : arrow::large_list(Field("element", depth - 1));
      case 4:
        return Map(depth);
      case 5:
        if (writer_ != "calve") return Struct(depth);
        return arrow::fixed_size_list(Field("element", depth - 1), static_cast<int32_t>(1 + Below(3)));
      default:
        return Struct(depth);
    }
  }

  std::string writer_;
  std::mt19937_64 random_;
  std::vector<TypePtr> leaves_;
};

bool HasMap(const arrow::DataType& type) {
  if (type.id() == arrow::Type::MAP) return true;
  for (const auto& child : type.fields()) {
    if (HasMap(*child->type())) return true;
  }
  return false;
}

int64_t RandomRows(RandomSchema* random) {
  const int64_t kind = random->Below(20);
  if (kind == 0) return random->Below(3);
  if (kind == 1) return 1000 + random->Below(4000);
  return 1 + random->Below(300);
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Table>> RandomTable(uint64_t seed, int64_t index, const std::string& writer) {
  if (writer != "pyarrow" && writer != "arrow-rs" && writer != "duckdb" && writer != "calve") {
    return arrow::Status::Invalid("no writer '", writer, "'");
  }
  const uint64_t mixed = (seed * 1000003 + static_cast<uint64_t>(index)) * 0x9E3779B97F4A7C15;
  RandomSchema random(writer, mixed);
  const auto schema = random.Make();
  const double nulls[] = {0, 0.02, 0.3, 0.9, 1};
  const int distinct[] = {0, 0, 3, 40};
  testing::RandomArrays::Options options;
  options.null_probability = nulls[random.Below(5)];
  options.distinct = distinct[random.Below(4)];
  if (writer == "duckdb" && HasMap(arrow::StructType(schema->fields()))) options.distinct = 0;
  const int64_t rows = RandomRows(&random);
  testing::RandomArrays arrays(mixed, options);
  arrow::ArrayVector columns;
  for (const auto& f : schema->fields()) {
    // Copied, so that offsets begin at 0: arrow-rs refuses others in empty arrays.
    const auto sliced = arrays.Make(*f, rows);
    if (writer == "calve") {
      columns.push_back(sliced);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), arrow::Concatenate({sliced, sliced->Slice(0, 0)}));
  }
  return arrow::Table::Make(schema, columns, rows);
}

}  // namespace calve::differential
