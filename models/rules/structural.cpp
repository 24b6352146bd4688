#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

Status reshape(RuleContext& c) {
  c.give(0, c.g.reshape(c.gradient(), c.input_shape(0)));
  return {};
}

Status transpose(RuleContext& c) {
  const std::size_t rank = c.input_shape(0).size();
  Axes order = c.node().ints_or("perm", {});
  if (order.empty()) {
    for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  }
  Axes inverse(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  c.give(0, c.g.transpose(c.gradient(), inverse));
  return {};
}

Status concat(RuleContext& c) {
  TRY(const std::size_t axis, normal_axis(c.node().int_or("axis", 0), c.input_shape(0).size()));
  if (c.input_shape(0)[axis].batch) return c.refuse("joining along the batch dimension is not supported");
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < c.node().inputs.size(); ++i) {
    const std::int64_t end = offset + c.input_shape(i)[axis].value;
    if (c.wants(i)) c.give(i, c.g.slice(c.gradient(), {static_cast<std::int64_t>(axis)}, {offset}, {end}));
    offset = end;
  }
  return {};
}

Value zeros_like(GraphBuilder& g, const Value& value) {
  if (!g.status().ok()) return {};
  return g.emit_shaped("ConstantOfShape", {g.emit("Shape", {value})}, {},
                       {ElementType::kFloat, g.shape(value)});
}

Status split(RuleContext& c) {
  std::vector<Value> parts;
  for (std::size_t i = 0; i < c.node().outputs.size(); ++i) {
    parts.push_back(c.gradient(i).empty() ? zeros_like(c.g, c.output(i)) : c.gradient(i));
  }
  c.give(0, c.g.concat(std::move(parts), c.node().int_or("axis", 0)));
  return {};
}

Result<std::vector<std::int64_t>> constant_ints(RuleContext& c, std::size_t input) {
  const auto found = c.g.graph().constants.find(c.input(input));
  if (found == c.g.graph().constants.end())
    return c.refuse("an input that describes its shape is not constant");
  return found->second.values<std::int64_t>();
}

/// Padding's gradient crops, cropping's gradient pads.
Status pad(RuleContext& c) {
  if (c.node().string_or("mode", "constant") != "constant")
    return c.refuse("only mode 'constant' has a gradient");
  TRY(auto pads, constant_ints(c, 1));
  for (std::int64_t& extent : pads) extent = -extent;
  if (c.wants(0)) c.give(0, c.g.pad(c.gradient(), pads));
  return {};
}

/// Puts step - 1 zeros after each element along `axis`, except after the last.
Value interleave_zeros(GraphBuilder& g, const Value& value, std::size_t axis, std::int64_t step) {
  if (step == 1 || !g.status().ok()) return value;
  const Shape shape = g.shape(value);
  Shape apart = shape;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim{});
  std::vector<std::int64_t> pads(2 * apart.size(), 0);
  pads[apart.size() + axis + 1] = step - 1;
  Shape joined = shape;
  joined[axis].value *= step;
  std::vector<std::int64_t> crop(2 * shape.size(), 0);
  crop[shape.size() + axis] = 1 - step;
  return g.pad(g.reshape(g.pad(g.reshape(value, apart), pads), joined), crop);
}

Status slice(RuleContext& c) {
  const Shape& x = c.input_shape(0);
  TRY(const auto starts, constant_ints(c, 1));
  TRY(const auto axes, constant_ints(c, 3));
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (!c.input(4).empty()) {
    TRY(steps, constant_ints(c, 4));
  }
  Value gradient = c.gradient();
  std::vector<std::int64_t> pads(2 * x.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] < 1) return c.refuse("slicing backwards is not supported");
    TRY(const std::size_t axis, normal_axis(axes[i], x.size()));
    const std::int64_t extent = x[axis].value;
    const std::int64_t start = starts[i] < 0 ? std::max<std::int64_t>(starts[i] + extent, 0) : starts[i];
    gradient = interleave_zeros(c.g, gradient, axis, steps[i]);
    if (!c.g.status().ok()) return {};
    pads[axis] = start;
    pads[x.size() + axis] = extent - start - c.g.shape(gradient)[axis].value;
  }
  c.give(0, c.g.pad(gradient, pads));
  return {};
}

Status expand(RuleContext& c) {
  c.give(0, c.g.sum_to_shape(c.gradient(), c.input_shape(0)));
  return {};
}

Status identity(RuleContext& c) {
  c.give(0, c.gradient());
  return {};
}

}  // namespace

void add_structural_rules(OperatorSet& operators) {
  operators.gradients[{"", "Reshape"}] = reshape;
  operators.gradients[{"", "Transpose"}] = transpose;
  operators.gradients[{"", "Concat"}] = concat;
  operators.gradients[{"", "Split"}] = split;
  operators.gradients[{"", "Pad"}] = pad;
  operators.gradients[{"", "Slice"}] = slice;
  operators.gradients[{"", "Expand"}] = expand;
  operators.gradients[{"", "Identity"}] = identity;
}

}  // namespace aflguard::models
