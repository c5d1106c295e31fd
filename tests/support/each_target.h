#pragma once

#include "calve/simd/targets.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>

namespace calve::simd {

/// Runs `check` with every instruction set that the machine has. Of tests.
template <typename Check>
void ForEachTarget(const Check& check) {
  const auto all = static_cast<uint32_t>(hwy::SupportedTargets());
  for (uint32_t left = all; left != 0; left &= left - 1) {
    const uint32_t target = left & (~left + 1);
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace calve::simd
