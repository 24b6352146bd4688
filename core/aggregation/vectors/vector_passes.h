#pragma once

#include <cstddef>

namespace aflguard {

/// The passes of vector_kernels.h over raw memory, compiled once per instruction set. Every set gives the
/// same bits. For vector_kernels.cpp only.
struct VectorPasses {
  double (*squared_norm)(const float* a, std::size_t count);
  double (*squared_distance)(const float* a, const float* b, std::size_t count);
  void (*dot_and_norm)(const float* a, const float* b, std::size_t count, double* dot, double* norm);
  /// next = theta - rate * direction.
  void (*step)(const float* theta, const float* direction, float rate, float* next, std::size_t count);
  double (*norm_and_step)(const float* direction, const float* theta, float rate, float* next,
                          std::size_t count, bool streaming);
  double (*distance_and_step)(const float* direction, const float* reference, const float* theta, float rate,
                              float* next, std::size_t count, bool streaming);
};

extern const VectorPasses kBaselinePasses;
#if defined(__x86_64__)
extern const VectorPasses kAvx2Passes;
extern const VectorPasses kAvx512Passes;
#endif

}  // namespace aflguard
