#pragma once

#include <map>
#include <vector>

#include "core/base/result.h"
#include "models/graph/graph_builder.h"

namespace aflguard::models {

/// Reverse-mode differentiation. Appends to the builder's graph the nodes that compute the gradients of a
/// scalar with respect to `parameters`, given `output_gradient`, its gradient with respect to `output`.
///
/// Returns the gradient of each parameter on which `output` depends; a parameter used several times gets the
/// sum. kUnsupported, naming node and operator, when a node on the way has no gradient rule.
[[nodiscard]] Result<std::map<Value, Value>> differentiate(GraphBuilder& builder, const Value& output,
                                                           const Value& output_gradient,
                                                           const std::vector<Value>& parameters);

}  // namespace aflguard::models
