#include "lab/campaigns/full_catalog.h"

#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/async_sgd.h"
#include "core/aggregation/guards/basgd.h"
#include "core/aggregation/guards/kardam.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/aggregation/guards/sync_aflguard.h"
#include "core/aggregation/guards/zeno_plus_plus.h"
#include "lab/attacks/attacks.h"

namespace aflguard::lab {

Catalog full_catalog() {
  Catalog catalog = {.guards =
                         {
                             async_sgd_kind(),
                             kardam_kind(),
                             basgd_kind(),
                             zeno_plus_plus_kind(),
                             aflguard_kind(),
                             sync_aflguard_kind(),
                             span_guard_kind(),
                         },
                     .attacks = {
                         label_flip_kind(),
                         gauss_kind(),
                         gradient_deviation_kind(),
                         backdoor_kind(),
                         adapt_reverse_kind(),
                         adapt_fang_kind(),
                         adapt_sign_kind(),
                         adapt_boundary_kind(),
                     }};
  for (const auto& family : {own_kinds(), nuisance_kinds()}) {
    catalog.attacks.insert(catalog.attacks.end(), family.begin(), family.end());
  }
  return catalog;
}

}  // namespace aflguard::lab
