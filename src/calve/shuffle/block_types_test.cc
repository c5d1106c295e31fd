// Every type that IPC carries, as Arrow writes it and as Arrow reads it.
#include "ipc_messages.h"
#include "random_array.h"
#include "shuffle_testing.h"

#include <arrow/c/bridge.h>
#include <arrow/extension/uuid.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace calve {
namespace {

using testing::BlockOf;
using testing::DecodeOne;
using testing::StreamOf;

using Type = std::shared_ptr<arrow::DataType>;

const auto kNansEqual = arrow::EqualOptions::Defaults().nans_equal(true);

std::vector<Type> FlatTypes() {
  using arrow::TimeUnit;
  return {arrow::null(),
          arrow::boolean(),
          arrow::int8(),
          arrow::int16(),
          arrow::int32(),
          arrow::int64(),
          arrow::uint8(),
          arrow::uint16(),
          arrow::uint32(),
          arrow::uint64(),
          arrow::float16(),
          arrow::float32(),
          arrow::float64(),
          arrow::decimal32(7, 2),
          arrow::decimal64(15, 3),
          arrow::decimal128(30, 4),
          arrow::decimal256(60, 5),
          arrow::date32(),
          arrow::date64(),
          arrow::time32(TimeUnit::SECOND),
          arrow::time32(TimeUnit::MILLI),
          arrow::time64(TimeUnit::MICRO),
          arrow::time64(TimeUnit::NANO),
          arrow::timestamp(TimeUnit::SECOND),
          arrow::timestamp(TimeUnit::MICRO, "UTC"),
          arrow::timestamp(TimeUnit::NANO, "Europe/Berlin"),
          arrow::duration(TimeUnit::MILLI),
          arrow::month_interval(),
          arrow::day_time_interval(),
          arrow::month_day_nano_interval(),
          arrow::fixed_size_binary(5),
          arrow::fixed_size_binary(0),
          arrow::binary(),
          arrow::utf8(),
          arrow::large_binary(),
          arrow::large_utf8(),
          arrow::binary_view(),
          arrow::utf8_view()};
}

std::vector<Type> NestedTypes() {
  const auto element = arrow::field("element", arrow::utf8());
  const auto fields = arrow::FieldVector{arrow::field("x", arrow::int32(), false), arrow::field("y", arrow::utf8())};
  return {arrow::list(element),
          arrow::large_list(arrow::field("item", arrow::int64(), false)),
          arrow::list_view(arrow::int32()),
          arrow::large_list_view(arrow::utf8()),
          arrow::fixed_size_list(arrow::int16(), 3),
          arrow::fixed_size_list(arrow::utf8(), 0),
          arrow::struct_(fields),
          arrow::struct_(arrow::FieldVector{}),
          arrow::map(arrow::utf8(), arrow::int64()),
          arrow::map(arrow::int32(), arrow::list(arrow::struct_(fields)), true),
          arrow::list(arrow::list(arrow::list(element))),
          arrow::sparse_union(fields, {3, 7}),
          arrow::dense_union(fields, {5, 100}),
          arrow::run_end_encoded(arrow::int16(), arrow::int64()),
          arrow::run_end_encoded(arrow::int32(), arrow::utf8()),
          arrow::run_end_encoded(arrow::int64(), arrow::list(arrow::int32())),
          arrow::dictionary(arrow::int8(), arrow::utf8()),
          arrow::dictionary(arrow::uint16(), arrow::large_utf8(), true),
          arrow::dictionary(arrow::int64(), arrow::int32()),
          arrow::dictionary(arrow::int32(), arrow::utf8_view()),
          arrow::dictionary(arrow::uint8(), arrow::struct_(fields)),
          arrow::list(arrow::dictionary(arrow::int32(), arrow::utf8())),
          arrow::dictionary(arrow::int32(), arrow::list(arrow::dictionary(arrow::int8(), arrow::binary())))};
}

/// Arrays of the kinds that RandomArrays does not make: from builders.
arrow::Result<std::shared_ptr<arrow::Array>> Built(const Type& type, int64_t length) {
  ARROW_ASSIGN_OR_RAISE(auto builder, arrow::MakeBuilder(type));
  if (type->id() == arrow::Type::SPARSE_UNION || type->id() == arrow::Type::DENSE_UNION) {
    for (int64_t i = 0; i < length; ++i) {
      const auto code =
          static_cast<int8_t>(static_cast<const arrow::UnionType&>(*type).type_codes()[i % 2 == 0 ? 0 : 1]);
      if (type->id() == arrow::Type::DENSE_UNION) {
        ARROW_RETURN_NOT_OK(static_cast<arrow::DenseUnionBuilder*>(builder.get())->Append(code));
      } else {
        ARROW_RETURN_NOT_OK(static_cast<arrow::SparseUnionBuilder*>(builder.get())->Append(code));
      }
      if (type->id() == arrow::Type::DENSE_UNION) {
        auto* child = builder->child(i % 2 == 0 ? 0 : 1);
        ARROW_RETURN_NOT_OK(i % 2 == 0 ? static_cast<arrow::Int32Builder*>(child)->Append(static_cast<int32_t>(i))
                                       : static_cast<arrow::StringBuilder*>(child)->Append(std::to_string(i)));
      } else {
        ARROW_RETURN_NOT_OK(static_cast<arrow::Int32Builder*>(builder->child(0))->Append(static_cast<int32_t>(i)));
        ARROW_RETURN_NOT_OK(static_cast<arrow::StringBuilder*>(builder->child(1))->Append("t"));
      }
    }
    return builder->Finish();
  }
  ARROW_RETURN_NOT_OK(builder->AppendEmptyValues(length / 2));
  ARROW_RETURN_NOT_OK(builder->AppendNulls(length - length / 2));
  return builder->Finish();
}

bool IsRandomizable(const arrow::DataType& type) {
  using arrow::Type;
  switch (type.id()) {
    case Type::SPARSE_UNION:
    case Type::DENSE_UNION:
    case Type::RUN_END_ENCODED:
    case Type::LIST_VIEW:
    case Type::LARGE_LIST_VIEW:
    case Type::DURATION:
    case Type::INTERVAL_MONTHS:
    case Type::INTERVAL_DAY_TIME:
    case Type::INTERVAL_MONTH_DAY_NANO:
      return false;
    case Type::DICTIONARY:
      return IsRandomizable(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default:
      return std::all_of(type.fields().begin(), type.fields().end(),
                         [](const auto& field) { return IsRandomizable(*field->type()); });
  }
}

std::shared_ptr<arrow::Array> Column(const Type& type, int64_t length, uint64_t seed) {
  if (!IsRandomizable(*type)) {
    auto built = Built(type, length);
    EXPECT_TRUE(built.ok()) << built.status();
    return *built;
  }
  return testing::RandomArrays(seed, {}).Make(*arrow::field("a", type), length);
}

void CheckStream(const std::string& stream, const std::string& what) {
  SCOPED_TRACE(what);
  const auto plain = testing::ArrowsBatch(stream);
  ASSERT_NE(plain, nullptr);
  for (const ShuffleCodec codec : {ShuffleCodec::kNone, ShuffleCodec::kLz4, ShuffleCodec::kZstd}) {
    for (const bool trusted : {false, true}) {
      const auto ours = DecodeOne(BlockOf(stream, codec), trusted);
      ASSERT_TRUE(ours.ok()) << ours.status();
      EXPECT_TRUE((*ours)->schema()->Equals(*plain->schema(), true)) << (*ours)->schema()->ToString();
      ASSERT_TRUE((*ours)->Equals(*plain, false, kNansEqual)) << (*ours)->ToString() << plain->ToString();
      const auto valid = (*ours)->ValidateFull();
      ASSERT_TRUE(valid.ok()) << valid;
    }
  }
  auto reader = ShuffleBlockReader::Make(testing::BufferOf(BlockOf(stream, ShuffleCodec::kLz4)));
  ArrowArray array;
  ASSERT_TRUE(*reader->Next(&array));
  const auto imported = arrow::ImportRecordBatch(&array, reader->schema());
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_TRUE((*imported)->Equals(*plain, false, kNansEqual));
}

void CheckType(const Type& type, int64_t length, uint64_t seed) {
  const auto column = Column(type, length, seed);
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("a", type)}), column->length(), {column});
  CheckStream(StreamOf(*batch), type->ToString() + " of " + std::to_string(length));
}

