#pragma once
// Included only by the bodies of the passes (*_passes.inc), once per instruction set. Everything is in an
// unnamed namespace and uses no templates of the standard library: the linker could keep the copy with the
// wider instructions for all processors.
//
// Vectors are as wide as a register: GCC keeps wider ones in memory.
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define AFLGUARD_INLINE __attribute__((always_inline)) inline

namespace aflguard {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kFloats = 16;
#elif defined(__AVX__)
constexpr std::size_t kFloats = 8;
#else
constexpr std::size_t kFloats = 4;
#endif
constexpr std::size_t kDoubles = kFloats / 2;

using Floats = float __attribute__((vector_size(kFloats * sizeof(float))));
using Doubles = double __attribute__((vector_size(kDoubles * sizeof(double))));
// The same in memory: any alignment, and allowed to be floats underneath.
using StoredFloats = float __attribute__((vector_size(kFloats * sizeof(float)), aligned(4), may_alias));
#if defined(__AVX__)
using StoredHalf = float __attribute__((vector_size(kDoubles * sizeof(float)), aligned(4), may_alias));
#endif

#if defined(__AVX512F__)
/// GCC 12 warns of an undefined value in the header's form without a mask; with all of it set, the code is
/// the same.
AFLGUARD_INLINE Doubles widened(StoredHalf from) {
  return _mm512_maskz_cvtps_pd(0xFF, from);
}
#endif

AFLGUARD_INLINE Floats load(const float* from) {
  return *reinterpret_cast<const StoredFloats*>(from);
}
AFLGUARD_INLINE void store(float* to, Floats values) {
  *reinterpret_cast<StoredFloats*>(to) = values;
}

/// Four running sums, in one register or two.
struct Four {
  static constexpr std::size_t kWidth = kDoubles < 4 ? kDoubles : 4;
  using Part = double __attribute__((vector_size(kWidth * sizeof(double))));
  static constexpr std::size_t kParts = 4 / kWidth;
  Part part[kParts];

  AFLGUARD_INLINE Four operator+(const Four& other) const {
    Four sum;
    for (std::size_t i = 0; i < kParts; ++i) sum.part[i] = part[i] + other.part[i];
    return sum;
  }
  /// (0+1) + (2+3), in this order on every machine.
  [[nodiscard]] AFLGUARD_INLINE double total() const {
    if constexpr (kParts == 1) {
      return (part[0][0] + part[0][1]) + (part[0][2 % kWidth] + part[0][3 % kWidth]);
    } else {
      return (part[0][0] + part[0][1]) + (part[kParts - 1][0] + part[kParts - 1][1]);
    }
  }
};

/// Eight numbers as doubles.
struct Octet {
  static constexpr std::size_t kParts = 8 / kDoubles;
  Doubles part[kParts] = {};

  /// Of eight floats.
  static AFLGUARD_INLINE Octet widen(const float* from) {
    Octet wide;
#if defined(__AVX512F__)
    wide.part[0] = widened(*reinterpret_cast<const StoredHalf*>(from));
#elif defined(__AVX__)
    wide.part[0] = _mm256_cvtps_pd(*reinterpret_cast<const StoredHalf*>(from));
    wide.part[1] = _mm256_cvtps_pd(*reinterpret_cast<const StoredHalf*>(from + 4));
#else
    wide.take(0, load(from));
    wide.take(1, load(from + 4));
#endif
    return wide;
  }

  /// a_i - b_i, rounded to float, as double.
  static AFLGUARD_INLINE Octet widen_difference(const float* a, const float* b) {
    Octet wide;
#if defined(__AVX512F__)
    wide.part[0] = widened(*reinterpret_cast<const StoredHalf*>(a) - *reinterpret_cast<const StoredHalf*>(b));
#elif defined(__AVX__)
    for (std::size_t i = 0; i < kParts; ++i) {
      wide.part[i] = _mm256_cvtps_pd(*reinterpret_cast<const StoredHalf*>(a + 4 * i) -
                                     *reinterpret_cast<const StoredHalf*>(b + 4 * i));
    }
#else
    wide.take(0, load(a) - load(b));
    wide.take(1, load(a + 4) - load(b + 4));
#endif
    return wide;
  }

  /// Adds a_i b_i. The product of two floats is exact in double, so a fused multiply-add gives the same bits
  /// as two operations, here and nowhere else.
  AFLGUARD_INLINE void add_products(const Octet& a, const Octet& b) {
    for (std::size_t i = 0; i < kParts; ++i) {
#if defined(__AVX512F__)
      part[i] = _mm512_fmadd_pd(a.part[i], b.part[i], part[i]);
#elif defined(__AVX__)
      part[i] = _mm256_fmadd_pd(a.part[i], b.part[i], part[i]);
#elif defined(__aarch64__)
      part[i] = vfmaq_f64(part[i], a.part[i], b.part[i]);
#else
      part[i] += a.part[i] * b.part[i];
#endif
    }
  }

  /// Lane i plus lane i + 4.
  [[nodiscard]] AFLGUARD_INLINE Four folded() const {
#if defined(__AVX512F__)
    return {{__builtin_shufflevector(part[0], part[0], 0, 1, 2, 3) +
             __builtin_shufflevector(part[0], part[0], 4, 5, 6, 7)}};
#else
    Four four;
    for (std::size_t i = 0; i < Four::kParts; ++i) four.part[i] = part[i] + part[i + Four::kParts];
    return four;
#endif
  }

 private:
#if !defined(__AVX__)
  AFLGUARD_INLINE void take(std::size_t half, Floats four) {
#if defined(__x86_64__)
    part[2 * half] = _mm_cvtps_pd(four);
    part[2 * half + 1] = _mm_cvtps_pd(_mm_movehl_ps(four, four));
#elif defined(__aarch64__)
    part[2 * half] = vcvt_f64_f32(vget_low_f32(four));
    part[2 * half + 1] = vcvt_high_f64_f32(four);
#else
    part[2 * half] = Doubles{four[0], four[1]};
    part[2 * half + 1] = Doubles{four[2], four[3]};
#endif
  }
#endif
};

}  // namespace
}  // namespace aflguard
