#pragma once

#include "core/kernels/variant/batch_norm.h"
#include "core/kernels/variant/gather.h"
#include "core/kernels/variant/panel.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

constexpr KernelTable make_table(const char* name) {
  return {
      name,         pack_panel,   planes_to_panel,    add_column_sums,    gather_product, gather_product_max,
      gather_outer, unpool_panel, batch_norm_forward, batch_norm_backward};
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
