#include "calve/parquet/materialization.h"

namespace calve::parquet {

Materialization ChooseMaterialization(int64_t rows, int64_t passing, int64_t runs) {
  if (passing == 0) return Materialization::kNothing;
  if (passing == rows) return Materialization::kEveryRow;
  const auto share = [&](double part) { return static_cast<double>(rows) * part; };
  const auto count = static_cast<double>(passing);
  if (count > share(kDenseShare)) return Materialization::kByMask;
  if (count < share(kSparseShare)) return Materialization::kByRows;
  return passing < runs * kShortRun ? Materialization::kByMask : Materialization::kByRows;
}

}  // namespace calve::parquet
