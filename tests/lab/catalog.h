#pragma once

#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/async_sgd.h"
#include "core/aggregation/guards/basgd.h"
#include "core/aggregation/guards/kardam.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/aggregation/guards/sync_aflguard.h"
#include "core/aggregation/guards/zeno_plus_plus.h"
#include "lab/attacks/attacks.h"
#include "lab/runs/experiment.h"

namespace aflguard::testing {
using namespace lab;

inline lab::Catalog full_catalog() {
  lab::Catalog catalog = {{async_sgd_kind(), kardam_kind(), basgd_kind(), zeno_plus_plus_kind(),
                           aflguard_kind(), sync_aflguard_kind(), span_guard_kind()},
                          {lab::label_flip_kind(), lab::gauss_kind(), lab::gradient_deviation_kind(),
                           lab::backdoor_kind(), lab::adapt_reverse_kind(), lab::adapt_fang_kind(),
                           lab::adapt_sign_kind(), lab::adapt_boundary_kind()}};
  for (const auto& family : {lab::own_kinds(), lab::nuisance_kinds()}) {
    catalog.attacks.insert(catalog.attacks.end(), family.begin(), family.end());
  }
  return catalog;
}

}  // namespace aflguard::testing
