#pragma once

#include <map>
#include <vector>

#include "core/base/result.h"
#include "models/build_package.h"

namespace aflguard::models {

/// Names of the nodes that take the parameters out of theta and put their gradients together.
inline constexpr const char* kSplitNode = "theta_split";
inline constexpr const char* kJoinNode = "gradient_join";

/// Forward and backward pass in one graph, before the parameters are taken out of theta.
struct JointGraph {
  Graph graph;                       ///< inputs x, y; output loss
  std::map<Value, Value> gradients;  ///< by parameter
};

[[nodiscard]] Result<JointGraph> make_joint_graph(const ForwardModel& model, const Flavor& flavor, Loss loss);

/// How parameters enter a training graph and their gradients leave it.
enum class ParameterForm : std::uint8_t {
  kFlat,      ///< theta, x, y -> loss, gradient: for any runtime
  kSeparate,  ///< theta/NAME..., x, y -> loss, gradient/NAME...: for callers that pass views into one vector
};

[[nodiscard]] Result<Graph> make_training_graph(JointGraph joint,
                                                const std::vector<ForwardParameter>& parameters,
                                                const OperatorSet& operators, ParameterForm form);

inline constexpr const char* kStatistics = "statistics";

/// theta, x -> logits [, statistics: what normalisations of the batch used, means and variances, flat]
[[nodiscard]] Result<Graph> make_evaluation_graph(const ForwardModel& model,
                                                  const std::vector<ForwardParameter>& parameters,
                                                  const Flavor& flavor, NormStatistics statistics);

struct InferenceGraph {
  Graph graph;
  std::size_t statistics = 0;  ///< numbers that the input `statistics` has; 0: there is no such input
};

/// PARAMETER..., [statistics,] x -> logits: every sample on its own, whatever stands beside it in the batch.
/// Parameters are inputs under their own names, in their order, so that a file with them inside is this one
/// with its inputs made constants.
[[nodiscard]] Result<InferenceGraph> make_inference_graph(const ForwardModel& model,
                                                          const std::vector<ForwardParameter>& parameters,
                                                          const Flavor& flavor, NormStatistics statistics);

}  // namespace aflguard::models
