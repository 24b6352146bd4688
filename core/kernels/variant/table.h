#pragma once

#include "core/kernels/variant/batch_norm.h"
#include "core/kernels/variant/gather.h"
#include "core/kernels/variant/panel.h"
#include "core/kernels/variant/peak.h"
#include "core/kernels/variant/sparse.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

constexpr KernelTable make_table(const char* name) {
  return {.name = name,
          .pack_panel = pack_panel,
          .pad_planes = pad_planes,
          .planes_to_panel = planes_to_panel,
          .panel_to_planes = panel_to_planes,
          .add_column_sums = add_column_sums,
          .gather_product = gather_product,
          .gather_product_max = gather_product_max,
          .gather_outer = gather_outer,
          .add_weighted_rows = add_weighted_rows,
          .batch_norm_forward = batch_norm_forward,
          .batch_norm_backward = batch_norm_backward,
          .peak = peak};
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
