#pragma once

// Which instruction sets the kernels are compiled for. Included first in every kernel file.
//
// A kernel is compiled once for each set, in a namespace of its own, and the best that the machine has is taken at run
// time (Highway's dynamic dispatch). On x86 these are the baseline, AVX2 with BMI2, and AVX-512: the sets between gain
// these kernels nothing.

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

/// True while compiling for AVX2 and BMI2, or AVX-512.
#define CALVE_HAS_AVX2 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)
#define CALVE_HAS_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)