TEST(BlockTypes, FlatOnesAsArrowReadsThem) {
  for (const auto& type : FlatTypes()) {
    for (const int64_t length : {0, 1, 9, 300}) CheckType(type, length, static_cast<uint64_t>(length) + 1);
  }
}

TEST(BlockTypes, NestedOnesAsArrowReadsThem) {
  for (const auto& type : NestedTypes()) {
    for (const int64_t length : {0, 1, 9, 300}) CheckType(type, length, static_cast<uint64_t>(length) + 1);
  }
}

TEST(BlockTypes, AllAtOnce) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  for (const auto& types : {FlatTypes(), NestedTypes()}) {
    for (const auto& type : types) {
      fields.push_back(arrow::field("c" + std::to_string(fields.size()), type, true,
                                    fields.size() % 3 == 0 ? arrow::key_value_metadata({"k"}, {"v"}) : nullptr));
      columns.push_back(Column(type, 77, fields.size()));
    }
  }
  const auto schema = arrow::schema(fields, arrow::key_value_metadata({"name"}, {"value"}));
  CheckStream(StreamOf(*arrow::RecordBatch::Make(schema, 77, columns)), "all");
}

TEST(BlockTypes, ExtensionsThatAreRegisteredAndOthers) {
  const auto storage = Column(arrow::fixed_size_binary(16), 20, 3);
  const auto uuid = arrow::ExtensionType::WrapArray(arrow::extension::uuid(), storage);
  CheckStream(StreamOf(*arrow::RecordBatch::Make(arrow::schema({arrow::field("u", uuid->type())}), 20, {uuid})),
              "uuid");
  const auto metadata =
      arrow::key_value_metadata({"ARROW:extension:name", "ARROW:extension:metadata"}, {"nobody.knows", "this"});
  const auto schema = arrow::schema({arrow::field("e", storage->type(), true, metadata)});
  CheckStream(StreamOf(*arrow::RecordBatch::Make(schema, 20, {storage})), "unknown extension");
}

