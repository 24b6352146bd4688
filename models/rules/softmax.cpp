#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

Result<Axes> axis_of(const RuleContext& c) {
  TRY(const std::size_t axis, normal_axis(c.node().int_or("axis", -1), c.input_shape(0).size()));
  return Axes{static_cast<std::int64_t>(axis)};
}

/// dx = y * (dy - sum(dy * y))
Status softmax(RuleContext& c) {
  TRY(const Axes axis, axis_of(c));
  const Value weighted = c.g.mul(c.gradient(), c.output(0));
  const Value total = c.g.reduce_sum(weighted, axis, true);
  c.give(0, c.g.sub(weighted, c.g.mul(c.output(0), total)));
  return {};
}

/// dx = dy - exp(y) * sum(dy)
Status log_softmax(RuleContext& c) {
  TRY(const Axes axis, axis_of(c));
  const Value total = c.g.reduce_sum(c.gradient(), axis, true);
  c.give(0, c.g.sub(c.gradient(), c.g.mul(c.g.emit("Exp", {c.output(0)}), total)));
  return {};
}

}  // namespace

void add_softmax_rules(OperatorSet& operators) {
  operators.gradients[{"", "Softmax"}] = softmax;
  operators.gradients[{"", "LogSoftmax"}] = log_softmax;
}

}  // namespace aflguard::models
