#pragma once
// Included only by variant_*.cpp, once per instruction set; AFLGUARD_KERNEL_VARIANT names the namespace.

#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Floats in one register. A wider vector type compiles, too, but GCC then keeps its values in memory.
#if defined(__AVX__)
inline constexpr std::size_t kLanes = 8;
#else
inline constexpr std::size_t kLanes = 4;  // SSE, NEON
#endif
/// Loads and stores need no alignment.
typedef float Vector __attribute__((vector_size(sizeof(float) * kLanes), aligned(4), may_alias));
typedef std::int32_t Mask __attribute__((vector_size(sizeof(std::int32_t) * kLanes)));

/// Lanes of whole blocks, where sums are not taken across them.
#if defined(__AVX512F__)
typedef float Wide __attribute__((vector_size(64), aligned(4), may_alias));
#else
typedef Vector Wide;
#endif
inline constexpr std::size_t kWideLanes = sizeof(Wide) / sizeof(float);

/// Sums over neighbouring numbers run in eight lanes everywhere, in so many registers.
inline constexpr std::size_t kParts = 8 / kLanes;

#define AFLGUARD_INLINE [[gnu::always_inline]] inline

AFLGUARD_INLINE Vector load(const float* p) {
  return *reinterpret_cast<const Vector*>(p);
}
AFLGUARD_INLINE void store(float* p, Vector v) {
  *reinterpret_cast<Vector*>(p) = v;
}
AFLGUARD_INLINE Vector maximum(Vector a, Vector b) {
  return a > b ? a : b;
}

/// GCC for arm64 would otherwise give each vector of a row a pointer register and an addition, and no pairs
/// of loads.
AFLGUARD_INLINE const float* one_base(const float* row) {
#if defined(__aarch64__)
  asm("" : "+r"(row));
#endif
  return row;
}

/// The sum of eight lanes.
AFLGUARD_INLINE float sum_of(const Vector (&lanes)[kParts]) {
#if defined(__AVX__)
  const Vector& v = lanes[0];
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
#else
  const Vector v = lanes[0] + lanes[1];
  return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}

/// rows[i][j] becomes rows[j][i].
AFLGUARD_INLINE void transpose(Vector (&r)[kLanes]) {
#if defined(__AVX__)
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
#else
  const Vector even[] = {__builtin_shufflevector(r[0], r[1], 0, 4, 2, 6),
                         __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6)};
  const Vector odd[] = {__builtin_shufflevector(r[0], r[1], 1, 5, 3, 7),
                        __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7)};
  r[0] = __builtin_shufflevector(even[0], even[1], 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(odd[0], odd[1], 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(even[0], even[1], 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(odd[0], odd[1], 2, 3, 6, 7);
#endif
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
