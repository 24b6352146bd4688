#include "models/rules/gradient_rules.h"
#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

/// Every picked row's gradient is added to the row that it came from; a row may be picked many times.
Status gather(RuleContext& c) {
  if (!c.wants(0)) return {};
  GraphBuilder& g = c.g;
  const Shape x = c.input_shape(0);
  TRY(const std::size_t axis, normal_axis(c.node().int_or("axis", 0), x.size()));
  const auto before = product(std::span(x).first(axis));
  const auto after = product(std::span(x).subspan(axis + 1));
  const auto picked = product(c.input_shape(1));
  if (!before || !after || !picked) return c.refuse("its shapes are not linear in the batch");
  const Value dy = g.reshape(c.gradient(), {*before, *picked, *after});
  const Value at = g.expand_like(g.reshape(c.input(1), {{1, false}, *picked, {1, false}}), dy);
  const Shape table{*before, x[axis], *after};
  const Value like = g.reshape(c.input(0), table);
  if (!g.status().ok()) return {};
  const ValueInfo info{ElementType::kFloat, table};
  const Value zeros = g.emit_shaped("ConstantOfShape", {g.emit("Shape", {like})}, {}, info);
  const Value sum = g.emit_shaped("ScatterElements", {zeros, at, dy},
                                  {{"axis", std::int64_t{1}}, {"reduction", std::string("add")}}, info);
  c.give(0, g.reshape(sum, x));
  return {};
}

}  // namespace

void add_indexing_rules(OperatorSet& operators) {
  operators.gradients[{"", "Gather"}] = gather;
}

}  // namespace aflguard::models
