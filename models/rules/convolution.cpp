#include <numeric>

#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

/// Kernels with more taps than this get their weight gradient from a convolution: one node per tap would
/// make a large graph, and shifted copies of the input a large memory.
constexpr std::int64_t kMaxTaps = 32;

struct Convolution {
  Window window;
  std::int64_t group = 1;
  Value x;   ///< [batch, channels, extents...], the side that the kernel slides over
  Value dy;  ///< gradient at the kernel's positions, [batch, filters, positions...]
  Shape weight;
};

Result<Window> window_of(const Node& node, const Shape& weight) {
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 2; i < weight.size(); ++i) kernel.push_back(weight[i].value);
  return read_window(node, std::move(kernel));
}

std::vector<std::int64_t> image_pads(const Window& window) {
  std::vector<std::int64_t> pads(2, 0);
  pads.insert(pads.end(), window.pads_begin.begin(), window.pads_begin.end());
  pads.insert(pads.end(), 2, 0);
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  return pads;
}

/// What one tap of the kernel sees of the padded input, at all positions: [batch, channels, positions...].
Value seen_by_tap(GraphBuilder& g, const Value& padded, const Convolution& conv, std::int64_t tap) {
  const std::size_t rank = conv.window.rank();
  Axes axes;
  std::vector<std::int64_t> starts(rank);
  std::vector<std::int64_t> ends(rank);
  for (std::size_t i = rank; i-- > 0;) {
    starts[i] = tap % conv.window.kernel[i] * conv.window.dilations[i];
    tap /= conv.window.kernel[i];
  }
  bool everything = true;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t positions = g.shape(conv.dy)[i + 2].value;
    ends[i] = starts[i] + (positions - 1) * conv.window.strides[i] + 1;
    axes.push_back(static_cast<std::int64_t>(i + 2));
    everything = everything && positions == g.shape(padded)[i + 2].value;
  }
  return everything ? padded : g.slice(padded, axes, starts, ends, conv.window.strides);
}

/// dw = sum over the batch of dy * (shifted copies of x)^T, all taps in one matrix product.
Value weight_gradient_by_taps(GraphBuilder& g, const Convolution& conv) {
  const Value padded = g.pad(conv.x, image_pads(conv.window));
  if (!g.status().ok()) return {};
  const Shape& dy_shape = g.shape(conv.dy);
  const Dim batch = dy_shape[0];
  const Dim channels = g.shape(conv.x)[1];
  const Dim positions = *product(std::span(dy_shape).subspan(2));
  const std::int64_t taps = conv.window.kernel_size();
  std::vector<Value> copies;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const Value seen = seen_by_tap(g, padded, conv, tap);
    copies.push_back(g.reshape(seen, {batch, channels, {1, false}, positions}));
  }
  const Dim columns{channels.value / conv.group * taps, false};
  const Dim rows{dy_shape[1].value / conv.group, false};
  Shape column_shape{batch, columns, positions};
  Shape row_shape{batch, rows, positions};
  Axes swap_last{0, 2, 1};
  if (conv.group > 1) {
    column_shape.insert(column_shape.begin() + 1, {conv.group, false});
    row_shape.insert(row_shape.begin() + 1, {conv.group, false});
    swap_last = {0, 1, 3, 2};
  }
  const Value unrolled = g.reshape(g.concat(std::move(copies), 2), column_shape);
  const Value per_sample =
      g.emit("MatMul", {g.reshape(conv.dy, row_shape), g.transpose(unrolled, swap_last)});
  return g.reshape(g.reduce_sum(per_sample, {0}, false), conv.weight);
}

