#pragma once

#include "calve/partitioner.h"

#include <memory>
#include <string>

namespace calve {

class Table;

// Shuffles whose rows lie together as an Iceberg table's partitions have them, so that a task which writes some of the
// table's partitions finds all rows of each in one place.
//
// The partition of a row is Spark's hash (see MakeHashPartitioner) of its partition values, the results of the
// transforms in the order of the spec, modulo `partitions`; Spark puts rows there too when it distributes them by the
// same transforms. Whatever the number of partitions, rows with equal partition values are never apart.

/// By the terms of `spec`: columns and transforms of columns between commas, as Iceberg's metadata or Spark spells
/// them, such as "bucket[16](id), day(ts), truncate(4, place.name), category". A field of a struct is named with dots.
/// Invalid names a term that is none, a column that is missing or a transform that does not take it.
PartitionerResult MakePartitionSpecPartitioner(const std::shared_ptr<arrow::Schema>& schema, const std::string& spec,
                                               int32_t partitions);

/// By the default partition spec of `table`. Its columns are found by field id where `schema` has ids, otherwise by
/// name. Invalid when one is missing; NotImplemented names a transform that is not known.
PartitionerResult MakeTablePartitioner(const std::shared_ptr<arrow::Schema>& schema, const Table& table,
                                       int32_t partitions);

}  // namespace calve
