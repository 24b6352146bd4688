#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

Status add(RuleContext& c) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.wants(i)) c.give(i, c.g.sum_to_shape(c.gradient(), c.input_shape(i)));
  }
  return {};
}

Status sub(RuleContext& c) {
  if (c.wants(0)) c.give(0, c.g.sum_to_shape(c.gradient(), c.input_shape(0)));
  // Negating after the sum touches fewer elements.
  if (c.wants(1)) c.give(1, c.g.neg(c.g.sum_to_shape(c.gradient(), c.input_shape(1))));
  return {};
}

Status mul(RuleContext& c) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.wants(i)) c.give(i, c.g.sum_to_shape(c.g.mul(c.gradient(), c.input(1 - i)), c.input_shape(i)));
  }
  return {};
}

/// da = dy / b, db = -dy * y / b
Status div(RuleContext& c) {
  const Value quotient = c.g.div(c.gradient(), c.input(1));
  if (c.wants(0)) c.give(0, c.g.sum_to_shape(quotient, c.input_shape(0)));
  if (c.wants(1)) {
    c.give(1, c.g.neg(c.g.sum_to_shape(c.g.mul(quotient, c.output(0)), c.input_shape(1))));
  }
  return {};
}

Status neg(RuleContext& c) {
  c.give(0, c.g.neg(c.gradient()));
  return {};
}

/// Ties go to the first input.
Status larger(RuleContext& c, const char* first_wins) {
  const Value first = c.g.emit(first_wins, {c.input(0), c.input(1)});
  if (c.wants(0)) c.give(0, c.g.sum_to_shape(c.g.masked(first, c.gradient()), c.input_shape(0)));
  if (c.wants(1)) {
    c.give(1, c.g.sum_to_shape(c.g.masked(c.g.emit("Not", {first}), c.gradient()), c.input_shape(1)));
  }
  return {};
}
Status max(RuleContext& c) {
  return larger(c, "GreaterOrEqual");
}
Status min(RuleContext& c) {
  return larger(c, "LessOrEqual");
}

/// Exponents are settings, never parameters: dx = dy * p * x^(p-1)
Status pow(RuleContext& c) {
  if (!c.wants(0)) return {};
  const Value exponent = c.input(1);
  const Value slope = c.g.mul(exponent, c.g.emit("Pow", {c.input(0), c.g.sub(exponent, c.g.scalar(1))}));
  c.give(0, c.g.sum_to_shape(c.g.mul(c.gradient(), slope), c.input_shape(0)));
  return {};
}

Status where(RuleContext& c) {
  const Value condition = c.input(0);
  if (c.wants(1)) c.give(1, c.g.sum_to_shape(c.g.masked(condition, c.gradient()), c.input_shape(1)));
  if (c.wants(2)) {
    const Value default_value = c.g.emit("Where", {condition, c.g.scalar(0), c.gradient()});
    c.give(2, c.g.sum_to_shape(default_value, c.input_shape(2)));
  }
  return {};
}

}  // namespace

void add_arithmetic_rules(OperatorSet& operators) {
  operators.gradients[{"", "Add"}] = add;
  operators.gradients[{"", "Sub"}] = sub;
  operators.gradients[{"", "Mul"}] = mul;
  operators.gradients[{"", "Div"}] = div;
  operators.gradients[{"", "Neg"}] = neg;
  operators.gradients[{"", "Max"}] = max;
  operators.gradients[{"", "Min"}] = min;
  operators.gradients[{"", "Pow"}] = pow;
  operators.gradients[{"", "Where"}] = where;
}

}  // namespace aflguard::models
