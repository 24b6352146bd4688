#include "models/batch_norm.h"

#include "models/passes/rewrite.h"

namespace aflguard::models {
namespace {

/// Mean and centred variance of each channel, then the operator for inference, which every build has. It gets
/// the centred values: from the others it would subtract the mean at the end, where digits cancel.
std::vector<Value> normalize_with_batch(GraphBuilder& g, const Node& node) {
  const Value x = node.input(0);
  const std::size_t rank = g.rank(x);
  Axes axes{0};
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  Shape per_channel(rank);
  per_channel[1] = g.shape(x)[1];
  const Value mean = g.reduce_mean(x, axes, false);
  const Value centred = g.sub(x, g.reshape(mean, per_channel));
  const Value variance = g.reduce_mean(g.mul(centred, centred), axes, false);
  const std::int64_t channels = per_channel[1].value;
  const Value zero =
      g.constant(float_tensor(std::vector<float>(static_cast<std::size_t>(channels), 0.0F), {channels}));
  const Value y = g.emit("BatchNormalization", {centred, node.input(1), node.input(2), zero, variance},
                         {{"epsilon", node.float_or("epsilon", 1e-5F)}});
  return {y, mean, variance};
}

Value normalize_with(GraphBuilder& g, const Node& node, const NormMoments& moments) {
  return g.emit("BatchNormalization",
                {node.input(0), node.input(1), node.input(2), moments.mean, moments.variance},
                {{"epsilon", node.float_or("epsilon", 1e-5F)}});
}

/// Names for moments that are not known yet.
NormMoments announce_moments(GraphBuilder& g, const Node& node) {
  const NormMoments moments{g.fresh_name("mean"), g.fresh_name("variance")};
  const Shape channels{g.shape(node.input(0))[1]};
  g.graph().values[moments.mean] = {ElementType::kFloat, channels};
  g.graph().values[moments.variance] = {ElementType::kFloat, channels};
  return moments;
}

}  // namespace

Result<std::vector<NormMoments>> lower_batch_norm(Graph& graph, const OperatorSet& operators,
                                                  NormStatistics statistics) {
  std::vector<NormMoments> all;
  TRY_STATUS(rewrite(graph, operators, [&](GraphBuilder& g, const Node& node) -> Replacement {
    if (node.op != kBatchNorm) return std::nullopt;
    if (statistics == NormStatistics::kBatch) {
      auto values = normalize_with_batch(g, node);
      all.push_back({values[1], values[2]});
      return values;
    }
    const NormMoments moments = statistics == NormStatistics::kStored
                                    ? NormMoments{node.input(3), node.input(4)}
                                    : announce_moments(g, node);
    all.push_back(moments);
    return std::vector<Value>{normalize_with(g, node, moments), moments.mean, moments.variance};
  }));
  return all;
}

}  // namespace aflguard::models
