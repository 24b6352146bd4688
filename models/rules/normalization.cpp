#include "models/batch_norm.h"
#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

/// Everything that a gradient of "subtract the mean, divide by the deviation" over `axes` needs.
struct Normalized {
  Axes axes;
  Value centred;            ///< x - mean
  Value inverse_deviation;  ///< 1 / sqrt(variance + epsilon), broadcastable to x
};

Value inverse_deviation(GraphBuilder& g, const Value& variance, float epsilon) {
  return g.emit("Reciprocal", {g.emit("Sqrt", {g.add(variance, g.scalar(epsilon))})});
}

/// One value per channel as [1, channels, 1, ...].
Value per_channel(GraphBuilder& g, const Value& value, std::size_t rank) {
  if (!g.status().ok()) return {};
  Shape shape(rank);
  shape[1] = g.shape(value).front();
  return g.reshape(value, shape);
}

/// With n = (x - mean) / deviation and dn = dy * scale:
/// dx = (dn - mean(dn) - n * mean(dn * n)) / deviation
Value input_gradient(GraphBuilder& g, const Normalized& norm, const Value& mean_dn,
                     const Value& mean_dn_centred, const Value& dn) {
  // n * mean(dn * n) = centred * (mean(dn * centred) * inverse_deviation^2): the factor is small.
  const Value factor = g.mul(mean_dn_centred, g.mul(norm.inverse_deviation, norm.inverse_deviation));
  const Value inner = g.sub(g.sub(dn, mean_dn), g.mul(norm.centred, factor));
  return g.mul(inner, norm.inverse_deviation);
}

/// Statistics over the batch: scale is the same for all elements of a mean, so it can be applied last.
Status batch_norm(RuleContext& c) {
  GraphBuilder& g = c.g;
  const std::size_t rank = c.input_shape(0).size();
  const Value x = c.input(0);
  const Value dy = c.gradient();
  Axes axes{0};
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Value mean = c.output(1);
  const Value variance = c.output(2);
  const Value inverse = inverse_deviation(g, variance, c.node().float_or("epsilon", 1e-5F));
  const Normalized norm{axes, g.sub(x, per_channel(g, mean, rank)), per_channel(g, inverse, rank)};
  const Value mean_dy = g.reduce_mean(dy, axes, true);
  const Value mean_dy_centred = g.reduce_mean(g.mul(dy, norm.centred), axes, true);
  const Value count = g.count(x, axes);
  if (!g.status().ok()) return {};
  if (c.wants(0)) {
    const Value unscaled = input_gradient(g, norm, mean_dy, mean_dy_centred, dy);
    c.give(0, g.mul(unscaled, per_channel(g, c.input(1), rank)));
  }
  if (c.wants(1)) {
    const Value mean_dy_n = g.mul(mean_dy_centred, norm.inverse_deviation);
    c.give(1, g.reshape(g.mul(mean_dy_n, count), c.input_shape(1)));
  }
  if (c.wants(2)) c.give(2, g.reshape(g.mul(mean_dy, count), c.input_shape(2)));
  return {};
}

/// Statistics of each channel of each sample.
Status instance_norm(RuleContext& c) {
  GraphBuilder& g = c.g;
  const std::size_t rank = c.input_shape(0).size();
  const Value x = c.input(0);
  Axes axes;
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Value centred = g.sub(x, g.reduce_mean(x, axes, true));
  const Value variance = g.reduce_mean(g.mul(centred, centred), axes, true);
  const Normalized norm{axes, centred, inverse_deviation(g, variance, c.node().float_or("epsilon", 1e-5F))};
  const Value dy = c.gradient();
  if (c.wants(0)) {
    const Value dn = g.mul(dy, per_channel(g, c.input(1), rank));
    const Value mean_dn = g.reduce_mean(dn, axes, true);
    const Value mean_dn_centred = g.reduce_mean(g.mul(dn, centred), axes, true);
    c.give(0, input_gradient(g, norm, mean_dn, mean_dn_centred, dn));
  }
  Axes all_but_channels = axes;
  all_but_channels.insert(all_but_channels.begin(), 0);
  if (c.wants(1)) {
    const Value n = g.mul(centred, norm.inverse_deviation);
    c.give(1, g.reduce_sum(g.mul(dy, n), all_but_channels, false));
  }
  if (c.wants(2)) c.give(2, g.reduce_sum(dy, all_but_channels, false));
  return {};
}

}  // namespace

void add_normalization_rules(OperatorSet& operators) {
  operators.gradients[kBatchNorm] = batch_norm;
  operators.gradients[{"", "InstanceNormalization"}] = instance_norm;
}

}  // namespace aflguard::models
