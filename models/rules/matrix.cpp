#include <numeric>

#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

Value product(GraphBuilder& g, const Value& a, bool transpose_a, const Value& b, bool transpose_b,
              float alpha) {
  return g.emit(
      "Gemm", {a, b},
      {{"transA", std::int64_t{transpose_a}}, {"transB", std::int64_t{transpose_b}}, {"alpha", alpha}});
}

/// y = alpha * A' B' + beta * C, where ' is the transpose that the node asks for.
Status gemm(RuleContext& c) {
  const bool ta = c.node().int_or("transA", 0) != 0;
  const bool tb = c.node().int_or("transB", 0) != 0;
  const float alpha = c.node().float_or("alpha", 1.0F);
  const Value a = c.input(0);
  const Value b = c.input(1);
  const Value dy = c.gradient();
  if (c.wants(0)) {
    c.give(0, ta ? product(c.g, b, tb, dy, true, alpha) : product(c.g, dy, false, b, !tb, alpha));
  }
  if (c.wants(1)) {
    c.give(1, tb ? product(c.g, dy, true, a, ta, alpha) : product(c.g, a, !ta, dy, false, alpha));
  }
  if (c.wants(2)) {
    const Value sum = c.g.sum_to_shape(dy, c.input_shape(2));
    c.give(2, c.g.scaled(sum, c.node().float_or("beta", 1.0F)));
  }
  return {};
}

Value transposed(GraphBuilder& g, const Value& value) {
  Axes order(g.rank(value));
  std::iota(order.begin(), order.end(), 0);
  if (order.size() >= 2) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return g.transpose(value, order);
}

/// [..., k] as one matrix [*, k].
Value as_rows(GraphBuilder& g, const Value& value) {
  const Shape& shape = g.shape(value);
  if (shape.size() <= 2) return value;
  const auto rows = models::product(std::span(shape).first(shape.size() - 1));
  if (!rows) {
    g.fail(unsupported("the shape " + text(shape) + " is not linear in the batch"));
    return {};
  }
  return g.reshape(value, {*rows, shape.back()});
}

/// A dense layer on [..., k]: the weight's gradient is one product over all rows, not a sum of small ones.
void dense(RuleContext& c, const Value& dy) {
  if (c.wants(0)) {
    const Value rows = product(c.g, as_rows(c.g, dy), false, c.input(1), true, 1.0F);
    c.give(0, c.g.reshape(rows, c.input_shape(0)));
  }
  if (c.wants(1)) c.give(1, product(c.g, as_rows(c.g, c.input(0)), true, as_rows(c.g, dy), false, 1.0F));
}

Status matmul(RuleContext& c) {
  GraphBuilder& g = c.g;
  Shape a_shape = c.input_shape(0);
  Shape b_shape = c.input_shape(1);
  if (a_shape.size() >= 2 && b_shape.size() == 2) {
    dense(c, c.gradient());
    return {};
  }
  // Vectors take part as a row or a column; the result gets the axes back that they dropped.
  Shape y_shape = g.shape(c.gradient());
  if (b_shape.size() == 1) {
    b_shape.push_back(Dim{});
    y_shape.push_back(Dim{});
  }
  if (a_shape.size() == 1) {
    a_shape.insert(a_shape.begin(), Dim{});
    y_shape.insert(y_shape.end() - 1, Dim{});
  }
  const Value a = g.reshape(c.input(0), a_shape);
  const Value b = g.reshape(c.input(1), b_shape);
  const Value dy = g.reshape(c.gradient(), y_shape);
  if (!g.status().ok()) return {};
  if (c.wants(0)) {
    const Value full = g.emit("MatMul", {dy, transposed(g, b)});
    c.give(0, g.reshape(g.sum_to_shape(full, a_shape), c.input_shape(0)));
  }
  if (c.wants(1)) {
    const Value full = g.emit("MatMul", {transposed(g, a), dy});
    c.give(1, g.reshape(g.sum_to_shape(full, b_shape), c.input_shape(1)));
  }
  return {};
}

}  // namespace

void add_matrix_rules(OperatorSet& operators) {
  operators.gradients[{"", "Gemm"}] = gemm;
  operators.gradients[{"", "MatMul"}] = matmul;
}

}  // namespace aflguard::models
