#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

Value greater(RuleContext& c, const Value& value, float bound) {
  return c.g.emit("Greater", {value, c.g.scalar(bound)});
}
Value less(RuleContext& c, const Value& value, float bound) {
  return c.g.emit("Less", {value, c.g.scalar(bound)});
}

/// y is never negative, so its sign is the mask: 0 or 1, without a detour over booleans.
Status relu(RuleContext& c) {
  c.give(0, c.g.mul(c.gradient(), c.g.emit("Sign", {c.output(0)})));
  return {};
}

Status leaky_relu(RuleContext& c) {
  const float slope = c.node().float_or("alpha", 0.01F);
  const Value factor = c.g.emit("Where", {greater(c, c.input(0), 0), c.g.scalar(1), c.g.scalar(slope)});
  c.give(0, c.g.mul(c.gradient(), factor));
  return {};
}

/// The slope is a parameter: one number, or one per channel.
Status prelu(RuleContext& c) {
  const Value positive = greater(c, c.input(0), 0);
  if (c.wants(0)) {
    c.give(0, c.g.emit("Where", {positive, c.gradient(), c.g.mul(c.gradient(), c.input(1))}));
  }
  if (c.wants(1)) {
    const Value negative_part = c.g.emit("Where", {positive, c.g.scalar(0), c.input(0)});
    c.give(1, c.g.sum_to_shape(c.g.mul(c.gradient(), negative_part), c.input_shape(1)));
  }
  return {};
}

/// dx = dy * y * (1 - y)
Status sigmoid(RuleContext& c) {
  const Value y = c.output(0);
  c.give(0, c.g.mul(c.gradient(), c.g.mul(y, c.g.sub(c.g.scalar(1), y))));
  return {};
}

/// dx = dy * (1 - y^2)
Status tanh(RuleContext& c) {
  const Value y = c.output(0);
  c.give(0, c.g.mul(c.gradient(), c.g.sub(c.g.scalar(1), c.g.mul(y, y))));
  return {};
}

/// Open interval: at a bound the gradient is 0, as for Relu at 0. The bounds are settings, never parameters.
Status clip(RuleContext& c) {
  if (!c.wants(0)) return {};
  Value gradient = c.gradient();
  if (!c.input(1).empty()) gradient = c.g.masked(c.g.emit("Greater", {c.input(0), c.input(1)}), gradient);
  if (!c.input(2).empty()) gradient = c.g.masked(c.g.emit("Less", {c.input(0), c.input(2)}), gradient);
  c.give(0, gradient);
  return {};
}

/// y = max(0, min(1, alpha * x + beta))
Status hard_sigmoid(RuleContext& c) {
  const float alpha = c.node().float_or("alpha", 0.2F);
  const Value inside = c.g.emit("And", {greater(c, c.output(0), 0), less(c, c.output(0), 1)});
  c.give(0, c.g.masked(inside, c.g.scaled(c.gradient(), alpha)));
  return {};
}

/// y = x * max(0, min(1, x/6 + 1/2)), so dy/dx is 0 below -3, 1 above 3, and x/3 + 1/2 between.
Status hard_swish(RuleContext& c) {
  const Value x = c.input(0);
  const Value between = c.g.add(c.g.scaled(x, 1.0F / 3), c.g.scalar(0.5F));
  const Value upper = c.g.emit("Where", {less(c, x, 3), between, c.g.scalar(1)});
  c.give(0, c.g.mul(c.gradient(), c.g.masked(greater(c, x, -3), upper)));
  return {};
}

/// y = x for x > 0, else alpha * (exp(x) - 1), where the slope is y + alpha
Status elu(RuleContext& c) {
  const Value below = c.g.add(c.output(0), c.g.scalar(c.node().float_or("alpha", 1.0F)));
  const Value slope = c.g.emit("Where", {greater(c, c.input(0), 0), c.g.scalar(1), below});
  c.give(0, c.g.mul(c.gradient(), slope));
  return {};
}

