#include "models/flavor.h"

namespace aflguard::models {

Flavor flavor_of(OpsFlavor /*ops*/) {
  return {standard_operators(), {pool_before_relu, share_equal_nodes}};
}

}  // namespace aflguard::models
