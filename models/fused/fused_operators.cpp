#include "models/fused/fused_operators.h"

#include "models/rules/rule_context.h"
#include "models/shapes/shape_rules.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

OperatorName fused(const char* op_type) {
  return {kFusedDomain, op_type};
}

// ---- Shapes
// ----------------------------------------------------------------------------------------------------

Result<Shape> convolved(const ShapeQuery& query) {
  const Shape& x = query.shape(0);
  const Shape& w = query.shape(1);
  if (x.size() != 4 || w.size() != 4 || x[1] != w[1]) {
    return invalid_input("input " + text(x) + " and weight " + text(w) + " do not fit");
  }
  TRY(const Window window, read_window(query.node(), {w[2].value, w[3].value}));
  const auto pool = query.node().ints_or("pool", {1, 1});
  Shape result{x[0], w[0]};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t positions = window.positions(i, x[i + 2].value) / pool[i];
    if (positions < 1) return invalid_input("the kernel does not fit into the input " + text(x));
    result.push_back({positions, false});
  }
  return result;
}

Infos conv_shape(const ShapeQuery& query) {
  TRY(auto shape, convolved(query));
  return one(ElementType::kFloat, std::move(shape));
}

Infos conv_pool_shape(const ShapeQuery& query) {
  TRY(auto shape, convolved(query));
  // The choices' width is the kernels' own business; only their type and batch matter here.
  const Shape choices{shape[0], {1, false}};
  return std::vector<ValueInfo>{{ElementType::kFloat, std::move(shape)}, {ElementType::kUint8, choices}};
}

Infos conv_grad_shape(const ShapeQuery& query) {
  const Shape& w = query.shape(2);
  return std::vector<ValueInfo>{
      {ElementType::kFloat, w}, {ElementType::kFloat, {w[0]}}, {ElementType::kFloat, query.shape(1)}};
}

Infos batch_norm_shape(const ShapeQuery& query) {
  const Shape& channels = query.shape(1);
  return std::vector<ValueInfo>{{ElementType::kFloat, query.shape(0)},
                                {ElementType::kFloat, channels},
                                {ElementType::kFloat, channels}};
}

Infos batch_norm_grad_shape(const ShapeQuery& query) {
  const Shape& channels = query.shape(2);
  const Shape& x = query.shape(1);
  return std::vector<ValueInfo>{{ElementType::kFloat, x},
                                {ElementType::kFloat, channels},
                                {ElementType::kFloat, channels},
                                {ElementType::kFloat, x}};
}

// ---- Gradients
// -------------------------------------------------------------------------------------------------

/// dw, db and, if wanted, dx in one node; `extra` is what the backward kernel needs from the forward one.
Status convolution_gradient(RuleContext& c, const char* op_type, const Value& extra) {
  std::vector<Value> inputs = {c.gradient(), c.input(0), c.input(1)};
  if (!extra.empty()) inputs.push_back(extra);
  const auto gradients =
      c.g.emit_many(fused(op_type), std::move(inputs), c.node().attributes, c.wants(0) ? 3 : 2);
  if (!c.g.status().ok()) return {};
  if (c.wants(1)) c.give(1, gradients[0]);
  if (c.wants(2)) c.give(2, gradients[1]);
  if (c.wants(0)) c.give(0, gradients[2]);
  return {};
}

Status conv_gradient(RuleContext& c) {
  return convolution_gradient(c, "ConvGrad", c.node().int_or("relu", 0) != 0 ? c.output(0) : Value());
}

Status conv_pool_gradient(RuleContext& c) {
  return convolution_gradient(c, "ConvPoolGrad", c.output(1));
}

Status batch_norm_gradient(RuleContext& c) {
  std::vector<Value> inputs = {c.gradient(), c.input(0), c.input(1), c.output(1), c.output(2)};
  if (c.node().int_or("relu", 0) != 0) inputs.push_back(c.output(0));
  const auto gradients = c.g.emit_many(fused("BatchNormGrad"), std::move(inputs), {}, c.wants(3) ? 4 : 3);
  if (!c.g.status().ok()) return {};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (c.wants(i)) c.give(i, gradients[i]);
  }
  return {};
}

}  // namespace

void add_fused_operators(OperatorSet& operators) {
  operators.shapes[fused("Conv")] = conv_shape;
  operators.shapes[fused("ConvGrad")] = conv_grad_shape;
  operators.shapes[fused("ConvPool")] = conv_pool_shape;
  operators.shapes[fused("ConvPoolGrad")] = conv_grad_shape;
  operators.shapes[fused("BatchNorm")] = batch_norm_shape;
  operators.shapes[fused("BatchNormGrad")] = batch_norm_grad_shape;
  operators.gradients[fused("Conv")] = conv_gradient;
  operators.gradients[fused("ConvPool")] = conv_pool_gradient;
  operators.gradients[fused("BatchNorm")] = batch_norm_gradient;
}

}  // namespace aflguard::models
