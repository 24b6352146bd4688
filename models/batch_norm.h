#pragma once

#include "models/graph/graph.h"
#include "models/graph/graph_builder.h"

namespace aflguard::models {

/// Batch normalisation as one node while a graph is differentiated:
/// x, scale, bias [, stored mean, stored variance] -> y [, mean, variance over the batch], attribute epsilon.
/// ONNX's own operator trains only in training builds of ONNX Runtime, so lower_batch_norm() replaces this
/// one by operators that every build has before a graph is written.
inline const OperatorName kBatchNorm{"aflguard.internal", "BatchNorm"};

enum class NormStatistics : std::uint8_t {
  kBatch,   ///< of the batch that is fed
  kStored,  ///< those inside the imported model
  kGiven,   ///< those that are fed beside the samples
};

/// Mean and variance of one batch normalisation, [channels] each.
struct NormMoments {
  Value mean;
  Value variance;
};

/// What each batch normalisation of the graph normalises with, in their order: values that nodes of the graph
/// make (kBatch), constants or parameters (kStored), or values that nothing makes yet (kGiven).
[[nodiscard]] Result<std::vector<NormMoments>> lower_batch_norm(Graph& graph, const OperatorSet& operators,
                                                                NormStatistics statistics);

}  // namespace aflguard::models
