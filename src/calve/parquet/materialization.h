#pragma once

#include <cstdint>

namespace calve::parquet {

/// How the columns that a filter does not test are read for a batch of which some rows pass it.
enum class Materialization {
  kNothing,   ///< no row passes
  kEveryRow,  ///< all rows pass
  kByRows,    ///< the rows that pass, the others skipped
  kByMask,    ///< all rows, the others then dropped
};

/// Chooses for a batch of `rows` rows of which `passing` pass, in `runs` runs. Skipping a row costs a part of decoding
/// it, and each change between skipping and decoding something of its own. So rows are decoded and dropped where more
/// than kDenseShare of them pass, and where runs are shorter than kShortRun on average, but for batches of which less
/// than kSparseShare passes: there whole stretches are skipped however short the runs are.
Materialization ChooseMaterialization(int64_t rows, int64_t passing, int64_t runs);

constexpr double kDenseShare = 0.5;
constexpr double kSparseShare = 0.02;
constexpr int64_t kShortRun = 8;

}  // namespace calve::parquet
