#pragma once

#include "core/base/result.h"
#include "models/graph/graph.h"
#include "models/operator_set.h"

namespace aflguard::models {

/// The domain of this project's operators; core/learning_onnx/fused_operators.h says what each computes.
inline constexpr const char* kFusedDomain = "aflguard";
inline constexpr int kFusedDomainVersion = 1;

/// Shape and gradient rules of the fused operators.
void add_fused_operators(OperatorSet& operators);

/// Replaces what the fused operators can do, in a forward graph that is not yet differentiated:
/// convolutions of one group with the rectifier and the max pooling behind them, and batch normalisations
/// with the residual sum and the rectifier behind them. A value that something else reads too is never fused
/// away.
[[nodiscard]] Status fuse_operators(Graph& graph, const OperatorSet& operators);

}  // namespace aflguard::models
