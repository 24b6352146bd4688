#pragma once
// Included only by variant_*.cpp, once per instruction set; AFLGUARD_KERNEL_VARIANT names the namespace.

#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Eight floats: one AVX register, two NEON or SSE ones. Loads and stores need no alignment.
typedef float Vector __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::int32_t Mask __attribute__((vector_size(32)));
inline constexpr std::size_t kLanes = 8;

#define AFLGUARD_INLINE [[gnu::always_inline]] inline

AFLGUARD_INLINE Vector load(const float* p) {
  return *reinterpret_cast<const Vector*>(p);
}
AFLGUARD_INLINE void store(float* p, Vector v) {
  *reinterpret_cast<Vector*>(p) = v;
}
AFLGUARD_INLINE Vector splat(float f) {
  return Vector{f, f, f, f, f, f, f, f};
}
AFLGUARD_INLINE Vector maximum(Vector a, Vector b) {
  return a > b ? a : b;
}

AFLGUARD_INLINE float sum_of(Vector v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// rows[i][j] becomes rows[j][i].
AFLGUARD_INLINE void transpose(Vector (&r)[8]) {
  Vector t[8];
  Vector u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      u[i + 2 * j] = __builtin_shufflevector(t[i + j], t[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      u[i + 2 * j + 1] = __builtin_shufflevector(t[i + j], t[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
