#include "models/resampling.h"
#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

/// One entry per axis; those that stay as they are have from = to.
Result<std::vector<Resampling>> axes_of(RuleContext& c) {
  TRY(const Resampling modes, read_resampling(c.node()));
  const Shape& x = c.input_shape(0);
  const Shape y = c.g.shape(c.gradient());
  std::vector<Resampling> axes(x.size(), modes);
  const auto stated = c.g.graph().constants.find(c.input(2));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].from = x[i].value;
    axes[i].to = y[i].value;
    axes[i].scale = static_cast<float>(axes[i].to) / static_cast<float>(axes[i].from);
    if (!c.input(2).empty() && stated != c.g.graph().constants.end())
      axes[i].scale = stated->second.values<float>()[i];
  }
  return axes;
}

/// Every element was repeated: its gradient is the sum over the repetitions.
Value sum_of_repeats(GraphBuilder& g, const Value& dy, std::size_t axis, std::int64_t repeats) {
  Shape apart = g.shape(dy);
  apart[axis].value /= repeats;
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, {repeats, false});
  return g.reduce_sum(g.reshape(dy, apart), {static_cast<std::int64_t>(axis) + 1}, false);
}

/// dx = dy * weights^T along one axis.
Value through_weights(GraphBuilder& g, const Value& dy, std::size_t axis, const Resampling& axis_of) {
  const Shape shape = g.shape(dy);
  const std::vector<float> by_rows = resampling_weights(axis_of);  // [from, to]
  if (axis + 1 < shape.size()) {
    const auto behind = product(std::span(shape).subspan(axis + 1));
    const auto before = product(std::span(shape).first(axis));
    const Value weights = g.constant(float_tensor(by_rows, {axis_of.from, axis_of.to}));
    Shape result = shape;
    result[axis] = {axis_of.from, false};
    return g.reshape(g.emit("MatMul", {weights, g.reshape(dy, {*before, shape[axis], *behind})}), result);
  }
  std::vector<float> by_columns(by_rows.size());
  const auto from = static_cast<std::size_t>(axis_of.from);
  const auto to = static_cast<std::size_t>(axis_of.to);
  for (std::size_t i = 0; i < from; ++i) {
    for (std::size_t j = 0; j < to; ++j) by_columns[j * from + i] = by_rows[i * to + j];
  }
  return g.emit("MatMul", {dy, g.constant(float_tensor(by_columns, {axis_of.to, axis_of.from}))});
}

/// Resizing is linear and separable: its gradient goes back along one axis after the other, the last one
/// first, where most is to be gained.
Status resize(RuleContext& c) {
  TRY(const auto axes, axes_of(c));
  Value dy = c.gradient();
  for (std::size_t i = axes.size(); i-- > 2;) {
    if (!c.g.status().ok() || (axes[i].from == axes[i].to && axes[i].scale == 1.0F)) continue;
    const std::int64_t repeats = whole_repeats(axes[i]);
    dy = repeats > 0 ? sum_of_repeats(c.g, dy, i, repeats) : through_weights(c.g, dy, i, axes[i]);
  }
  c.give(0, dy);
  return {};
}

}  // namespace

void add_resize_rules(OperatorSet& operators) {
  operators.gradients[{"", "Resize"}] = resize;
}

}  // namespace aflguard::models
