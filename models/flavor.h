#pragma once

#include <vector>

#include "models/operator_set.h"
#include "models/passes/passes.h"

namespace aflguard::models {

/// Which operators a training graph may use.
enum class OpsFlavor : std::uint8_t {
  kStandard,  ///< ONNX's own: any stock ONNX Runtime executes the graph
  kFused,     ///< also this project's fused operators
};

/// How a training graph is made: what is known about operators, and what happens to the forward graph before
/// it is differentiated.
struct Flavor {
  OperatorSet operators;
  std::vector<GraphPass> forward_passes;
};

[[nodiscard]] Flavor flavor_of(OpsFlavor ops);

}  // namespace aflguard::models