Status selu(RuleContext& c) {
  const float alpha = c.node().float_or("alpha", 1.67326319217681884765625F);
  const float gamma = c.node().float_or("gamma", 1.05070102214813232421875F);
  const Value below = c.g.add(c.output(0), c.g.scalar(alpha * gamma));
  const Value slope = c.g.emit("Where", {greater(c, c.input(0), 0), c.g.scalar(gamma), below});
  c.give(0, c.g.mul(c.gradient(), slope));
  return {};
}

Status softplus(RuleContext& c) {
  c.give(0, c.g.mul(c.gradient(), c.g.emit("Sigmoid", {c.input(0)})));
  return {};
}

/// y = x / (1 + |x|), so dy/dx = (1 - |y|)^2
Status softsign(RuleContext& c) {
  const Value root = c.g.sub(c.g.scalar(1), c.g.emit("Abs", {c.output(0)}));
  c.give(0, c.g.mul(c.gradient(), c.g.mul(root, root)));
  return {};
}

Status exponential(RuleContext& c) {
  c.give(0, c.g.mul(c.gradient(), c.output(0)));
  return {};
}

Status logarithm(RuleContext& c) {
  c.give(0, c.g.div(c.gradient(), c.input(0)));
  return {};
}

Status square_root(RuleContext& c) {
  c.give(0, c.g.div(c.g.scaled(c.gradient(), 0.5F), c.output(0)));
  return {};
}

Status reciprocal(RuleContext& c) {
  const Value y = c.output(0);
  c.give(0, c.g.neg(c.g.mul(c.gradient(), c.g.mul(y, y))));
  return {};
}

Status absolute(RuleContext& c) {
  c.give(0, c.g.mul(c.gradient(), c.g.emit("Sign", {c.input(0)})));
  return {};
}

/// The derivative of erf is 2/sqrt(pi) * exp(-x^2).
Status error_function(RuleContext& c) {
  const Value x = c.input(0);
  const Value bell = c.g.emit("Exp", {c.g.neg(c.g.mul(x, x))});
  c.give(0, c.g.mul(c.gradient(), c.g.scaled(bell, 1.1283791670955126F)));
  return {};
}

Status sine(RuleContext& c) {
  c.give(0, c.g.mul(c.gradient(), c.g.emit("Cos", {c.input(0)})));
  return {};
}

Status cosine(RuleContext& c) {
  c.give(0, c.g.neg(c.g.mul(c.gradient(), c.g.emit("Sin", {c.input(0)}))));
  return {};
}

}  // namespace

void add_activation_rules(OperatorSet& operators) {
  operators.gradients[{"", "Relu"}] = relu;
  operators.gradients[{"", "LeakyRelu"}] = leaky_relu;
  operators.gradients[{"", "PRelu"}] = prelu;
  operators.gradients[{"", "Sigmoid"}] = sigmoid;
  operators.gradients[{"", "Tanh"}] = tanh;
  operators.gradients[{"", "Clip"}] = clip;
  operators.gradients[{"", "HardSigmoid"}] = hard_sigmoid;
  operators.gradients[{"", "HardSwish"}] = hard_swish;
  operators.gradients[{"", "Elu"}] = elu;
  operators.gradients[{"", "Selu"}] = selu;
  operators.gradients[{"", "Softplus"}] = softplus;
  operators.gradients[{"", "Softsign"}] = softsign;
  operators.gradients[{"", "Exp"}] = exponential;
  operators.gradients[{"", "Log"}] = logarithm;
  operators.gradients[{"", "Sqrt"}] = square_root;
  operators.gradients[{"", "Reciprocal"}] = reciprocal;
  operators.gradients[{"", "Abs"}] = absolute;
  operators.gradients[{"", "Erf"}] = error_function;
  operators.gradients[{"", "Sin"}] = sine;
  operators.gradients[{"", "Cos"}] = cosine;
}

}  // namespace aflguard::models
