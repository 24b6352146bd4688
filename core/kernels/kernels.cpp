#include "core/kernels/kernels.h"

namespace aflguard::kernels {

extern const KernelTable kBaselineKernels;
#if defined(__x86_64__)
extern const KernelTable kAvx2Kernels;
#endif

KernelTables runnable_kernels() {
  KernelTables found{{&kBaselineKernels}, 1};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.tables[found.count++] = &kAvx2Kernels;
#endif
  return found;
}

const KernelTable& best_kernels() {
  static const KernelTables found = runnable_kernels();
  return *found.tables[found.count - 1];
}

}  // namespace aflguard::kernels
