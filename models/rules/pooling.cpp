#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

/// Windows that tile the input: no element is seen twice, none is padding.
bool tiles(const Window& window) {
  return window.strides == window.kernel && !window.padded() &&
         window.dilations == std::vector<std::int64_t>(window.rank(), 1);
}

/// dy[i] is added at the flat position indices[i] of a zero tensor shaped like x. Overlapping windows that
/// chose the same element add up.
Value scatter_add(RuleContext& c, const Value& dy, const Value& indices) {
  GraphBuilder& g = c.g;
  if (!g.status().ok()) return {};
  const Value x = c.input(0);
  const Dim total = *product(g.shape(x));
  const Dim count = *product(g.shape(dy));
  const Value length = g.reshape(g.emit("Size", {x}), {{1, false}});
  const Value zeros = g.emit_shaped("ConstantOfShape", {length}, {}, {ElementType::kFloat, {total}});
  const Value flat = g.emit_shaped(
      "ScatterElements", {zeros, g.reshape(indices, {count}), g.reshape(dy, {count})},
      {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}}, {ElementType::kFloat, {total}});
  return g.reshape(flat, g.shape(x));
}

/// Each output's gradient goes to the one element that the forward pass chose, also among equal ones.
Status max_pool(RuleContext& c) {
  TRY(const Window window, read_window(c.node(), c.node().ints_or("kernel_shape", {})));
  const Value indices = c.output(1);
  const Value x = c.input(0);
  if (!tiles(window)) {
    c.give(0, scatter_add(c, c.gradient(), indices));
    return {};
  }
  const Value extents = c.g.emit("Shape", {x});
  if (!c.g.status().ok()) return {};
  c.give(0, c.g.emit_shaped("MaxUnpool", {c.gradient(), indices, extents},
                            {{"kernel_shape", window.kernel}, {"strides", window.strides}},
                            {ElementType::kFloat, c.g.shape(x)}));
  return {};
}

/// Windows that tile: repeat each gradient over its window.
Value spread_over_tiles(RuleContext& c, const Window& window, const Value& dy) {
  const Shape& x = c.input_shape(0);
  const Shape shape = c.g.shape(dy);
  Shape separated{shape[0], shape[1]};
  Shape joined{shape[0], shape[1]};
  std::vector<std::int64_t> repeats{1, 1};
  std::vector<std::int64_t> pads(2 * x.size(), 0);
  for (std::size_t i = 0; i < window.rank(); ++i) {
    separated.insert(separated.end(), {shape[i + 2], {1, false}});
    repeats.insert(repeats.end(), {1, window.kernel[i]});
    joined.push_back({shape[i + 2].value * window.kernel[i], false});
    pads[x.size() + 2 + i] = x[i + 2].value - joined.back().value;
  }
  const Value repeated = c.g.emit("Expand", {c.g.reshape(dy, separated), c.g.ints(repeats)});
  return c.g.pad(c.g.reshape(repeated, joined), pads);
}

/// Any other windows: a transposed convolution with a kernel of ones, every channel a separate image.
Value spread_by_convolution(RuleContext& c, const Window& window, const Value& dy) {
  const auto alone = [](Shape shape) {
    shape[0] = {shape[0].value * shape[1].value, shape[0].batch};
    shape[1] = {1, false};
    return shape;
  };
  const Shape& x = c.input_shape(0);
  Attributes attributes = window.attributes();
  std::vector<std::int64_t> unused;
  for (std::size_t i = 0; i < window.rank(); ++i) unused.push_back(window.unused(i, x[i + 2].value));
  attributes["output_padding"] = unused;
  std::vector<std::int64_t> kernel_shape{1, 1};
  kernel_shape.insert(kernel_shape.end(), window.kernel.begin(), window.kernel.end());
  const std::vector<float> ones(static_cast<std::size_t>(window.kernel_size()), 1.0F);
  const Value kernel = c.g.constant(float_tensor(ones, kernel_shape));
  const Value image = c.g.reshape(dy, alone(c.g.shape(dy)));
  return c.g.reshape(c.g.emit("ConvTranspose", {image, kernel}, std::move(attributes)), x);
}

/// Imported pools always divide by the whole kernel (count_include_pad); corrections are separate nodes.
Status average_pool(RuleContext& c) {
  TRY(const Window window, read_window(c.node(), c.node().ints_or("kernel_shape", {})));
  const Value share = c.g.scaled(c.gradient(), 1.0F / static_cast<float>(window.kernel_size()));
  if (!c.g.status().ok()) return {};
  c.give(0, tiles(window) ? spread_over_tiles(c, window, share) : spread_by_convolution(c, window, share));
  return {};
}

}  // namespace

void add_pooling_rules(OperatorSet& operators) {
  operators.gradients[{"", "MaxPool"}] = max_pool;
  operators.gradients[{"", "AveragePool"}] = average_pool;
}

}  // namespace aflguard::models
