#include <numeric>

#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

/// The shape that a reduction with keepdims has.
Shape kept_shape(Shape shape, const Axes& axes) {
  for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = Dim{};
  return shape;
}

Result<Axes> axes_or_all(Axes axes, std::size_t rank) {
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  return normal_axes(axes, rank);
}

Status reduce_sum(RuleContext& c) {
  const Shape x = c.input_shape(0);
  Axes axes;
  if (!c.input(1).empty()) {
    const auto found = c.g.graph().constants.find(c.input(1));
    if (found == c.g.graph().constants.end()) return c.refuse("its axes are computed at run time");
    axes = found->second.values<std::int64_t>();
  }
  TRY(axes, axes_or_all(axes, x.size()));
  c.give(0, c.g.expand_like(c.g.reshape(c.gradient(), kept_shape(x, axes)), c.input(0)));
  return {};
}

Status reduce_mean(RuleContext& c) {
  const Shape x = c.input_shape(0);
  TRY(const Axes axes, axes_or_all(c.node().ints_or("axes", {}), x.size()));
  const Value share = c.g.div(c.gradient(), c.g.count(c.input(0), axes));
  c.give(0, c.g.expand_like(c.g.reshape(share, kept_shape(x, axes)), c.input(0)));
  return {};
}

/// Equal largest elements share the gradient.
Status reduce_max(RuleContext& c) {
  const Shape x = c.input_shape(0);
  TRY(const Axes axes, axes_or_all(c.node().ints_or("axes", {}), x.size()));
  const Shape kept = kept_shape(x, axes);
  const Value chosen = c.g.emit("Equal", {c.input(0), c.g.reshape(c.output(0), kept)});
  const Value share = c.g.emit("Cast", {chosen}, {{"to", static_cast<std::int64_t>(ElementType::kFloat)}});
  const Value each = c.g.div(c.g.reshape(c.gradient(), kept), c.g.reduce_sum(share, axes, true));
  c.give(0, c.g.mul(share, each));
  return {};
}

}  // namespace

void add_reduction_rules(OperatorSet& operators) {
  operators.gradients[{"", "ReduceSum"}] = reduce_sum;
  operators.gradients[{"", "ReduceMean"}] = reduce_mean;
  operators.gradients[{"", "ReduceMax"}] = reduce_max;
}

}  // namespace aflguard::models