TEST(BlockTypes, NoColumnsAndNoRows) {
  const auto none = arrow::RecordBatch::Make(arrow::schema(arrow::FieldVector{}), 12345, arrow::ArrayVector{});
  const auto read = *DecodeOne(BlockOf(StreamOf(*none)));
  EXPECT_EQ(read->num_rows(), 12345);
  EXPECT_EQ(read->num_columns(), 0);
  EXPECT_TRUE(read->columns().empty());
}

/// Random batches of random types, some nested, against what Arrow reads.
TEST(BlockTypes, RandomOnes) {
  auto types = FlatTypes();
  const auto nested = NestedTypes();
  types.insert(types.end(), nested.begin(), nested.end());
  const int rounds = testing::LongTests() ? 2000 : 60;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937_64 random(static_cast<uint64_t>(round));
    const auto length = static_cast<int64_t>(random() % 200);
    arrow::FieldVector fields;
    arrow::ArrayVector columns;
    for (size_t i = 0; i < random() % 6 + 1; ++i) {
      const auto& type = types[random() % types.size()];
      fields.push_back(arrow::field("c" + std::to_string(i), type));
      columns.push_back(Column(type, length, random()));
    }
    CheckStream(StreamOf(*arrow::RecordBatch::Make(arrow::schema(fields), length, columns)),
                "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace calve
