#include "core/kernels/kernels.h"

#include "core/kernels/instruction_set.h"

namespace aflguard::kernels {

extern const KernelTable kBaselineKernels;
#if defined(__x86_64__)
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
#endif

namespace {

KernelTables kernels_up_to([[maybe_unused]] InstructionSet set) {
  KernelTables found{{&kBaselineKernels}, 1};
#if defined(__x86_64__)
  if (set >= InstructionSet::kAvx2) found.tables[found.count++] = &kAvx2Kernels;
  if (set >= InstructionSet::kAvx512) found.tables[found.count++] = &kAvx512Kernels;
#endif
  return found;
}

}  // namespace

KernelTables runnable_kernels() {
  return kernels_up_to(widest_instruction_set());
}

const KernelTable& best_kernels() {
  static const KernelTables found = kernels_up_to(chosen_instruction_set());
  return *found.tables[found.count - 1];
}

}  // namespace aflguard::kernels
