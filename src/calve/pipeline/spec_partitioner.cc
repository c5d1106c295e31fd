// Partitions of a shuffle by the partition values of an Iceberg partition spec.
#include "calve/base/status.h"
#include "calve/hash/spark_murmur3.h"
#include "calve/iceberg/commit.h"
#include "calve/pipeline/spec_terms.h"
#include "calve/simd/spark_murmur3.h"
#include "calve/table.h"
#include "calve/table_partitioner.h"

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

namespace calve {

namespace {

/// Spark's hash of one value; null leaves it as it was.
struct HashOf {
  uint32_t seed;
  bool is_long_decimal;

  uint32_t operator()(std::monostate) const { return seed; }
  uint32_t operator()(bool value) const { return spark::HashInt(value ? 1 : 0, seed); }
  uint32_t operator()(int32_t value) const { return spark::HashInt(value, seed); }
  uint32_t operator()(int64_t value) const { return spark::HashLong(value, seed); }
  uint32_t operator()(float value) const { return spark::HashFloat(value, seed); }
  uint32_t operator()(double value) const { return spark::HashDouble(value, seed); }
  uint32_t operator()(const std::string& value) const {
    return spark::HashBytes({reinterpret_cast<const uint8_t*>(value.data()), value.size()}, seed);
  }
  uint32_t operator()(const arrow::Decimal128& value) const {
    if (!is_long_decimal) return spark::HashLong(static_cast<int64_t>(value.low_bits()), seed);
    return spark::HashWideDecimal(reinterpret_cast<const uint8_t*>(value.native_endian_bytes()), 16, seed);
  }
};

class SpecPartitioner final : public Partitioner {
 public:
  static PartitionerResult Make(std::vector<pipeline::SpecTerm> terms, int32_t partitions) {
    if (partitions < 1) return Invalid("a shuffle needs at least one partition, {} were asked for", partitions);
    if (terms.empty()) return Invalid("a partition spec without fields puts no rows together");
    auto made = std::make_unique<SpecPartitioner>();
    made->partitions_ = partitions;
    for (pipeline::SpecTerm& term : terms) {
      ARROW_ASSIGN_OR_RAISE(const auto type, iceberg::ResultType(term.transform, *term.source_type));
      made->long_decimal_.push_back(type->id == iceberg::TypeId::kDecimal && type->precision > 18);
    }
    made->terms_ = std::move(terms);
    return made;
  }

  int32_t partitions() const override { return partitions_; }

  Status Assign(const arrow::RecordBatch& batch, std::span<uint32_t> out) override {
    std::fill(out.begin(), out.end(), spark::kSeed);
    for (size_t i = 0; i < terms_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto values, pipeline::ApplyTerm(terms_[i], batch, arrow::default_memory_pool()));
      for (size_t row = 0; row < out.size(); ++row) {
        out[row] = std::visit(HashOf{out[row], long_decimal_[i]}, values[row]);
      }
    }
    simd::SparkPartitions(partitions_, out.size(), out.data());
    return Status::OK();
  }

 private:
  std::vector<pipeline::SpecTerm> terms_;
  std::vector<bool> long_decimal_;
  int32_t partitions_ = 1;
};

}  // namespace

PartitionerResult MakePartitionSpecPartitioner(const std::shared_ptr<arrow::Schema>& schema, const std::string& spec,
                                               int32_t partitions) {
  ARROW_ASSIGN_OR_RAISE(auto terms, pipeline::ParseSpecTerms(*schema, spec));
  return SpecPartitioner::Make(std::move(terms), partitions);
}

PartitionerResult MakeTablePartitioner(const std::shared_ptr<arrow::Schema>& schema, const Table& table,
                                       int32_t partitions) {
  auto terms = pipeline::SpecTermsOf(*schema, table.version()->metadata);
  if (!terms.ok()) return WithContext(terms.status(), table.name());
  auto made = SpecPartitioner::Make(*std::move(terms), partitions);
  return made.ok() ? std::move(made) : WithContext(made.status(), table.name());
}

}  // namespace calve
