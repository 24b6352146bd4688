#pragma once

#include "models/passes/rewrite.h"

namespace aflguard::models {

/// A transformation of a graph that does not change what it computes.
using GraphPass = Status (*)(Graph&, const OperatorSet&);

/// Max pooling before Relu instead of after: the maximum of the positive parts is the positive part of the
/// maximum, and so is its gradient; the activation and its mask then work on the pooled size.
[[nodiscard]] Status pool_before_relu(Graph& graph, const OperatorSet& operators);

/// Computes equal expressions once.
[[nodiscard]] Status share_equal_nodes(Graph& graph, const OperatorSet& operators);

}  // namespace aflguard::models
