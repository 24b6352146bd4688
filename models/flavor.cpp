#include "models/flavor.h"

#include "models/fused/fused_operators.h"

namespace aflguard::models {

Flavor flavor_of(OpsFlavor ops) {
  Flavor flavor{standard_operators(), {}};
  if (ops == OpsFlavor::kFused) {
    // First: the passes of the standard flavor would tear apart what belongs together here.
    add_fused_operators(flavor.operators);
    flavor.forward_passes.push_back(fuse_operators);
  }
  flavor.forward_passes.insert(flavor.forward_passes.end(), {pool_before_relu, share_equal_nodes});
  return flavor;
}

}  // namespace aflguard::models
