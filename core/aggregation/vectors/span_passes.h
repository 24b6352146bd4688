#pragma once

#include <cstddef>
#include <cstdint>

namespace aflguard {

/// How one pass makes the next model and the next directions out of update, classes and directions:
///   o = g - sum project[c] s_c
///   next = theta - rate * (sum visible[c] s_c + residual * o + sum bend[j] w_j)
///   w_k <- sum turn[k * directions + j] w_j + enter[k] * o
struct SpanStep {
  std::size_t classes = 0;
  std::size_t directions = 0;  ///< at most kMostDirections
  const float* project = nullptr;
  const float* visible = nullptr;
  const float* bend = nullptr;
  const float* turn = nullptr;
  const float* enter = nullptr;
  float residual = 0;
  float rate = 0;
};

/// The passes of SpanGuard over raw memory, compiled once per instruction set. Every set gives the same bits.
/// For span_kernels.cpp only. `turns` and the layout of rows as in RowBundle.
struct SpanPasses {
  /// out[row] = sum of row_i g_i.
  void (*products)(const float* rows, std::size_t row_count, const float* g, std::size_t count, double* out);
  /// out[a * b_count + b] = sum of a_i b_i over two bundles.
  void (*cross)(const float* a, std::size_t a_count, const float* b, std::size_t b_count, std::size_t turns,
                double* out);
  void (*step)(const SpanStep& step, const float* g, const float* classes, float* directions,
               const float* theta, float* next, std::size_t count);
  /// Adds v to a count sketch of kSketch + 16 floats; see sketch_of().
  void (*sketch)(const float* v, std::size_t count, std::uint64_t key, float* sums);
};

constexpr std::size_t kSketch = 1024;
/// Of the 16 numbers of v that begin at 16 * turn: bits 0 to 15 say which are subtracted, bits 20 to 29 where
/// in the sketch the first goes. The finalizer of splitmix64.
[[nodiscard]] constexpr std::uint64_t sketch_place(std::uint64_t key, std::uint64_t turn) {
  std::uint64_t x = key + turn * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

extern const SpanPasses kBaselineSpanPasses;
#if defined(__x86_64__)
extern const SpanPasses kAvx2SpanPasses;
extern const SpanPasses kAvx512SpanPasses;
#endif

}  // namespace aflguard
