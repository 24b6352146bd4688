#define AFLGUARD_KERNEL_VARIANT avx2
#include "core/kernels/variant/table.h"

namespace aflguard::kernels {

extern const KernelTable kAvx2Kernels;
const KernelTable kAvx2Kernels = avx2::make_table("avx2");

}  // namespace aflguard::kernels
