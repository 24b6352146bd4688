#pragma once

#include "core/learning/model_description.h"
#include "models/graph/graph_builder.h"

namespace aflguard::models {

/// A loss appended to a graph: its value, and its gradient with respect to `scores`.
struct AppendedLoss {
  Value scores;  ///< where the backward walk starts
  Value loss;    ///< scalar, mean over the batch
  Value gradient;
};

/// Appends the loss of `output` against the target `y`, both [batch, ...].
///
/// Cross-entropy: `output` is [batch, classes] and y int64 [batch]. An output that is already a Softmax or
/// LogSoftmax over the classes is looked through: the loss is then -log of the model's own probabilities.
/// Mean squared error: the mean over all elements of (output - y)^2.
[[nodiscard]] Result<AppendedLoss> append_loss(GraphBuilder& builder, const Value& output, const Value& y,
                                               Loss loss);

/// Type and shape of the target. kUnsupported when the output's shape does not suit the loss.
[[nodiscard]] Result<ValueInfo> target_info(const Shape& output, Loss loss);

}  // namespace aflguard::models
