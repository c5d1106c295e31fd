#pragma once

#include <arrow/array/data.h>
#include <arrow/result.h>

#include <cstdint>
#include <memory>

namespace calve::shuffle {

/// Hashes the values of one array as Spark does. The buffers, children and dictionary of the array
/// outlive the hasher.
class ValueHasher {
 public:
  virtual ~ValueHasher() = default;
  /// The hash of value `i`, seeded with `seed`; `seed` itself for a null.
  virtual uint32_t Hash(int64_t i, uint32_t seed) const = 0;
  /// For every value i: hashes[i] = Hash(i, hashes[i]). `one_seed`: all of hashes[] is the same value.
  virtual void HashAll(uint32_t* hashes, bool one_seed) const = 0;
};

/// NotImplemented names a type that cannot be hashed.
arrow::Result<std::unique_ptr<ValueHasher>> MakeValueHasher(const arrow::ArrayData& values);

}  // namespace calve::shuffle
