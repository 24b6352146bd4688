#include "models/batch_norm.h"
#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

/// The training graph always normalises with the batch's statistics; the stored ones come along for
/// evaluation.
Status batch_norm(ImportContext& c) {
  if (c.node.int_or("spatial", 1) != 1) return c.refuse("spatial = 0 is not supported");
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < 5; ++i) inputs.push_back(c.input(i));
  const Attributes attributes{{"epsilon", c.node.float_or("epsilon", 1e-5F)}};
  c.give(0, c.g.emit_many(kBatchNorm, std::move(inputs), attributes, 1).front());
  return {};
}

Status instance_norm(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  if (c.g.rank(x) < 3)
    return c.refuse("the input " + text(c.g.shape(x)) + " has no extents to normalise over");
  c.give(0, c.g.emit("InstanceNormalization", {x, c.input(1), c.input(2)},
                     {{"epsilon", c.node.float_or("epsilon", 1e-5F)}}));
  return {};
}

Status layer_norm(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const std::size_t rank = c.g.rank(x);
  TRY(const std::size_t first, normal_axis(c.node.int_or("axis", -1), rank));
  Axes axes;
  for (std::size_t i = first; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Value centred = c.g.sub(x, c.g.reduce_mean(x, axes, true));
  const Value variance = c.g.reduce_mean(c.g.mul(centred, centred), axes, true);
  const Value epsilon = c.g.scalar(c.node.float_or("epsilon", 1e-5F));
  const Value normal = c.g.div(centred, c.g.emit("Sqrt", {c.g.add(variance, epsilon)}));
  const Value scaled = c.g.mul(normal, c.input(1));
  c.give(0, c.has(2) ? c.g.add(scaled, c.input(2)) : scaled);
  return {};
}

/// Groups become the channels of an instance normalisation. Scale and bias are per channel from opset 21 on.
Status group_norm(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  const std::int64_t groups = c.node.int_or("num_groups", 1);
  if (shape.size() < 3 || groups < 1 || shape[1].batch || shape[1].value % groups != 0) {
    return c.refuse("the input " + text(shape) + " cannot be split into " + std::to_string(groups) +
                    " groups");
  }
  const auto rest = product(std::span(shape).subspan(1));
  const auto count = static_cast<std::size_t>(groups);
  const Value ones = c.g.constant(float_tensor(std::vector<float>(count, 1.0F), {groups}));
  const Value zeros = c.g.constant(float_tensor(std::vector<float>(count, 0.0F), {groups}));
  const Value grouped = c.g.reshape(x, {shape[0], {groups, false}, {rest->value / groups, false}});
  const Value normal = c.g.emit("InstanceNormalization", {grouped, ones, zeros},
                                {{"epsilon", c.node.float_or("epsilon", 1e-5F)}});
  Shape per_channel(shape.size());
  per_channel[1] = shape[1];
  const Value scale = c.input(1);
  if (!c.g.status().ok()) return {};
  if (c.g.shape(scale) != Shape{shape[1]})
    return c.refuse("only one scale and bias per channel is supported (opset 21)");
  const Value scaled = c.g.mul(c.g.reshape(normal, shape), c.g.reshape(scale, per_channel));
  c.give(0, c.g.add(scaled, c.g.reshape(c.input(2), per_channel)));
  return {};
}

}  // namespace

void add_normalization_imports(ImportTable& table) {
  table["BatchNormalization"] = batch_norm;
  table["InstanceNormalization"] = instance_norm;
  table["LayerNormalization"] = layer_norm;
  table["GroupNormalization"] = group_norm;
}

}  // namespace aflguard::models