/// The same as a convolution: samples become channels, dy the kernel, and strides and dilations change
/// places.
Value weight_gradient_by_convolution(GraphBuilder& g, const Convolution& conv) {
  const Value padded = g.pad(conv.x, image_pads(conv.window));
  if (!g.status().ok()) return {};
  const std::size_t rank = conv.window.rank();
  const Shape shape = g.shape(padded);
  const Dim per_group{shape[1].value / conv.group, false};
  Shape grouped{shape[0], {conv.group, false}, per_group};
  Shape swapped{per_group, {shape[0].value * conv.group, shape[0].batch}};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  swapped.insert(swapped.end(), shape.begin() + 2, shape.end());
  Axes to_front{2, 1, 0};
  Axes swap_first(rank + 2);
  std::iota(swap_first.begin(), swap_first.end(), 0);
  std::swap(swap_first[0], swap_first[1]);
  for (std::size_t i = 0; i < rank; ++i) to_front.push_back(static_cast<std::int64_t>(i + 3));
  const Value image = g.reshape(g.transpose(g.reshape(padded, grouped), to_front), swapped);
  const Value kernel = g.transpose(conv.dy, swap_first);
  Attributes attributes{
      {"strides", conv.window.dilations}, {"dilations", conv.window.strides}, {"group", conv.group}};
  const Value all = g.emit("Conv", {image, kernel}, std::move(attributes));
  if (!g.status().ok()) return {};
  // Extents that the forward kernel left unused at the end show up as further taps: drop them.
  Value taps = all;
  Axes axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i + 2));
  if (!std::equal(conv.weight.begin() + 2, conv.weight.end(), g.shape(all).begin() + 2)) {
    taps = g.slice(all, axes, std::vector<std::int64_t>(rank, 0), conv.window.kernel);
  }
  return g.transpose(taps, swap_first);
}

Value weight_gradient(GraphBuilder& g, const Convolution& conv) {
  return conv.window.kernel_size() <= kMaxTaps ? weight_gradient_by_taps(g, conv)
                                               : weight_gradient_by_convolution(g, conv);
}

Axes all_but_channels(std::size_t rank) {
  Axes axes{0};
  for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

Status conv(RuleContext& c) {
  const Shape weight = c.input_shape(1);
  TRY(const Window window, window_of(c.node(), weight));
  const std::int64_t group = c.node().int_or("group", 1);
  const Value dy = c.gradient();
  if (c.wants(0)) {
    Attributes attributes = window.attributes();
    attributes["group"] = group;
    std::vector<std::int64_t> unused;
    for (std::size_t i = 0; i < window.rank(); ++i)
      unused.push_back(window.unused(i, c.input_shape(0)[i + 2].value));
    attributes["output_padding"] = unused;
    c.give(0, c.g.emit("ConvTranspose", {dy, c.input(1)}, std::move(attributes)));
  }
  if (c.wants(1)) c.give(1, weight_gradient(c.g, {window, group, c.input(0), dy, weight}));
  if (c.wants(2)) c.give(2, c.g.reduce_sum(dy, all_but_channels(c.g.rank(dy)), false));
  return {};
}

/// The transposed convolution is the input gradient of a convolution, so x and dy change places.
Status conv_transpose(RuleContext& c) {
  const Shape weight = c.input_shape(1);
  TRY(const Window window, window_of(c.node(), weight));
  const std::int64_t group = c.node().int_or("group", 1);
  const Value dy = c.gradient();
  if (c.wants(0)) {
    Attributes attributes = window.attributes();
    attributes["group"] = group;
    c.give(0, c.g.emit("Conv", {dy, c.input(1)}, std::move(attributes)));
  }
  if (c.wants(1)) c.give(1, weight_gradient(c.g, {window, group, dy, c.input(0), weight}));
  if (c.wants(2)) c.give(2, c.g.reduce_sum(dy, all_but_channels(c.g.rank(dy)), false));
  return {};
}

}  // namespace

void add_convolution_rules(OperatorSet& operators) {
  operators.gradients[{"", "Conv"}] = conv;
  operators.gradients[{"", "ConvTranspose"}] = conv_transpose;
}

}  // namespace aflguard::models
