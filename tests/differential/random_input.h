#pragma once

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>

namespace calve::differential {

/// What calve is given to write: batches of one schema.
struct RandomInput {
  std::shared_ptr<arrow::Schema> schema;
  arrow::RecordBatchVector batches;
  bool plain_types = false;

  arrow::Result<std::shared_ptr<arrow::Table>> Table() const;
};

/// Makes the input of case `index` of `seed`, the same at every call: columns nested to a depth of four, sliced at
/// every level, cut into batches. One case in four has `plain_types`, which DuckDB and Polars have too; the others have
/// all types, dictionaries, run ends, views and list views among them.
arrow::Result<RandomInput> MakeRandomInput(uint64_t seed, int64_t index);

/// True for a type with dictionaries below its top.
bool HasNestedDictionary(const arrow::DataType& type);
/// True for a type in which a struct has, directly or in structs, a required fixed-size list.
bool HasRequiredFixedSizeListInStruct(const arrow::DataType& type);

}  // namespace calve::differential
