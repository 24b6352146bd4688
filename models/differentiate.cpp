#include "models/differentiate.h"

#include <algorithm>
#include <set>

#include "models/rules/rule_context.h"

namespace aflguard::models {
namespace {

/// Floating-point values that depend on a parameter. Comparisons and shapes end the dependence.
std::set<Value> differentiable_values(const Graph& graph, const std::vector<Value>& parameters) {
  std::set<Value> values(parameters.begin(), parameters.end());
  for (const Node& node : graph.nodes) {
    const bool depends =
        std::ranges::any_of(node.inputs, [&](const Value& input) { return values.contains(input); });
    if (!depends) continue;
    for (const Value& output : node.outputs) {
      if (!output.empty() && graph.info(output).type == ElementType::kFloat) values.insert(output);
    }
  }
  return values;
}

class BackwardWalk final {
 public:
  BackwardWalk(GraphBuilder& builder, const std::vector<Value>& parameters)
      : builder_(builder), differentiable_(differentiable_values(builder.graph(), parameters)) {}

  void accumulate(const Value& value, const Value& gradient) {
    Value& sum = gradients_[value];
    sum = sum.empty() ? gradient : builder_.add(sum, gradient);
  }

  Status visit(std::size_t index) {
    const Node node = builder_.graph().nodes[index];
    std::vector<Value> incoming;
    for (const Value& output : node.outputs) {
      const auto found = gradients_.find(output);
      incoming.push_back(found == gradients_.end() ? Value() : found->second);
    }
    const auto reached = [](const Value& gradient) { return !gradient.empty(); };
    const auto depends = [&](const Value& input) { return differentiable_.contains(input); };
    if (std::ranges::none_of(incoming, reached) || std::ranges::none_of(node.inputs, depends)) return {};
    const auto rule = builder_.operators().gradients.find(node.op);
    if (rule == builder_.operators().gradients.end()) {
      return unsupported(describe(node) +
                         ": there is no gradient rule for this operator; docs/models.md lists " +
                         "those that can be trained");
    }
    builder_.set_origin(node.name);
    RuleContext context(builder_, index, std::move(incoming), differentiable_);
    TRY_STATUS(rule->second(context));
    TRY_STATUS(builder_.status());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (context.wants(i) && !context.given()[i].empty()) accumulate(node.inputs[i], context.given()[i]);
    }
    return builder_.status();
  }

  [[nodiscard]] std::map<Value, Value> gradients_of(const std::vector<Value>& values) const {
    std::map<Value, Value> result;
    for (const Value& value : values) {
      const auto found = gradients_.find(value);
      if (found != gradients_.end()) result.insert(*found);
    }
    return result;
  }

 private:
  GraphBuilder& builder_;
  std::set<Value> differentiable_;
  std::map<Value, Value> gradients_;
};

}  // namespace

Result<std::map<Value, Value>> differentiate(GraphBuilder& builder, const Value& output,
                                             const Value& output_gradient,
                                             const std::vector<Value>& parameters) {
  TRY_STATUS(builder.status());
  BackwardWalk walk(builder, parameters);
  const std::size_t forward_nodes = builder.graph().nodes.size();
  walk.accumulate(output, output_gradient);
  for (std::size_t index = forward_nodes; index-- > 0;) TRY_STATUS(walk.visit(index));
  builder.set_origin("");
  return walk.gradients_of(parameters);
}

}  // namespace aflguard::models
