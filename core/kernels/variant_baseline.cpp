#define AFLGUARD_KERNEL_VARIANT baseline
#include "core/kernels/variant/table.h"

namespace aflguard::kernels {

extern const KernelTable kBaselineKernels;
const KernelTable kBaselineKernels = baseline::make_table("baseline");

}  // namespace aflguard::kernels
